"""Frozen surveys, read once from the store: a definition never changes, only its state does."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from tacit.survey.store.surveys import Store, StoredSurvey


class SurveyCache:
    """Surveys by fingerprint. States are asked for where they matter; the writer asks inside its transaction."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._surveys: dict[str, StoredSurvey] = {}

    def known(self, fingerprint: str) -> StoredSurvey | None:
        """The survey, if it has been read already; its state may have changed since."""
        return self._surveys.get(fingerprint)

    async def survey(self, fingerprint: str) -> StoredSurvey | None:
        return self.known(fingerprint) or await self.fresh(fingerprint)

    async def fresh(self, fingerprint: str) -> StoredSurvey | None:
        """The survey with its state of now."""
        stored = await run_in_threadpool(self.store.survey, fingerprint)
        if stored is not None:
            self._surveys[fingerprint] = stored
        else:
            self._surveys.pop(fingerprint, None)
        return stored
