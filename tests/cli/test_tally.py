"""``tacit tally``, folders, patterns and schemes that travel with their reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import scipy.special  # noqa: F401  # ends of intervals are compared to the last digit, so all must come from one library

import tacit as package
from tacit import Attribute, Dataset, Scheme, channels
from tacit.cli.tally import StoreWatch
from tacit.cli.tally_watch import Watch, alone
from tacit.errors import InvalidInput
from tacit.survey.store.submissions import Submission, SubmissionOutcome, store_batch
from tacit.survey.store.surveys import Store
from tests.cli.run import refused, tacit
from tests.postgres_server import fresh_database
from tests.survey.questionnaires import SMALL


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three days of reports of one scheme, in a folder partitioned by town, and all of them in one file."""
    monkeypatch.chdir(tmp_path)
    schema = [Attribute("smokes", ("no", "yes")), Attribute("town", ("a", "b"))]
    scheme = Scheme.of(schema, [(["smokes"], channels.warner(0.8))])
    scheme.write("s.json")
    days = []
    for seed, town in ((1, "a"), (2, "b"), (3, "a")):
        truth = Dataset.from_arrow({"smokes": ["no", "yes", "no"] * 50, "town": [town] * 150}, scheme.schema)
        days.append(package.disguise(truth, scheme, seed=seed))
        Path(f"days/town={town}").mkdir(parents=True, exist_ok=True)
        days[-1].write(f"days/town={town}/{seed}.parquet")
        Path("flat").mkdir(exist_ok=True)
        days[-1].write(f"flat/{seed}.csv")
    from tacit.reports import Reports
    from tacit.table import Table

    Reports(scheme, (Table.concatenate([day.table for day in days]),), True).write("all.parquet")
    return tmp_path


def cells(*arguments: object) -> list[dict[str, object]]:
    done = tacit("estimate", *arguments, "--attributes", "smokes,town", "--json")
    assert done.code == 0, done.err
    return done.json["cells"]


def test_parts_folders_patterns_and_tallies_give_the_estimate_of_the_whole(folder: Path) -> None:
    whole = cells("all.parquet", "--scheme", "s.json")
    assert cells("days", "--scheme", "s.json") == whole
    assert cells("flat", "--scheme", "s.json") == whole
    assert cells("days/*/*.parquet") == whole  # the files carry their scheme
    assert cells("flat/1.csv", "flat/2.csv", "flat/3.csv", "--scheme", "s.json") == whole
    for shape in (["--whole"], ["--order", 2], ["--tables", "smokes,town"], []):
        made = tacit("tally", "days", *shape, "--out", "t.parquet", "--json")
        assert made.json["n_reports"] == 450
        assert cells("t.parquet") == whole
        assert cells("t.parquet", "--scheme", "s.json") == whole


def test_a_column_that_only_the_folders_name_is_read_from_there(folder: Path) -> None:
    import pyarrow.parquet as pq

    for file in Path("days").rglob("*.parquet"):
        table = pq.read_table(file, partitioning=None)
        pq.write_table(table.drop_columns(["town"]), file)
    assert cells("days", "--scheme", "s.json") == cells("all.parquet")


def test_tallies_are_added_and_taken_away(folder: Path) -> None:
    for day in (1, 2, 3):
        tacit("tally", f"flat/{day}.csv", "--out", f"{day}.parquet")
    assert tacit("tally", "1.parquet", "2.parquet", "3.parquet", "--out", "t.parquet").code == 0
    assert cells("t.parquet") == cells("all.parquet")
    tacit("tally", "t.parquet", "--minus", "1.parquet", "--minus", "3.parquet", "--out", "window.parquet")
    assert cells("window.parquet") == cells("flat/2.csv")


