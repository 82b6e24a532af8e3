"""From a file of truths to estimates, as a user types it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit import Attribute, Schema, Scheme, channels
from tacit.cli.output import print_table
from tests.cli.run import refused, tacit

SCHEMA = Schema((Attribute("smokes", ("no", "yes")), Attribute("age", ("young", "old"), ordered=True)))
SCHEME = Scheme.of(SCHEMA, [(["smokes"], channels.warner(0.8))])
N = 4000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    smokes = np.where(rng.random(N) < 0.3, "yes", "no")
    age = np.where(rng.random(N) < 0.6, "young", "old")
    pq.write_table(pa.table({"smokes": smokes, "age": age}), tmp_path / "truth.parquet")
    lines = ["smokes,age", *(f"{s},{a}" for s, a in zip(smokes, age, strict=True))]
    (tmp_path / "truth.csv").write_text("\n".join(lines) + "\n")
    SCHEME.write(tmp_path / "scheme.json")
    return tmp_path


@pytest.mark.parametrize("source", ["truth.csv", "truth.parquet"])
@pytest.mark.parametrize("target", ["reports.csv", "reports.parquet"])
def test_a_file_is_disguised_and_the_truth_estimated(folder: Path, source: str, target: str) -> None:
    done = tacit(
        "disguise", folder / source, "--scheme", folder / "scheme.json", "--out", folder / target, "--seed", 3, "--json"
    )
    assert done.code == 0
    assert done.json["n_reports"] == N
    assert done.json["simulation"] is True
    assert "age" in done.err  # what goes out undisguised is named
    found = tacit(
        "estimate", folder / target, "--scheme", folder / "scheme.json", "--attributes", "smokes,age", "--json"
    )
    assert found.code == 0
    assert found.json["n_reports"] == N
    assert found.json["method"] == "inversion"
    cells = {tuple(cell["answers"].values()): cell for cell in found.json["cells"]}
    cell = cells["yes", "young"]
    assert cell["low"] < 0.18 < cell["high"]
    assert cell["standard_error"] == pytest.approx((cell["high"] - cell["low"]) / 2 / 1.959964, rel=0.01)
    assert cell["low"] <= cell["constrained"] <= cell["high"]
    assert sum(c["probability"] for c in cells.values()) == pytest.approx(1)


@pytest.mark.slow
def test_a_small_file_is_estimated_without_pandas_or_compilers(folder: Path) -> None:
    arguments = [
        "tacit",
        "estimate",
        str(folder / "truth.csv"),
        "--scheme",
        str(folder / "clear.json"),
        "--attributes",
        "age",
    ]
    Scheme.of(SCHEMA, []).write(folder / "clear.json")
    code = f"""
import sys
from tacit.cli import main
sys.argv = {arguments}
try:
    main()
finally:
    heavy = {{"pandas", "numba", "sklearn", "matplotlib", "ibis", "duckdb"}} & set(sys.modules)
    assert not heavy, heavy
    import pandas  # still there for whoever wants it
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


def test_a_table_is_printed_for_people(folder: Path) -> None:
    tacit("disguise", folder / "truth.csv", "--scheme", folder / "scheme.json", "--out", folder / "r.csv", "--seed", 3)
    shown = tacit("estimate", folder / "r.csv", "--scheme", folder / "scheme.json", "--attributes", "smokes")
    assert shown.code == 0
    assert "4,000 reports" in shown.out
    assert "yes" in shown.out


def _told(folder: Path, p: float, answers: list[str], *more: object) -> tuple[list[dict[str, object]], str]:
    """What `estimate` says of these reports under Warner's channel, to programs and to people."""
    scheme = Scheme.of((Attribute("x", ("no", "yes")),), [(["x"], channels.warner(p))])
    scheme.write(folder / "x.json")
    (folder / "x.csv").write_text("\n".join(["x", *answers]) + "\n")
    command = ("estimate", folder / "x.csv", "--scheme", folder / "x.json", "--attributes", "x", *more)
    return tacit(*command, "--json").json["cells"], tacit(*command).out


