"""A private PostgreSQL server in a temporary folder, for tests."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_numbers = itertools.count(1)


def postgres_bin() -> Path:
    """The folder of PostgreSQL's programs; tests without it are skipped, or fail where everything must be there."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        reason = "PostgreSQL is not installed"
        if os.environ.get("TACIT_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return found[-1].parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _as_postgres(command: list[str]) -> list[str]:
    # PostgreSQL refuses to run as root.
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else command


def _run(command: list[str]) -> None:
    done = subprocess.run(_as_postgres(command), capture_output=True, text=True, cwd="/", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of an empty database on a server that ends with the context."""
    programs = postgres_bin()
    folder = Path(tempfile.mkdtemp(prefix="tacit-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    data, port = folder / "data", free_port()
    control = [str(programs / "pg_ctl"), "-D", str(data), "-w", "-t", "60"]
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    try:
        _run([str(programs / "initdb"), "-D", str(data), "-U", "tacit", "--auth=trust", "--no-sync", "-E", "UTF8"])
        _run([*control, "-l", str(folder / "log"), "-o", options, "start"])
        try:
            _run([str(programs / "createdb"), "-h", "127.0.0.1", "-p", str(port), "-U", "tacit", "tacit"])
            yield f"postgresql://tacit@127.0.0.1:{port}/tacit"
        finally:
            _run([*control, "-m", "fast", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fresh_database(server_url: str) -> str:
    """The URL of a new, empty database on a running server."""
    import psycopg

    name = f"fresh_{next(_numbers)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server_url.rsplit("/", 1)[0] + f"/{name}"
