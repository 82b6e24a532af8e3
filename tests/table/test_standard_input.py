"""`-` is standard input: CSV and Parquet, read as often as it is asked for."""

from __future__ import annotations

import io
import subprocess
import sys
import types

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import InvalidInput
from tacit.reports import carried_scheme
from tacit.table import standard_input
from tacit.table.files import column_names, read_table
from tacit.table.heads import is_parquet


@pytest.fixture
def piped(monkeypatch):
    """Puts bytes where the shell would pipe them in."""

    def pipe(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
        standard_input.standard_input.cache_clear()
        standard_input.holds_parquet.cache_clear()

    yield pipe
    standard_input.standard_input.cache_clear()
    standard_input.holds_parquet.cache_clear()


def test_values_are_read_twice(piped):
    piped(b"x;y\n1;a\n0;b\n")
    assert column_names("-") == ["x", "y"]
    assert read_table("-").to_pydict() == {"x": ["1", "0"], "y": ["a", "b"]}
    assert not is_parquet("-")


def test_parquet_is_known_by_its_first_bytes(piped):
    held = io.BytesIO()
    pq.write_table(pa.table({"x": ["1", "0"]}), held)
    piped(held.getvalue())
    assert read_table("-").to_pydict() == {"x": ["1", "0"]}


@pytest.mark.parametrize("asked", [("prevalence", "-", "--item", "x", "--device", "warner", "--parameters", "p=.9")])
def test_a_command_takes_a_pipe(asked):
    ran = subprocess.run(
        [sys.executable, "-m", "tacit", *asked, "--json"], input=b"x\n1\n0\n1\n", capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert b'"n_reports": 3' in ran.stdout


def test_standard_input_is_named_in_a_refusal(piped):
    piped(b"PAR1 and nothing of a table")
    with pytest.raises(InvalidInput, match=r"^Standard input cannot be read as Parquet"):
        read_table("-")


def test_reports_that_carry_no_scheme_are_named_as_they_came_in(piped):
    piped(b"x\n1\n0\n")
    with pytest.raises(InvalidInput, match=r"^Standard input does not carry its scheme"):
        carried_scheme(standard_input.standard_input())