@pytest.mark.parametrize("method", ["inversion", "likelihood"])
@pytest.mark.parametrize(
    ("p", "answers"),
    [(0.75, ["yes"]), (0.99, ["no"] * 50), (1, ["no"] * 50), (0.6, ["yes"] * 20), (0.9, ["no"] * 49 + ["yes"])],
    ids=["one report", "fifty alike", "undisguised", "twenty alike", "one of fifty"],
)
def test_nobody_sees_an_error_of_zero_or_an_interval_outside(
    folder: Path, p: float, answers: list[str], method: str
) -> None:
    cells, shown = _told(folder, p, answers, "--method", method)
    for cell in cells:
        assert 0 <= cell["low"] < cell["high"] <= 1
        assert cell["standard_error"] > 0
        assert cell["low"] - 1e-9 <= cell["constrained"] <= cell["high"] + 1e-9
    errors = [float(line.split()[2]) for line in shown.splitlines() if line.split()[:1] in (["no"], ["yes"])]
    assert len(errors) == 2
    assert all(error > 0 for error in errors)
    if len(answers) == 1:
        assert all(cell["high"] - cell["low"] > 0.5 for cell in cells)


@pytest.fixture
def disguised(folder: Path) -> tuple[object, ...]:
    tacit("disguise", folder / "truth.csv", "--scheme", folder / "scheme.json", "--out", folder / "r.csv", "--seed", 3)
    return ("estimate", folder / "r.csv", "--scheme", folder / "scheme.json")


def test_shares_within_groups(disguised: tuple[object, ...]) -> None:
    found = tacit(*disguised, "--attributes", "smokes", "--given", "age", "--json").json
    assert found["given"] == ["age"]
    assert [cell["answers"] for cell in found["cells"]][1] == {"smokes": "yes", "age": "young"}
    for group in ("young", "old"):
        cells = [cell for cell in found["cells"] if cell["answers"]["age"] == group]
        assert sum(cell["probability"] for cell in cells) == pytest.approx(1)
        assert abs(cells[1]["probability"] - 0.3) < 5 * cells[1]["standard_error"]
    assert "within each age" in tacit(*disguised, "--attributes", "smokes,age", "--given", "age").out


def test_differences_between_groups(disguised: tuple[object, ...]) -> None:
    found = tacit(*disguised, "--attributes", "smokes", "--compare", "age", "--json").json
    one = found["differences"][1]
    assert one["answers"] == {"smokes": "yes", "age": "young"}
    assert one["against"] == {"age": "old"}
    assert one["low"] < 0 < one["high"]
    assert one["low"] < one["difference"] < one["high"]
    assert 1e-6 < one["p"] <= 1
    assert found["independence"]["degrees"] == 1
    assert found["independence"]["p"] == pytest.approx(one["p"], rel=1e-3)
    shown = tacit(*disguised, "--attributes", "smokes", "--compare", "age").out
    assert "Differences between groups" in shown
    assert "chi-square" in shown


def test_intervals_that_hold_together_are_wider(disguised: tuple[object, ...]) -> None:
    command = (*disguised, "--attributes", "smokes,age", "--json")
    alone, together = tacit(*command).json["cells"], tacit(*command, "--simultaneous").json["cells"]
    for one, other in zip(alone, together, strict=True):
        assert other["low"] < one["low"] < one["high"] < other["high"]


def test_groups_that_cannot_be_compared_are_refused(disguised: tuple[object, ...]) -> None:
    command = (*disguised, "--attributes", "smokes")
    assert "use either --given or --compare" in refused(*command, "--given", "age", "--compare", "age")
    assert "leave out --given" in refused(*command, "--given", "age", "--simultaneous")
    assert "nothing to compare within smokes" in refused(*command, "--compare", "smokes")


def test_likelihood_is_a_distribution_with_the_intervals_of_inversion(folder: Path) -> None:
    tacit("disguise", folder / "truth.csv", "--scheme", folder / "scheme.json", "--out", folder / "r.csv", "--seed", 3)
    common = ("estimate", folder / "r.csv", "--scheme", folder / "scheme.json", "--attributes", "smokes", "--json")
    likely, inverted = tacit(*common, "--method", "likelihood").json, tacit(*common).json
    assert likely["method"] == "likelihood"
    assert [c["low"] for c in likely["cells"]] == pytest.approx([c["low"] for c in inverted["cells"]], abs=1e-12)
    assert sum(c["probability"] for c in likely["cells"]) == pytest.approx(1)


def test_several_files_are_pooled(folder: Path) -> None:
    other = Scheme.of(SCHEMA, [(["smokes"], channels.gamma_diagonal(9))])
    other.write(folder / "other.json")
    for plan, out in (("scheme.json", "a.csv"), ("other.json", "b.csv")):
        tacit("disguise", folder / "truth.csv", "--scheme", folder / plan, "--out", folder / out, "--seed", 3)
    one = tacit(
        "estimate", folder / "a.csv", "--scheme", folder / "scheme.json", "--attributes", "smokes", "--json"
    ).json
    both = tacit(
        "estimate", folder / "a.csv", folder / "b.csv", "--scheme", folder / "scheme.json", "--scheme", folder / "other.json",
        "--attributes", "smokes", "--json",
    ).json  # fmt: skip
    assert both["n_reports"] == 2 * N
    assert both["cells"][0]["standard_error"] < one["cells"][0]["standard_error"]