def test_a_weighted_tally_gives_the_weighted_estimate(folder: Path) -> None:
    for day in ("1", "2"):
        rows = Path(f"flat/{day}.csv").read_text().splitlines()
        weighted = [f"{rows[0]},w,c", *(f"{row},{1 + place % 3},{place % 7}" for place, row in enumerate(rows[1:]))]
        Path(f"w{day}.csv").write_text("\n".join(weighted) + "\n")
    known = ("--weights", "w", "--clusters", "c")
    for day in ("1", "2"):
        made = tacit("tally", f"w{day}.csv", "--scheme", "s.json", *known, "--out", f"t{day}.parquet", "--json")
        assert made.json["holds"] == "weighted", made.err
    tacit("tally", "t1.parquet", "t2.parquet", "--out", "t.parquet")
    Path("both.csv").write_text(Path("w1.csv").read_text() + Path("w2.csv").read_text().partition("\n")[2])
    asked = ("--attributes", "smokes,town", "--json")
    expected = tacit("estimate", "both.csv", "--scheme", "s.json", *known, *asked).json["cells"]
    for given in (("t.parquet",), ("t1.parquet", "t2.parquet")):
        for cell, other in zip(tacit("estimate", *given, *asked).json["cells"], expected, strict=True):
            assert cell["probability"] == pytest.approx(other["probability"], abs=1e-12)
            assert cell["standard_error"] == pytest.approx(other["standard_error"], rel=1e-9)
    # A database adds the weights itself.
    import duckdb

    with duckdb.connect("r.duckdb") as database:
        database.execute(
            "CREATE TABLE r AS SELECT * REPLACE (w::DOUBLE AS w) FROM read_csv('both.csv', all_varchar=true)"
        )
    stored = tacit("tally", "duckdb:///r.duckdb?table=r", "--scheme", "s.json", *known, "--out", "d.parquet")
    assert stored.code == 0, stored.err
    for cell, other in zip(tacit("estimate", "d.parquet", *asked).json["cells"], expected, strict=True):
        assert cell["standard_error"] == pytest.approx(other["standard_error"], rel=1e-9)
    assert "Leave out --order" in refused("tally", "w1.csv", "--weights", "w", "--order", 1, "--out", "x.parquet")
    mined = tacit("mine", "rules", "t.parquet", "--certainty", 0, "--min-support", 0.1, "--json")
    assert mined.json["error_rule"] == "design", mined.err
    assert "only tables know weights" in refused("mine", "tree", "t.parquet", "--class", "smokes", "--method", "joint")
    assert "'what'" in refused("tally", "w1.csv", "--scheme", "s.json", "--weights", "what", "--out", "x.parquet")


def test_a_watched_folder_is_counted_once(folder: Path) -> None:
    Path("stream").mkdir()
    assert "holds no report file" in refused("tally", "--watch", "stream", "--once", "--out", "t.parquet")
    Path("flat/1.csv").rename("stream/1.csv")
    Path("flat/1.csv.json").rename("stream/1.csv.json")
    assert tacit("tally", "--watch", "stream", "--once", "--out", "t.parquet", "--json").json["n_reports"] == 150
    assert tacit("tally", "--watch", "stream", "--once", "--out", "t.parquet", "--json").json["n_reports"] == 150
    Path("days/town=b/2.parquet").rename("stream/2.parquet")
    assert tacit("tally", "--watch", "stream", "--once", "--out", "t.parquet", "--json").json["n_reports"] == 300
    with Path("stream/1.csv").open("a") as more:
        more.write("no,a\n")
    assert "was changed after it was counted in" in refused(
        "tally", "--watch", "stream", "--once", "--out", "t.parquet"
    )


