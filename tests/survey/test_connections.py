"""The short way of reports through a real socket: it answers as the common way does, and takes nothing it should not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tacit.survey import connections
from tacit.survey.app import SurveyServer
from tacit.survey.definition import Definition
from tacit.survey.headers import ServerSettings
from tacit.survey.limits import LARGEST_BODY
from tacit.survey.serving import bound_socket, server_config
from tacit.survey.store import connect
from tacit.survey.store.surveys import StoredSurvey
from tests.survey.buying import signed_token
from tests.survey.questionnaires import CODES, SMALL
from tests.survey.running import run_async

REPORT = json.dumps({"report": "000100"})
JSON = "Content-Type: application/json"


@dataclass
class Running:
    """A server in this process; `short` counts what took the short way."""

    server: SurveyServer
    survey: StoredSurvey
    port: int = 0
    short: int = 0
    process: Any = None
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def request(self, body: str = REPORT, *, token: str | None = None, head: str = JSON, first: str = "") -> bytes:
        line = first or f"PUT /s/{self.survey.fingerprint}/reports/{token or secrets.token_hex(32)} HTTP/1.1"
        return f"{line}\r\nHost: survey.test\r\n{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()

    async def connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers.append(writer)
        return reader, writer

    async def answered(self, *pieces: bytes) -> tuple[int, dict[str, str], Any]:
        """Status, headers and JSON of the answer to a request sent in pieces."""
        reader, writer = await self.connected()
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.03 if len(pieces) > 1 else 0)
        answer = await read_answer(reader)
        writer.close()
        return answer

    def reports(self) -> int:
        database = connect(self.server.store.database.url)
        ((count,),) = database.rows(f"SELECT COUNT(*) FROM {self.survey.table('reports')}")
        database.close()
        return int(count)


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], Any]:
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:-2])
    body = await reader.readexactly(int(headers["content-length"]))
    return int(head[0].split()[1]), headers, json.loads(body)


@contextlib.asynccontextmanager
async def serving(running: Running) -> AsyncIterator[Running]:
    receiving = running.server.receiving
    take = receiving.take

    def counted(*arguments: Any) -> None:
        running.short += 1
        take(*arguments)

    receiving.take = counted  # type: ignore[method-assign]
    sock = bound_socket("127.0.0.1", 0)
    running.port = sock.getsockname()[1]
    running.process = uvicorn.Server(server_config(running.server))
    task = asyncio.create_task(running.process.serve(sockets=[sock]))
    while not running.process.started:
        await asyncio.sleep(0.005)
    # What the server has not read yet goes the common way.
    await receiving._surveys.fresh(running.survey.fingerprint)
    try:
        yield running
    finally:
        for writer in running.writers:
            writer.close()
        running.process.should_exit = True
        await task


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Runs something against a server; the server is closed by its own end."""

    def of(scenario: Callable[[Running], Awaitable[Any]], text: str = SMALL, **settings: Any) -> Any:
        server = SurveyServer(tmp_path / "survey.db", ServerSettings(**{"rate": 0, **settings}))
        running = Running(server, server.store.add(Definition.from_yaml(text), text))

        async def main() -> Any:
            async with serving(running):
                return await scenario(running)

        return run_async(main)

    return of


def in_two(request: bytes) -> tuple[bytes, bytes]:
    """A request whose body comes later."""
    head, _, body = request.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", body