def test_two_parties_are_joined_on_a_key(folder: Path) -> None:
    rng = np.random.default_rng(8)
    keys = rng.permutation(N)
    smokes = np.where(rng.random(N) < 0.3, "yes", "no")
    pq.write_table(pa.table({"id": np.arange(N), "smokes": smokes[np.argsort(keys)]}), folder / "mine.parquet")
    pq.write_table(pa.table({"id": keys, "age": np.where(smokes == "yes", "old", "young")}), folder / "theirs.parquet")
    Scheme.of(SCHEMA.select(["smokes"])).write(folder / "mine.json")
    Scheme.of(SCHEMA.select(["age"])).write(folder / "theirs.json")
    found = tacit(
        "estimate", folder / "mine.parquet", folder / "theirs.parquet", "--scheme", folder / "mine.json",
        "--scheme", folder / "theirs.json", "--join", "id", "--attributes", "smokes,age", "--json",
    )  # fmt: skip
    cells = {tuple(cell["answers"].values()): cell["probability"] for cell in found.json["cells"]}
    assert cells["yes", "young"] == 0
    assert cells["yes", "old"] == pytest.approx((smokes == "yes").mean())


def test_two_parties_need_no_python_to_lay_a_key_beside_their_reports(tmp_path: Path) -> None:
    people = [("yes" if at % 4 == 0 else "no", "yes" if at % 2 else "no") for at in range(2000)]
    for name, column in (("ill", 0), ("buys", 1)):
        rows = [f"{row[column]},p{at}" for at, row in enumerate(people)][:: 1 if column else -1]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"{name},id", *rows, f",p{len(rows)}"]) + "\n")
        scheme = tmp_path / f"{name}.json"
        assert tacit("design", "scheme", "--answers", f"{name}=no,yes", "--gamma", 50, "--out", scheme).code == 0
        made = ("disguise", tmp_path / f"{name}.csv", "--scheme", scheme, "--out", tmp_path / f"{name}-reports.csv")
        assert "--missing drop" in refused(*made, "--key", "id")
        done = tacit(*made, "--key", "id", "--missing", "drop", "--seed", 1)
        assert (done.code, "to join the reports by: id" in done.err) == (0, True)
    both = ("estimate", tmp_path / "ill-reports.csv", tmp_path / "buys-reports.csv", "--join", "id")
    cells = tacit(*both, "--attributes", "ill,buys", "--json").json["cells"]
    found = {tuple(cell["answers"].values()): cell["probability"] for cell in cells}
    assert found["yes", "yes"] == pytest.approx(
        0, abs=0.03
    )  # nobody who is ill buys: another order would give an eighth
    assert found["yes", "no"] == pytest.approx(0.25, abs=0.06)


def test_without_a_seed_two_runs_differ_and_are_no_simulation(folder: Path) -> None:
    for out in ("a.parquet", "b.parquet"):
        done = tacit(
            "disguise", folder / "truth.csv", "--scheme", folder / "scheme.json", "--out", folder / out, "--json"
        )
        assert done.json["simulation"] is False
    a, b = pq.read_table(folder / "a.parquet"), pq.read_table(folder / "b.parquet")
    assert not a.column("smokes").equals(b.column("smokes"))


def test_another_scheme_is_refused(folder: Path) -> None:
    tacit("disguise", folder / "truth.csv", "--scheme", folder / "scheme.json", "--out", folder / "r.csv", "--seed", 3)
    Scheme.of(SCHEMA, [(["smokes"], channels.warner(0.7))]).write(folder / "other.json")
    message = refused("estimate", folder / "r.csv", "--scheme", folder / "other.json", "--attributes", "smokes")
    assert "was disguised under the scheme" in message