def test_days_of_a_watched_folder_make_windows_without_a_rescan(folder: Path) -> None:
    Path("stream/day=2024-03-02").mkdir(parents=True)
    for source, target in (("1", "2024-03-01.csv"), ("2", "2024-03-01-b.csv"), ("3", "day=2024-03-02/x.csv")):
        Path(f"flat/{source}.csv").rename(f"stream/{target}")
        Path(f"flat/{source}.csv.json").rename(f"stream/{target}.json")
    watching = ("tally", "--watch", "stream", "--days", "kept", "--once", "--out", "t.parquet", "--json")
    assert tacit(*watching).json["n_reports"] == 450
    assert sorted(path.name for path in Path("kept").iterdir()) == ["2024-03-01.parquet", "2024-03-02.parquet"]
    for file in Path("stream").rglob("*.csv"):
        file.unlink()  # no report is looked at again
    assert cells("kept") == cells("kept/2024-03-*.parquet") == cells("t.parquet") == cells("all.parquet")
    assert cells("kept/2024-03-02.parquet") == cells("days/town=a/3.parquet")
    window = tacit("tally", "t.parquet", "--minus", "kept/2024-03-02.parquet", "--out", "w.parquet", "--json")
    assert window.json["n_reports"] == 300
    assert cells("w.parquet") == cells("kept/2024-03-01.parquet")


def test_a_watch_stopped_between_day_and_total_counts_nothing_twice(folder: Path) -> None:
    Path("stream").mkdir()
    Path("flat/1.csv").rename("stream/2024-03-01.csv")
    watching = ("tally", "--watch", "stream", "--scheme", "s.json", "--days", "kept", "--once", "--out", "t.parquet")
    assert tacit(*watching).code == 0
    Path("t.parquet").unlink()  # as if it had been stopped before the total was written
    assert tacit(*watching, "--json").json["n_reports"] == 150
    assert tacit("estimate", "kept", "--attributes", "smokes", "--json").json["n_reports"] == 150


def test_a_file_that_is_still_being_written_is_left_until_it_stays_as_it_is(folder: Path) -> None:
    Path("stream").mkdir()
    watch = Watch(Path("stream"), Path("t.parquet"), None, lambda file: pytest.fail("counted too early"))
    Path("stream/1.csv").write_text("smokes,town\nno,a\n")
    assert watch._new_files(once=False) == {}
    Path("stream/1.csv").write_text("smokes,town\nno,a\nno,b\n")
    assert watch._new_files(once=False) == {}
    assert list(watch._new_files(once=False)) == ["1.csv"]
    watch.counted = lambda file: Path(file).write_text("smokes,town\nno,a\nno,b\nno,a\n")  # it grows while it is read
    watch._look(once=False)
    assert not Path("t.parquet").exists()
    watch.counted = lambda file: _refusing()
    watch._look(once=False)  # seen anew: it changed
    watch._look(once=False)
    watch.counted = lambda file: pytest.fail("looked at again, and it has not changed")
    watch._look(once=False)


def _refusing() -> package.Tally:
    raise InvalidInput("Half a Parquet file cannot be read.")


@pytest.fixture
def stream(folder: Path) -> tuple[object, ...]:
    """A watch that has counted one day of 150 reports."""
    Path("stream").mkdir()
    Path("flat/1.csv").rename("stream/1.csv")
    watching = ("tally", "--watch", "stream", "--scheme", "s.json", "--once", "--out", "t.parquet")
    assert tacit(*watching).code == 0
    return watching


def test_a_file_that_only_takes_another_name_is_not_counted_again(stream: tuple[object, ...]) -> None:
    Path("stream/1.csv").rename("stream/renamed.csv")
    done = tacit(*stream, "--json")
    assert done.json["n_reports"] == 150
    assert "under a new name" in done.err


def test_another_content_of_the_same_length_is_noticed(stream: tuple[object, ...]) -> None:
    text = Path("stream/1.csv").read_text()
    Path("stream/1.csv").write_text(text.replace('"no"', '"NO"'))
    assert "was changed after it was counted in" in refused(*stream)


def test_what_a_writer_keeps_in_a_hidden_folder_is_not_counted_before_it_is_moved(stream: tuple[object, ...]) -> None:
    Path("stream/_temporary/0").mkdir(parents=True)
    Path("flat/2.csv").rename("stream/_temporary/0/part.csv")
    assert tacit(*stream, "--json").json["n_reports"] == 150
    Path("stream/_temporary/0/part.csv").rename("stream/part.csv")
    assert tacit(*stream, "--json").json["n_reports"] == 300


