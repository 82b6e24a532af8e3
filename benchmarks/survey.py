"""The survey server under load, and the page on a slow phone.

Run beside the load generator on the same two cores. With TACIT_SOAK=1 each load lasts two minutes, else ten seconds.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.ratio import Ratio
from benchmarks.survey_load import Load, processor_seconds, run_load
from tacit.survey.definition import Definition
from tacit.survey.store.submissions import token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.postgres_server import postgres_server
from tests.survey.server import COMMAND, RunningServer, running_server

SECONDS = 120.0 if os.environ.get("TACIT_SOAK") == "1" else 10.0
OFFERED = 2_200.0  # a little above what is asked for
CONNECTIONS = 200
SETTLED_MS = 3_000.0
TURNS = 3
TEMPLATE = Path(__file__).parents[1] / "src/tacit/survey/templates/questionnaire.yaml"


def run() -> Iterator[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _database("SQLite", str(Path(folder) / "survey.db"), Path(folder))
        yield from _database("SQLite and bought tokens", str(Path(folder) / "coded.db"), Path(folder), needs_codes=True)
        yield from _overload(str(Path(folder) / "overload.db"), Path(folder))
        yield from _export(str(Path(folder) / "export.db"), Path(folder))
        yield from _page(str(Path(folder) / "page.db"), Path(folder))
        with postgres_server() as url:
            yield from _database("PostgreSQL", url, Path(folder))


@contextlib.contextmanager
def _served(
    store_url: str, folder: Path, *, needs_codes: bool = False
) -> Iterator[tuple[RunningServer, Store, StoredSurvey]]:
    store = Store.open(store_url)
    text = TEMPLATE.read_text(encoding="utf-8")
    if needs_codes:
        text += "\naccess: codes\n"
    survey = store.add(Definition.from_yaml(text), text)
    with running_server(store_url, folder / "server.log") as server:
        yield server, store, survey
    store.close()


def _load(
    server: RunningServer,
    survey: StoredSurvey,
    *,
    rate: float,
    seconds: float,
    connections: int,
    private: str | None = None,
) -> Load:
    """The load comes from a process of its own, as the server has one of its own."""
    wanted = (survey.fingerprint, "0" * survey.wire.length, private)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as generator:
        return generator.submit(
            run_load, server.port, wanted, rate=rate, seconds=seconds, connections=connections
        ).result()


def _all_kept(store: Store, survey: StoredSurvey, load: Load) -> bool:
    stored = {key for (key,) in store.database.rows(f"SELECT report_key FROM {survey.table('reports')}")}
    return {token_hash(survey, token) for token in load.tokens} <= stored


def _database(name: str, store_url: str, folder: Path, *, needs_codes: bool = False) -> list[Ratio]:
    with _served(store_url, folder, needs_codes=needs_codes) as (server, store, survey):
        signer = store.signer(survey)
        private = signer.to_text() if signer else None
        # Tokens are signed beforehand, in about the time of so many of them.
        seconds = min(SECONDS, 10.0) if needs_codes else SECONDS
        _load(server, survey, rate=500, seconds=1, connections=20, private=private)  # warm
        before = processor_seconds(server.process.pid)
        load = _load(server, survey, rate=OFFERED, seconds=seconds, connections=CONNECTIONS, private=private)
        used = processor_seconds(server.process.pid) - before
        kept = _all_kept(store, survey, load)
    detail = f"{load.stored:,} stored in {load.seconds:.0f} s, {load.refused} refused, all kept: {kept}"
    return [
        Ratio(
            f"survey: durable submissions into {name}, over 2,000 a second",
            load.rate / 2_000,
            1,
            "times faster",
            detail,
        ),
        Ratio(f"survey: p99 latency with {name}", load.percentile(0.99) * 1e3, 150, "ms", detail),
        Ratio(f"survey: processor time per submission with {name}", 1e3 * used / load.stored, 0.25, "ms", detail),
    ]


def _overload(store_url: str, folder: Path) -> list[Ratio]:
    with _served(store_url, folder) as (server, store, survey):
        capacity = _load(server, survey, rate=20_000, seconds=5, connections=CONNECTIONS).rate
        waits: list[float] = []
        stop = threading.Event()
        watcher = threading.Thread(target=_watch, args=(server, waits, stop))
        watcher.start()
        load = _load(server, survey, rate=3 * capacity, seconds=min(SECONDS, 20), connections=3_000)
        stop.set()
        watcher.join()
        lost = 0 if _all_kept(store, survey, load) else 1
    detail = f"capacity {capacity:,.0f}/s; offered three times that: {load.stored:,} stored, {load.refused:,} told to come back"
    return [
        Ratio("survey: acknowledged reports lost under three times the capacity", lost, 0, "reports", detail),
        Ratio(
            "survey: stored under overload, as a share of the capacity",
            load.rate / capacity,
            0.5,
            "times faster",
            detail,
        ),
        Ratio("survey: slowest other answer under overload", max(waits), 5, "s", detail),
    ]


def _watch(server: RunningServer, waits: list[float], stop: threading.Event) -> None:
    while not stop.is_set():
        begun = time.monotonic()
        with contextlib.suppress(OSError), urllib.request.urlopen(server.url + "/healthz", timeout=30) as answer:
            answer.read()
        waits.append(time.monotonic() - begun)
        time.sleep(0.2)


def _export(store_url: str, folder: Path) -> list[Ratio]:
    """How much of the submission rate a running export takes, at the server's capacity; in turn, and the median of the turns."""
    with _served(store_url, folder) as (server, _, survey):
        shares, details = [], []
        for turn in range(TURNS):
            alone = _load(server, survey, rate=20_000, seconds=SECONDS / 2, connections=CONNECTIONS).rate
            with _exporting(store_url, survey, folder / f"export-{turn}"):
                beside = _load(server, survey, rate=20_000, seconds=SECONDS / 2, connections=CONNECTIONS).rate
            shares.append(1 - beside / alone)
            details.append(f"{alone:,.0f}/s alone, {beside:,.0f}/s beside an export that never ends")
    return [
        Ratio(
            "survey: share of the submission rate a running export takes",
            sorted(shares)[TURNS // 2],
            0.2,
            "of the rate",
            "; ".join(details),
        )
    ]


@contextlib.contextmanager
def _exporting(store_url: str, survey: StoredSurvey, folder: Path) -> Iterator[None]:
    """`tacit survey export` again and again, each in a process of its own, as people run it."""
    stop = threading.Event()

    def export() -> None:
        arguments = [survey.fingerprint, "--out", str(folder), "--store", store_url]
        while not stop.is_set():
            with subprocess.Popen([*COMMAND, "export", *arguments], stdout=subprocess.DEVNULL) as exporter:
                while exporter.poll() is None and not stop.wait(0.05):
                    pass
                exporter.terminate()
            shutil.rmtree(folder, ignore_errors=True)

    exporter = threading.Thread(target=export)
    exporter.start()
    try:
        yield
    finally:
        stop.set()
        exporter.join()


def _page(store_url: str, folder: Path) -> list[Ratio]:
    with _served(store_url, folder) as (server, _, survey):
        address = f"{server.url}/s/{survey.fingerprint}"
        with urllib.request.urlopen(address) as answer:
            size = len(gzip.compress(answer.read(), 6))
        seconds = _first_question(address)
    return [
        Ratio("survey: the page with everything it needs, compressed", size / 1e3, 60, "kB", ""),
        Ratio(
            "survey: first question on a slow phone", seconds, 1, "s", "4 times slower processor, 1.6 Mbit/s, 150 ms"
        ),
    ]


# Agrees to take part as soon as that can be done, and notes when the first question has been painted.
_AGREE_AT_ONCE = """
new MutationObserver((_, observer) => {
  const consent = document.getElementById("consent");
  if (consent && !consent.checked) { consent.click(); document.querySelector("button[type=submit]").click(); }
  if (document.querySelector("fieldset")) {
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { document.documentElement.dataset.painted = performance.now(); }));
  }
}).observe(document, { childList: true, subtree: true });
"""


def _first_question(address: str) -> float:
    """Seconds from the click on a link to the first question, by the page's own clock; the median of five."""
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for _ in range(5):
            context = browser.new_context(viewport={"width": 360, "height": 740})
            context.add_init_script(_AGREE_AT_ONCE)
            page = context.new_page()
            session = context.new_cdp_session(page)
            session.send("Network.enable")
            session.send(
                "Network.emulateNetworkConditions",
                {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 750e3 / 8},
            )
            session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
            page.goto(address, wait_until="commit")
            # Looking at the page takes its processor: the question has long been painted when it is asked.
            page.wait_for_timeout(SETTLED_MS)
            painted = page.wait_for_selector("[data-painted]", state="attached").get_attribute("data-painted")
            times.append(float(painted) / 1e3)
            context.close()
        browser.close()
    return sorted(times)[2]