def test_a_whole_report_takes_the_short_way_and_is_answered_once_it_is_stored(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        status, headers, content = await running.answered(running.request())
        assert (status, content) == (201, {"outcome": "stored"})
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert (running.short, running.reports()) == (1, 1)
        assert running.server.receiving.answers[201] == 1

    run(scenario)


def test_both_ways_answer_alike(run: Callable[..., Any]) -> None:
    """Every refusal that the common way makes of a request, the short way makes in the same words."""

    async def scenario(running: Running) -> None:
        token, other = secrets.token_hex(32), json.dumps({"report": "010100"})
        same = running.request(token=token)
        assert (await running.answered(same))[0] == 201
        cases = [
            (200, same),
            (409, running.request(other, token=token)),
            (400, running.request("[]")),
            (400, running.request("{")),
            (400, running.request('{"report": 5}')),
            (400, running.request('{"report": "00zz00"}')),
            (400, running.request('{"report": "000100", "more": 1}')),
            (400, running.request('{"report": "000100", "receipt": "x"}')),
            (400, running.request('{"report": "000100", "texts": {}}')),
            (413, running.request('{"report": "' + "0" * LARGEST_BODY + '"}')),
            (415, running.request(head="Content-Type: text/plain")),
            (415, running.request(head=f"{JSON}\r\nContent-Type: text/plain")),
            (415, running.request(head="X-Nothing: x")),
        ]
        for status, request in cases:
            before = running.short
            short = await running.answered(request)
            assert running.short == before + 1, request
            common = await running.answered(*in_two(request))
            assert running.short == before + 1, request
            assert short == common, request
            assert short[0] == status, request
        assert running.reports() == 1

    run(scenario)


def test_a_token_nobody_bought_is_refused_on_the_short_way_too(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        signer = running.server.store.signer(running.survey)
        assert signer is not None
        bought = signed_token(signer)
        paid = json.dumps({"report": "000100", "signature": bought.signature})
        refused = await running.answered(running.request())
        assert (refused[0], refused[2]["reason"]) == (403, "token")
        assert (await running.answered(running.request(paid)))[0] == 403  # another token's signature
        assert running.reports() == 0
        assert (await running.answered(running.request(paid, token=bought.token)))[0] == 201
        assert running.short == 3

    run(scenario, CODES)


def test_other_hosts_and_too_many_from_one_address_are_refused(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        assert (await running.answered(running.request()))[0] == 400  # asks for survey.test
        right = running.request().replace(b"survey.test", b"survey.example.org")
        statuses = [(await running.answered(right))[0] for _ in range(4)]
        assert statuses == [201, 200, 429, 429]
        refused = await running.answered(right)
        assert int(refused[1]["retry-after"]) >= 1
        assert running.short == 6

    run(scenario, public_url="http://survey.example.org", rate=0.001, burst=2)


def chunked(first: str, body: str, head: str, trailer: str) -> bytes:
    """A request whose body comes in one chunk, with a header behind it."""
    lines = f"{first}\r\nHost: survey.test\r\n{head}\r\nTransfer-Encoding: chunked\r\n\r\n"
    return f"{lines}{len(body):x}\r\n{body}\r\n0\r\n{trailer}\r\n\r\n".encode()


@pytest.mark.parametrize("path", ["reports", "login"])
def test_a_trailer_says_nothing_about_who_sends(run: Callable[..., Any], path: str) -> None:
    """Behind a proxy a forwarded address in a trailer passed for the proxy's own word, and every request for a new client."""

    async def scenario(running: Running) -> None:
        statuses = []
        for number in range(40):
            trailer = f"X-Forwarded-For: 198.51.100.{number}"
            if path == "reports":
                first = f"PUT /s/{running.survey.fingerprint}/reports/{secrets.token_hex(32)} HTTP/1.1"
                request = chunked(first, REPORT, f"{JSON}\r\nX-Forwarded-For: 203.0.113.9", trailer)
            else:
                head = "Content-Type: application/x-www-form-urlencoded\r\nX-Forwarded-For: 203.0.113.9"
                request = chunked("POST /admin/login HTTP/1.1", "name=a&password=b", head, trailer)
            reader, writer = await running.connected()
            writer.write(request)
            statuses.append(int((await asyncio.wait_for(reader.readuntil(b"\r\n"), 10)).split()[1]))
            writer.close()
        assert 429 in statuses

    run(scenario, proxies=("127.0.0.1",), rate=0.001, burst=2)


def test_more_than_can_be_stored_is_told_to_come_back(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        status, headers, _ = await running.answered(running.request())
        assert status == 503
        assert int(headers["retry-after"]) >= 1
        assert running.short == 1

    run(scenario, most_waiting=0)


@pytest.mark.parametrize(
    "first",
    [
        "PUT /s/{0}/reports/{1}?x=1 HTTP/1.1",
        "PUT http://survey.test/s/{0}/reports/{1} HTTP/1.1",
        "PUT /s/{0}/reports/%61{1} HTTP/1.1",
        "PUT /s/{0}/elsewhere/{1} HTTP/1.1",
        "PUT /s/00000000000000000000000000000000/reports/{1} HTTP/1.1",
        "POST /s/{0}/reports/{1} HTTP/1.1",
    ],
)
def test_what_is_unusual_takes_the_common_way(run: Callable[..., Any], first: str) -> None:
    async def scenario(running: Running) -> None:
        line = first.format(running.survey.fingerprint, "a" * 64)
        status, _, _ = await running.answered(running.request(first=line))
        assert (status == 201) == ("{0}/reports" in first and "%" not in first and "POST" not in first)
        assert running.short == 0

    run(scenario)


def test_requests_that_come_together_are_answered_in_their_order(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        reader, writer = await running.connected()
        good, bad = running.request(), running.request("[]")
        writer.write(good + bad + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + good + running.request())
        answers = [await read_answer(reader) for _ in range(5)]
        assert [status for status, _, _ in answers] == [201, 400, 200, 200, 201]
        writer.write(good)  # the connection goes on
        assert (await read_answer(reader))[0] == 200
        assert running.reports() == 2

    run(scenario)


def test_a_connection_that_is_to_end_ends_after_the_answer(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        for request in (
            running.request(head=f"{JSON}\r\nConnection: close"),
            running.request(first=f"PUT /s/{running.survey.fingerprint}/reports/{'a' * 64} HTTP/1.0"),
            running.request('{"report": "' + "0" * LARGEST_BODY + '"}'),
        ):
            reader, writer = await running.connected()
            writer.write(request)
            _, headers, _ = await read_answer(reader)
            assert headers["connection"] == "close"
            assert await asyncio.wait_for(reader.read(), 5) == b""
        assert running.short == 3

    run(scenario)


def test_chunks_that_are_none_are_refused_and_store_nothing(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        head = running.request().partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n"
        reader, writer = await running.connected()
        writer.write(head + b"12\r\n" + REPORT.encode() + b"no chunk")
        assert b"400 Bad Request" in await asyncio.wait_for(reader.read(), 5)
        whole = head + f"{len(REPORT):x}\r\n{REPORT}\r\n0\r\n\r\n".encode()
        assert (await running.answered(whole))[0] == 201
        assert running.reports() == 1

    run(scenario)


def test_whoever_leaves_before_the_answer_harms_nobody(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        for _ in range(20):
            _, writer = await running.connected()
            writer.write(running.request())
            await writer.drain()
            writer.transport.abort()
        assert (await running.answered(running.request()))[0] == 201
        await asyncio.sleep(0.1)
        assert running.reports() <= 21

    run(scenario)


def test_a_fault_of_ours_is_answered_and_the_next_report_is_taken(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        take = running.server.receiving.take

        def fault(*arguments: Any) -> None:
            raise RuntimeError("a fault")

        running.server.receiving.take = fault  # type: ignore[method-assign]
        assert (await running.answered(running.request()))[0] == 500
        running.server.receiving.take = take  # type: ignore[method-assign]
        assert (await running.answered(running.request()))[0] == 201

    run(scenario)


def test_a_sender_who_cannot_be_told_keeps_nobody_else_from_the_answer(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        told: list[Any] = []

        def unreachable(outcome: Any) -> None:
            raise OSError("gone")

        from tacit.survey.receiving import _submission

        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context["exception"]))
        place = running.server.receiving.known(f"/s/{running.survey.fingerprint}/reports/{'b' * 64}")
        assert place is not None
        running.server.writer.add(_submission(place, REPORT.encode()), unreachable)
        assert (await running.answered(running.request()))[0] == 201
        assert [str(error) for error in told] == ["gone"]

    run(scenario)


def test_the_servers_end_waits_for_what_is_being_stored(run: Callable[..., Any], monkeypatch: Any) -> None:
    from tacit.survey.store import submissions

    monkeypatch.setattr(submissions, "GATHERING_SECONDS", 0.4)

    async def scenario(running: Running) -> None:
        reader, writer = await running.connected()
        writer.write(running.request())
        await asyncio.sleep(0.1)
        running.process.should_exit = True
        status, headers, _ = await read_answer(reader)
        assert (status, headers["connection"]) == (201, "close")
        assert running.reports() == 1

    run(scenario)


def test_whoever_trickles_is_let_go_and_nobody_else(run: Callable[..., Any], monkeypatch: Any) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.7)

    async def scenario(running: Running) -> None:
        request = running.request()
        silent, half, bodyless, again = [await running.connected() for _ in range(4)]
        half[1].write(request[:60])
        bodyless[1].write(in_two(request)[0])
        again[1].write(request)
        assert (await read_answer(again[0]))[0] == 201
        await asyncio.sleep(0.8)  # an idle connection may stay: nothing has begun on it
        again[1].write(request)
        assert (await read_answer(again[0]))[0] == 200
        for reader, _ in (silent, half, bodyless):
            assert await asyncio.wait_for(reader.read(), 1) == b""
        again[1].write(request[:60])
        assert await asyncio.wait_for(again[0].read(), 2) == b""

    run(scenario)


def test_a_head_without_end_is_given_up(run: Callable[..., Any]) -> None:
    """Each line of a head takes many times its bytes of the server's memory."""

    async def scenario(running: Running) -> None:
        reader, writer = await running.connected()
        writer.write(b"GET / HTTP/1.1\r\nHost: survey.test\r\n")
        lines = b"".join(b"X-%d: a\r\n" % number for number in range(2_000))
        try:
            for _ in range(500):
                writer.write(lines)
                await asyncio.wait_for(writer.drain(), 5)
            told = await asyncio.wait_for(reader.read(), 10)
        except ConnectionError:  # while it was still being sent
            told = b"HTTP/1.1 431"
        assert told.startswith(b"HTTP/1.1 431")
        again = await running.connected()
        again[1].write(running.request())
        assert (await read_answer(again[0]))[0] == 201

    run(scenario)


def test_a_client_that_does_not_read_its_answers_is_not_given_more(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        reader, writer = await running.connected()
        writer.write(running.request())
        assert (await read_answer(reader))[0] == 201
        (connection,) = running.process.server_state.connections
        connection.pause_writing()  # as the transport does when its buffer is full
        writer.write(running.request())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.1)
        connection.resume_writing()
        assert (await read_answer(reader))[0] == 201
        assert running.short == 1

    run(scenario)


def test_what_is_no_http_is_answered_as_plainly_as_everything_else(run: Callable[..., Any]) -> None:
    async def scenario(running: Running) -> None:
        status, headers, content = await running.answered(b"GET / HTTP/9.9 nonsense\r\n\r\n")
        assert (status, set(content)) == (400, {"error"})
        for name, value in connections.JsonReply(400, {}).headers[:-1]:
            assert headers[name.decode()] == value.decode()
        assert headers["connection"] == "close"
        _, whole, _ = await running.answered(running.request())
        assert not {"server", "date"} & (set(headers) | set(whole))

    run(scenario)
