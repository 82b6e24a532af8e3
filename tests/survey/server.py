"""A survey server in a process of its own, as people run it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.postgres_server import free_port

SOURCE = Path(__file__).parents[2] / "src"
COMMAND = [sys.executable, "-c", "from tacit.cli.survey import app; app()"]


@dataclass(frozen=True)
class RunningServer:
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """End it as a power cut would: at once, in the middle of whatever it does."""
        self.process.kill()
        self.process.wait()


def start_server(
    store_url: str, log: Path, *, port: int | None = None, extra: tuple[str, ...] = (), open_files: int | None = None
) -> RunningServer:
    port = port or free_port()
    limited = (lambda: _limit_files(open_files)) if open_files else None
    arguments = ["serve", "--store", store_url, "--port", str(port), "--rate", "0", *extra]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"},
            preexec_fn=limited,
        )
    server = RunningServer(process, port, log)
    wait_until_answering(server)
    return server


def _limit_files(count: int) -> None:
    """What a login shell usually allows; the system would grant more."""
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (count, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def wait_until_answering(server: RunningServer, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.process.poll() is not None:
            raise AssertionError(f"the server ended: {server.log.read_text()}")
        with contextlib.suppress(OSError), urllib.request.urlopen(server.url + "/healthz", timeout=2):
            return
        time.sleep(0.05)
    raise AssertionError("the server did not answer in time")


@contextlib.contextmanager
def running_server(store_url: str, log: Path, **options: object) -> Iterator[RunningServer]:
    server = start_server(store_url, log, **options)  # type: ignore[arg-type]
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(30)