def test_a_missing_sidecar_is_a_warning(folder: Path) -> None:
    tacit("disguise", folder / "truth.csv", "--scheme", folder / "scheme.json", "--out", folder / "r.csv", "--seed", 3)
    (folder / "r.csv.json").unlink()
    shown = tacit("estimate", folder / "r.csv", "--scheme", folder / "scheme.json", "--attributes", "smokes", "--json")
    assert shown.code == 0
    assert "does not say under which scheme" in shown.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("estimate", "nothing.csv", "--scheme", "scheme.json", "--attributes", "smokes"), "There is no file"),
        (("estimate", "truth.csv", "--scheme", "nothing.json", "--attributes", "smokes"), "There is no file"),
        (("estimate", "truth.csv", "--scheme", "truth.csv", "--attributes", "smokes"), "is not JSON"),
        (("estimate", "truth.csv", "--scheme", "scheme.json", "--attributes", "smoke"), "Did you mean 'smokes'"),
        (("estimate", "truth.csv", "--scheme", "scheme.json", "--attributes", ","), "Say which attributes"),
        (("estimate", "truth.csv", "--scheme", "scheme.json", "--attributes", "smokes", "--level", "2"), "confidence level"),
        (("estimate", "truth.csv", "--scheme", "scheme.json", "--attributes", "smokes", "--method", "x"), "--method"),
        (("estimate", "truth.csv", "truth.csv", "truth.csv", "--scheme", "scheme.json", "--scheme", "scheme.json",
          "--attributes", "smokes"), "Give one scheme for all"),
        (("disguise", "truth.csv", "--scheme", "scheme.json", "--out", "truth.csv"), "would overwrite the truths"),
        (("disguise", "truth.csv", "--scheme", "scheme.json", "--out", "no/such/folder.csv"), "There is no folder"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_clear_message(
    folder: Path, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    assert message in refused(*arguments)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_unnamed_columns_are_never_passed_through(folder: Path) -> None:
    Scheme.of(SCHEMA.select(["smokes"])).write(folder / "one.json")
    common = ("disguise", folder / "truth.csv", "--scheme", folder / "one.json", "--out", folder / "r.csv")
    assert "does not name the column(s) 'age'" in refused(*common)
    assert not (folder / "r.csv").exists()
    assert tacit(*common, "--drop-others").code == 0
    assert (folder / "r.csv").read_text().splitlines()[0] == '"smokes"'


def test_a_table_of_very_many_rows_is_printed_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    started = time.process_time()
    print_table("All codes", ("code", "share"), [(f"c{place}", f"{place / 7:.4f}") for place in range(50_000)])
    assert time.process_time() - started < 5  # laid out, it would take most of a minute
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["All codes", "code    share", "c0      0.0000"]
    assert len(lines) == 50_002


@pytest.mark.parametrize("place", ["days", "days/*.csv"])
def test_reports_never_overwrite_any_of_the_truths(folder: Path, place: str) -> None:
    (folder / "days").mkdir()
    truths = (folder / "truth.csv").read_bytes()
    for day in ("monday.csv", "tuesday.csv"):
        (folder / "days" / day).write_bytes(truths)
    out = folder / "days" / "monday.csv"
    message = refused("disguise", folder / place, "--scheme", folder / "scheme.json", "--out", out)
    assert "would overwrite the truths" in message
    assert out.read_bytes() == truths


@pytest.mark.parametrize(("scheme", "out"), [("scheme.json", "scheme"), ("scheme.json", "scheme.json")])
def test_reports_and_their_note_never_overwrite_the_scheme(folder: Path, scheme: str, out: str) -> None:
    before = (folder / scheme).read_bytes()
    message = refused("disguise", folder / "truth.csv", "--scheme", folder / scheme, "--out", folder / out)
    assert "is read, and would be overwritten" in message
    assert (folder / scheme).read_bytes() == before


@pytest.mark.parametrize(
    "channel", [channels.warner(1), channels.warner(0), channels.matrix([[1, 0.5], [0, 0.5]])], ids=str
)
def test_a_channel_that_hides_nothing_is_named_before_its_reports_go_out(folder: Path, channel: object) -> None:
    Scheme.of(SCHEMA, [(["smokes"], channel)]).write(folder / "scheme.json")
    told = tacit("disguise", folder / "truth.csv", "--scheme", folder / "scheme.json", "--out", folder / "r.csv").err
    assert "Some reports tell the answer for certain, as the scheme's chances leave no other: smokes." in told


@pytest.mark.slow
def test_a_command_that_the_system_ends_leaves_nothing_behind(folder: Path) -> None:
    # The progress is told once a batch is written: the system ends the command there.
    script = """
import os, signal, sys
from tacit.cli import main, output
output.Progress.advance = lambda self, rows: os.kill(os.getpid(), signal.SIGTERM)
sys.argv = ["tacit", "disguise", "truth.csv", "--scheme", "scheme.json", "--out", "ended.csv"]
import atexit
atexit.register(print, "truths that were fetched are removed")
main()
"""
    before = sorted(file.name for file in folder.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stdout == "truths that were fetched are removed\n"
    assert sorted(file.name for file in folder.iterdir()) == before