def test_one_watch_alone_keeps_a_tally(stream: tuple[object, ...]) -> None:
    with alone(Path("t.parquet"), None):
        assert "Another watch keeps 't.parquet'" in refused(*stream)
    with alone(Path("other.parquet"), Path("flat")):
        assert "Another watch keeps 'flat'" in refused(*stream, "--days", "flat")
    assert not list(Path().glob(".*.lock"))
    assert tacit(*stream).code == 0


def test_a_tally_of_an_earlier_version_knows_only_the_sizes_of_its_files(stream: tuple[object, ...]) -> None:
    kept = package.Tally.read("t.parquet")
    size, _ = kept.files["1.csv"]
    replace(kept, files={"1.csv": size}).write("t.parquet")
    assert package.Tally.read("t.parquet").files == {"1.csv": (size, None)}
    assert tacit(*stream, "--json").json["n_reports"] == 150


def test_ctrl_c_ends_a_watch_with_what_it_counted(stream: tuple[object, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.cli.tally_watch.time.sleep", pressed)
    done = tacit(*[word for word in stream if word != "--once"], "--json")
    assert (done.code, done.json["n_reports"]) == (0, 150)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--watch", "stream", "--out", "stream/t.parquet"), "would count itself"),
        (("--watch", "stream", "--days", "stream/days", "--out", "t.parquet"), "would count itself"),
        (("--watch", "stream", "--order", 1, "--once", "--out", "whole.parquet"), "not what is asked for now"),
        (("all.parquet", "--watch", "stream", "--out", "t.parquet"), "Leave out REPORTS"),
        (("all.parquet", "--once", "--out", "t.parquet"), "go with --watch"),
        (("all.parquet", "--days", "kept", "--out", "t.parquet"), "go with --watch"),
        (("1.parquet", "--minus", "whole.parquet", "--out", "t.parquet"), "reports that the other does not hold"),
        (("1.parquet", "other.parquet", "--out", "t.parquet"), "different schemes"),
        (("1.parquet", "--minus", "other.parquet", "--out", "t.parquet"), "different schemes"),
        (("one.parquet", "--order", 2, "--out", "t.parquet"), "does not hold smokes, town together"),
        (("smokes.parquet", "town.parquet", "--out", "t.parquet"), "no table in common"),
        (("one.parquet", "--whole", "--out", "t.parquet"), "from which whole reports do not follow"),
        (("cut.parquet", "--out", "t.parquet"), "cut.parquet' cannot be read as Parquet"),
    ],
)
def test_tallies_refuse_in_a_sentence(folder: Path, arguments: tuple[object, ...], message: str) -> None:
    Path("stream").mkdir()
    Path("flat/2.csv").rename("stream/2.csv")
    Path("flat/2.csv.json").rename("stream/2.csv.json")
    other = Scheme.of([Attribute("smokes", ("no", "yes"))], [(["smokes"], channels.warner(0.7))])
    truth = Dataset.from_arrow({"smokes": ["no", "yes"]}, other.schema)
    package.Tally.of(package.disguise(truth, other, seed=1)).write("other.parquet")
    for made in (
        ("flat/1.csv", "--out", "1.parquet"),
        ("all.parquet", "--out", "whole.parquet"),
        ("all.parquet", "--order", 1, "--out", "one.parquet"),
        ("all.parquet", "--tables", "smokes", "--out", "smokes.parquet"),
        ("all.parquet", "--tables", "town", "--out", "town.parquet"),
    ):
        assert tacit("tally", *made).code == 0
    Path("cut.parquet").write_bytes(Path("1.parquet").read_bytes()[:-20])
    said = refused("tally", *arguments)
    assert message in said
    assert said.startswith("Error: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("tally", "all.parquet", "--order", 2, "--whole", "--out", "t.parquet"),
            "one of --order, --tables and --whole",
        ),
        (("tally", "all.parquet", "--out", "t.csv"), "A tally is a Parquet file"),
        (("tally", "all.parquet", "--out", "all.parquet"), "'all.parquet' is read, and would be overwritten"),
        (("tally", "days", "--out", "days/town=a/1.parquet"), "is read, and would be overwritten"),
        (("tally", "--out", "t.parquet"), "Which reports"),
        (("tally", "all.parquet", "--tables", "smokes,twon", "--out", "t.parquet"), "'twon'"),
        (("tally", "all.parquet", "--tables", ";", "--out", "t.parquet"), "Which tables should the tally hold?"),
        (("tally", "--watch", "nowhere", "--out", "t.parquet"), "There is no folder 'nowhere'"),
        (("tally", "all.parquet", "--minus", "all.parquet", "--out", "t.parquet"), "is not a tally"),
        (("estimate", "empty", "--attributes", "smokes"), "The folder 'empty' holds no Parquet or CSV file"),
        (("estimate", "no*.csv", "--attributes", "smokes"), "The pattern 'no*.csv' holds no"),
        (("estimate", "bare.csv", "--attributes", "smokes"), "does not carry its scheme"),
        (("estimate", "mixed", "--scheme", "s.json", "--attributes", "smokes"), "'mixed/other.csv' of 'mixed'"),
        (("estimate", "sqlite:///x.db?table=t", "--attributes", "smokes"), "does not carry its scheme"),
    ],
)
def test_bad_input(folder: Path, arguments: tuple[object, ...], message: str) -> None:
    Path("empty").mkdir()
    Path("bare.csv").write_text("smokes,town\nno,a\n")
    Path("mixed").mkdir()
    Path("mixed/other.csv").write_text("what\nno\n")
    Path("mixed/one.csv").write_text("smokes,town\nno,a\n")
    assert message in refused(*arguments)


