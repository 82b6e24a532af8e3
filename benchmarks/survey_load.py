"""A load generator for the survey server: many connections, each submission acknowledged and timed."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Load:
    """What became of the submissions."""

    seconds: float
    stored: int = 0
    refused: int = 0
    broken: int = 0
    latencies: list[float] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.stored / self.seconds

    def percentile(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Client(asyncio.Protocol):
    """One keep-alive connection; answers are recognised by their status line and length."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[int] | None = None
        self.data = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, found, body = self.data.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        if len(body) >= length and self.answer is not None and not self.answer.done():
            self.data = b""
            self.answer.set_result(int(head[9:12]))

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ConnectionError("the server closed the connection"))

    async def put(self, request: bytes) -> int:
        self.answer = asyncio.get_running_loop().create_future()
        assert self.transport is not None
        self.transport.write(request)
        return await self.answer


def requests(fingerprint: str, report: str) -> Iterator[tuple[str, bytes]]:
    while True:
        token = secrets.token_hex(32)
        yield token, _request(fingerprint, token, f'{{"report": "{report}"}}')


def bought_requests(fingerprint: str, report: str, private: str, count: int) -> list[tuple[str, bytes]]:
    """Submissions with tokens as invitation codes buy them; signing takes about a millisecond each."""
    from tacit.survey.issuing import Signer
    from tests.survey.buying import signed_token

    signer = Signer.from_text(private)
    tokens = [signed_token(signer) for _ in range(count)]
    return [
        (one.token, _request(fingerprint, one.token, f'{{"report": "{report}", "signature": "{one.signature}"}}'))
        for one in tokens
    ]


def _request(fingerprint: str, token: str, body: str) -> bytes:
    head = f"PUT /s/{fingerprint}/reports/{token} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


async def generate(
    port: int, source: Iterator[tuple[str, bytes]], *, rate: float, seconds: float, connections: int
) -> Load:
    """Submissions at a fixed rate, whatever the server does (an open loop); over `connections` at most at once."""
    loop = asyncio.get_running_loop()
    load = Load(seconds)
    idle: asyncio.Queue[Client | None] = asyncio.Queue()
    for _ in range(connections):
        idle.put_nowait(None)
    tasks: set[asyncio.Task[None]] = set()
    start = loop.time()
    sent = 0
    while (now := loop.time() - start) < seconds:
        due = int(now * rate)
        for _ in range(min(due - sent, 2_000)):
            if idle.empty():
                load.broken += 1  # nobody is free to send: the open loop is beyond what the connections carry
                continue
            task = loop.create_task(_one(port, idle, idle.get_nowait(), next(source), load))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        sent = due
        await asyncio.sleep(0.002)
    await asyncio.gather(*tasks)
    load.seconds = max(seconds, loop.time() - start)
    while not idle.empty():
        client = idle.get_nowait()
        if client is not None and client.transport is not None:
            client.transport.close()
    await asyncio.sleep(0)  # a transport closes in the loop's next turn
    return load


async def _one(
    port: int, idle: asyncio.Queue[Client | None], client: Client | None, item: tuple[str, bytes], load: Load
) -> None:
    loop = asyncio.get_running_loop()
    token, request = item
    begun = loop.time()
    try:
        if client is None or client.transport is None:
            _, client = await loop.create_connection(Client, "127.0.0.1", port)
        status = await asyncio.wait_for(client.put(request), 30)
    except (OSError, TimeoutError):
        load.broken += 1
        idle.put_nowait(None)
        return
    idle.put_nowait(client)
    if status == 201:
        load.stored += 1
        load.tokens.append(token)
        load.latencies.append(loop.time() - begun)
    else:
        load.refused += 1


def processor_seconds(pid: int) -> float:
    """User and system time a process has used so far."""
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_load(port: int, survey: tuple[str, str, str | None], *, rate: float, seconds: float, connections: int) -> Load:
    """Load on a survey: its fingerprint, a report, and the key of its tokens where it has codes."""
    import uvloop

    fingerprint, report, private = survey
    source = requests(fingerprint, report)
    if private is not None:
        source = iter(bought_requests(fingerprint, report, private, int(1.02 * rate * seconds) + 100))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(generate(port, source, rate=rate, seconds=seconds, connections=connections))


def wait_until_answering(port: int, seconds: float = 20.0) -> None:
    import socket

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"nothing answers on port {port}")
