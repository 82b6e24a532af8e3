"""Change over the declared waves of a survey: how far each question's shares moved from wave to wave."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidInput, NotEstimable
from tacit.survey.answer_tables import AnswerTables
from tacit.survey.kept_counts import KEPT, Kept

if TYPE_CHECKING:
    from tacit.estimation.change import Change
    from tacit.survey.store.surveys import Store, StoredSurvey


def series_changes(store: Store, survey: StoredSurvey, by: str | None = None) -> dict[str, Any]:
    """The waves that have reports, and the change of every question between each two of them in turn, as plain data.

    Public questions of which a wave shows answers of very few people are left out, as everywhere.
    """
    waves = _waves(store, survey)
    changes = [row for first, second in itertools.pairwise(waves) for row in _pair_changes(first, second, by)]
    listed = [{"wave": int(wave.definition.wave), "n_reports": kept.counts.reports} for wave, kept in waves]
    return {"survey": survey.definition.name, "series": survey.definition.series, "waves": listed, "changes": changes}


def _waves(store: Store, survey: StoredSurvey) -> list[tuple[StoredSurvey, Kept]]:
    definition = survey.definition
    if definition.waves is None:
        raise InvalidInput(
            f"The survey {definition.name!r} was asked once, so there is no change to estimate. Waves are declared before "
            "the first one: waves: 4 in the questionnaire."
        )
    series = [one for one in store.surveys() if one.definition.series == definition.series]
    waves = [(one, KEPT.of(store, one)) for one in sorted(series, key=lambda one: int(one.definition.wave))]
    waves = [(one, kept) for one, kept in waves if kept.counts.reports > 0]
    if len(waves) < 2:
        raise InvalidInput(
            f"Change needs the reports of two waves of {definition.name!r}; there are reports of {len(waves)}. Open the next one "
            f"with: tacit survey wave {definition.name}"
        )
    return waves


def _pair_changes(
    first: tuple[StoredSurvey, Kept], second: tuple[StoredSurvey, Kept], by: str | None
) -> Iterator[dict[str, Any]]:
    definition = first[0].definition
    for name in definition.scheme.schema.names:
        groups = [by] if by is not None and by != name else []
        if definition.is_long(name) or _shows_few([first, second], [name, *groups]):
            continue
        try:
            moved = _change(first, second, name, groups)
        except NotEstimable:  # nobody was asked both
            continue
        for row in moved.rows():
            yield {
                "attribute": name,
                "label": definition.label(name),
                "answer_label": definition.answer_text(name, row["answers"][name]),
                "group_label": definition.answer_text(groups[0], row["answers"][groups[0]]) if groups else "",
                "from_wave": int(first[0].definition.wave),
                "to_wave": int(second[0].definition.wave),
                **row,
            }


def _change(
    first: tuple[StoredSurvey, Kept], second: tuple[StoredSurvey, Kept], name: str, groups: list[str]
) -> Change:
    from tacit.estimation.change import change

    return change(first[1].reports, second[1].reports, name, given=groups)


def _shows_few(waves: Sequence[tuple[StoredSurvey, Kept]], names: Sequence[str]) -> bool:
    """Whether a wave's table of these, where it is public, has cells of too few people."""
    tables = [AnswerTables(survey.definition, kept.reports, 0) for survey, kept in waves]
    public = [name for name in names if tables[0].is_public(name)]
    return bool(public) and any(table.shows_few(*public) for table in tables)