def test_a_folder_of_files_without_notes_is_warned_of_once(folder: Path) -> None:
    for note in Path("flat").glob("*.json"):
        note.unlink()
    done = tacit("estimate", "flat", "--scheme", "s.json", "--attributes", "smokes")
    assert done.err.count("Warning") == 1
    assert "3 files do not say under which scheme the reports were disguised ('flat/1.csv' first)" in done.err
    alone = tacit("estimate", "flat/1.csv", "--scheme", "s.json", "--attributes", "smokes")
    assert "'flat/1.csv' does not say under which scheme" in alone.err


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A survey that has 40 reports in its store."""
    monkeypatch.chdir(tmp_path)
    place = "kept.db" if request.param == "sqlite" else fresh_database(request.getfixturevalue("postgres_url"))
    Path("survey.yaml").write_text(SMALL)
    assert tacit("survey", "open", "survey.yaml", "--store", place).code == 0
    _reported(place, range(40))
    return place


def _reported(place: str, numbers: range) -> None:
    with closing(Store.open(place)) as opened:
        survey = opened.surveys()[0]
        rows = [Submission(survey, "reports", str(i), (("yes", "no")[i % 2], "no", "below 30")) for i in numbers]
        assert set(store_batch(opened.database, rows)) == {SubmissionOutcome.STORED}


def _withdrawn(place: str) -> None:
    with closing(Store.open(place)) as opened:
        table = opened.surveys()[0].table("reports")
        opened.database.run(f"DELETE FROM {table} WHERE report_key IN (SELECT report_key FROM {table} LIMIT 10)")


def test_a_survey_in_its_store_is_tallied_as_its_reports_come(store: str) -> None:
    watching = ("tally", "--watch", store, "--once", "--out", "t.parquet", "--json")
    assert tacit(*watching).json["n_reports"] == 40
    _reported(store, range(40, 60))
    assert tacit(*watching, "--survey", "health").json["n_reports"] == 60
    assert tacit("survey", "export", "health", "--store", store, "--out", "export").code == 0
    asked = ("--attributes", "smokes,drinks", "--json")
    exported = next(Path("export").rglob("*.parquet"))
    assert tacit("estimate", "t.parquet", *asked).json["cells"] == tacit("estimate", exported, *asked).json["cells"]
    _withdrawn(store)
    assert tacit(*watching).json["n_reports"] == 50
    assert "not what is asked for now" in refused(*watching[:-1], "--order", 1)


@pytest.mark.slow
def test_days_of_a_store_add_up_to_all_of_its_reports(store: str) -> None:
    def watched(day: int) -> package.Tally:
        watch = StoreWatch(store, None, Path("t.parquet"), Path("days"), package.Tally.of)
        watch.today = lambda: date(2024, 3, day)
        return watch.run(once=True)

    watched(1)
    _reported(store, range(40, 45))
    watched(2)
    _reported(store, range(45, 60))
    assert watched(2).n_reports == 60
    assert [package.Tally.read(f"days/2024-03-0{day}.parquet").n_reports for day in (1, 2)] == [40, 20]
    asked = ("--attributes", "smokes,drinks", "--json")
    assert tacit("estimate", "days", *asked).json["cells"] == tacit("estimate", "t.parquet", *asked).json["cells"]
    _withdrawn(store)
    _withdrawn(store)
    _withdrawn(store)
    with pytest.raises(InvalidInput, match="was withdrawn, so the days no longer add up"):
        watched(2)


def _exchanged(place: str) -> None:
    """One report is withdrawn and another comes: there are as many as before."""
    with closing(Store.open(place)) as opened:
        survey = opened.surveys()[0]
        row = Submission(survey, "reports", "new", ("yes", "yes", "below 30"), receipt="receipt")
        store_batch(opened.database, [row])
        assert opened.withdraw(survey, "receipt")
    _reported(place, range(41, 42))


def _watched(
    store: str, monkeypatch: pytest.MonkeyPatch, between_looks: Sequence[Callable[[], None]]
) -> tuple[list[int], package.Tally]:
    """What a running watch counts when these things happen between its looks, and what it leaves when it is stopped."""
    counted: list[int] = []
    steps = iter(between_looks)

    def slept(seconds: float) -> None:
        try:
            next(steps)()
        except StopIteration:
            raise KeyboardInterrupt from None

    def tallied(part: Any) -> package.Tally:
        tally = package.Tally.of(part)
        counted.append(tally.n_reports)
        return tally

    monkeypatch.setattr("tacit.cli.tally_watch.time.sleep", slept)
    monkeypatch.setattr("tacit.cli.tally.SHARE_OF_TIME", 1.0)
    return counted, StoreWatch(store, None, Path("t.parquet"), None, tallied).run(once=False)


def test_a_running_watch_counts_a_store_only_when_it_changes(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    happens = [lambda: None, lambda: _reported(store, range(40, 41)), lambda: None, lambda: _exchanged(store)]
    counted, total = _watched(store, monkeypatch, happens)
    assert counted == [40, 41, 42]
    assert total.n_reports == 42


@pytest.mark.postgres
@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_a_watch_outlives_its_connection_to_a_database(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import psycopg

    def cut() -> None:
        with psycopg.connect(store, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        _reported(store, range(40, 45))

    counted, total = _watched(store, monkeypatch, [cut, lambda: None, lambda: None])
    assert counted == [40, 45]
    assert total.n_reports == 45
    assert capsys.readouterr().err.count("The watch goes on when it is back.") == 1


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--watch", "kept.db", "--survey", "helth"), "helth"),
        (("--watch", "kept.db", "--weights", "w"), "knows its schemes and no weights"),
        (("--watch", ".", "--survey", "health"), "is none"),
        (("t.parquet", "--survey", "health"), "go with --watch"),
        (("--watch", "survey.yaml"), "not a database"),
        (("--watch", "postgresql://nobody@127.0.0.1:1/none"), "127.0.0.1"),
    ],
)
def test_what_a_watch_of_a_store_refuses(store: str, arguments: tuple[object, ...], message: str) -> None:
    assert message in refused("tally", *arguments, "--once", "--out", "t.parquet")
