"""Where an invitation code buys its token's signature: ``POST /s/FINGERPRINT/tokens``.

The code is spent, for good and durably, before anything is signed; asking again with the same blinded token gives the
same signature, so that nobody loses a code to a lost answer. All of it happens in a thread of its own.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

import gmpy2
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tacit.errors import InvalidInput, TacitError
from tacit.survey.headers import ServerSettings, client_address, origin
from tacit.survey.issuing import Signer, base64url, unbase64
from tacit.survey.limits import RETRY_SECONDS, RateLimit, Refused, json_object
from tacit.survey.store.codes import Codes, Spending
from tacit.survey.store.database import StoreUnavailable, reason_for_clients
from tacit.survey.store.submissions import Overloaded, token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.survey.survey_cache import SurveyCache

LARGEST_BATCH = 64
MOST_WAITING = 1_000


@dataclass(frozen=True)
class Purchase:
    """A code, by its hash, and the blinded token it is to buy."""

    survey: StoredSurvey
    code: str
    blinded: bytes


Waiting = tuple[Purchase, "asyncio.Future[bytes]"]


class Counter:
    """The one thread that takes codes and signs: all that wait are spent in one commit, then signed one by one."""

    def __init__(self, codes: Codes, signer_of: Callable[[StoredSurvey], Signer | None]) -> None:
        self._codes = codes
        self._signer_of = signer_of
        self._signers: dict[int, Signer] = {}
        self._waiting: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="survey-signer", daemon=True)
        self._thread.start()

    async def buy(self, purchase: Purchase) -> bytes:
        """The blind signature, once the code is spent."""
        if self._waiting.qsize() >= MOST_WAITING:
            raise Overloaded("More people are starting right now than can be let in. Please try again soon.")
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.put((purchase, future))
        return await future

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        # Elsewhere the interpreter goes on while this thread exponentiates.
        gmpy2.get_context().allow_release_gil = True
        while (first := self._waiting.get()) is not None:
            batch, is_last = [first], False
            while len(batch) < LARGEST_BATCH and not is_last:
                try:
                    item = self._waiting.get_nowait()
                except queue.Empty:
                    break
                if item is None:
                    is_last = True
                else:
                    batch.append(item)
            self._serve(batch)
            if is_last:
                return

    def _serve(self, batch: list[Waiting]) -> None:
        try:
            spendings = self._codes.spend(
                [(blinded.survey.number, blinded.code, blinded.blinded) for blinded, _ in batch]
            )
        except Exception as error:  # the thread must survive whatever it was: everyone after would wait for ever
            _settle(batch[0][1], [(future, _unavailable(error)) for _, future in batch])
            return
        for (purchase, future), spending in zip(batch, spendings, strict=True):
            _settle(future, [(future, self._sign_purchase(purchase, spending))])

    def _sign_purchase(self, purchase: Purchase, spending: Spending) -> bytes | Exception:
        if spending is Spending.UNKNOWN:
            return Refused(403, "This invitation code is not valid for this survey.", "unknown")
        if spending is Spending.USED:
            return Refused(409, "This invitation code has been used.", "used")
        try:
            return self._signer(purchase.survey).sign(purchase.blinded)
        except (TacitError, Refused) as error:
            return error

    def _signer(self, survey: StoredSurvey) -> Signer:
        if survey.number not in self._signers:
            signer = self._signer_of(survey)
            if signer is None:
                raise Refused(409, "This survey is not open.", "closed")
            self._signers[survey.number] = signer
        return self._signers[survey.number]


def _unavailable(error: Exception) -> Exception:
    if isinstance(error, StoreUnavailable):
        return error
    return StoreUnavailable(f"The code could not be taken: {type(error).__name__}.")


def _settle(of: asyncio.Future[bytes], outcomes: list[tuple[asyncio.Future[bytes], bytes | Exception]]) -> None:
    def settle() -> None:
        for future, outcome in outcomes:
            if future.done():
                continue
            if isinstance(outcome, bytes):
                future.set_result(outcome)
            else:
                future.set_exception(outcome)

    of.get_loop().call_soon_threadsafe(settle)


class Tokens:
    """The route, and what it refuses before a code is looked at."""

    def __init__(self, surveys: SurveyCache, store: Store, settings: ServerSettings) -> None:
        self._surveys = surveys
        self._settings = settings
        self.counter = Counter(store.codes, store.signer)
        self._limit = RateLimit(settings.rate, settings.burst)

    @property
    def routes(self) -> list[Route]:
        return [Route("/s/{fingerprint}/tokens", self.buy, methods=["POST"])]

    async def buy(self, request: Request) -> Response:
        try:
            signature = await self.counter.buy(await self._purchase(request))
        except Refused as refused:
            headers = {"Connection": "close"} if refused.status in (408, 413) else {}
            return JSONResponse(refused.content, refused.status, headers)
        except (Overloaded, StoreUnavailable) as error:
            return JSONResponse({"error": reason_for_clients(error)}, 503, {"Retry-After": RETRY_SECONDS.decode()})
        return JSONResponse({"signature": base64url(signature)})

    async def _purchase(self, request: Request) -> Purchase:
        if not self._limit.allows(origin(client_address(request.scope, self._settings))):
            raise Refused(429, "Too many codes from one address. Please try again in a minute.")
        survey = await self._surveys.fresh(request.path_params["fingerprint"])
        if survey is None or survey.verifier is None:
            raise Refused(404, "There is no survey with invitation codes here.")
        if survey.state != "open":
            raise Refused(409, "This survey is not open.", "closed")
        content = await json_object(request.scope, request.receive, "A code")
        return await run_in_threadpool(_read, survey, survey.verifier.size, survey.verifier.modulus, content)


def _read(survey: StoredSurvey, size: int, modulus: int, content: dict[str, object]) -> Purchase:
    code, blinded = content.get("code"), content.get("blinded")
    if set(content) != {"code", "blinded"} or not isinstance(code, str) or not isinstance(blinded, str):
        raise Refused(400, 'A code is sent as {"code": HASH, "blinded": NUMBER} and nothing else.')
    try:
        number = unbase64(blinded)
    except InvalidInput as error:
        raise Refused(400, str(error)) from None
    # Before the code is spent: what cannot be signed must not cost it.
    if len(number) != size or not 0 < int.from_bytes(number) < modulus:
        raise Refused(400, f"A blinded token has {size} bytes and is below the key's modulus.")
    return Purchase(survey, token_hash(survey, code), number)
