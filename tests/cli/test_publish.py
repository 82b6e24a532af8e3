from __future__ import annotations

import contextlib
import csv
import errno
import json
import sqlite3
from unittest import mock

import pytest

from tests.cli.run import refused, tacit
from tests.publish.test_anonymization import people

QUICK = ("--seed", 1)
KNOWN = ("--attributes", "age,town,sex")
ALL = ("--attributes", "age,town,sex,illness")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    columns = people()
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


def test_publish_then_check(table, tmp_path):
    out = tmp_path / "out.csv"
    answer = tacit("publish", table, "--k", 6, *KNOWN, "--sensitive", "illness", *QUICK, "--out", out, "--json")
    assert answer.code == 0, answer.err
    names = {"effective_k", "nwp", "necd", "ach", "suppressed", "lower_bound", "partitions", "front"}
    assert names <= set(answer.json)
    assert answer.json["effective_k"] >= 6
    assert answer.json["verified"]["k"] == answer.json["effective_k"]
    assert sum(result["written"] for result in answer.json["methods"]) == 1
    for result in answer.json["methods"]:
        assert set(result["labels"]) == {"age", "town", "sex"}
        assert 0 < result["average_risk"] <= 1 / result["effective_k"]
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["k"] == 6
    checked = tacit("check", out, "--attributes", "age,town,sex", "--sensitive", "illness", "--json")
    assert checked.json["k"] == answer.json["effective_k"]
    assert checked.json["l"] >= 1


def test_a_warning_is_given_once_however_often_the_file_is_read(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_text(
        "Größe,Ort\n" + "".join(f"{150 + i % 9},{'Köln' if i % 2 else 'Rom'}\n" for i in range(60)), "latin-1"
    )
    answer = tacit(
        "publish",
        path,
        "--k",
        3,
        "--attributes",
        "Größe,Ort",
        "--method",
        "local",
        *QUICK,
        "--out",
        tmp_path / "out.csv",
    )
    assert answer.code == 0, answer.err
    assert answer.err.count("Windows-1252") == 1


def test_a_misspelled_column_to_drop_is_refused(table, tmp_path):
    assert "Column to drop 'twn' does not exist. Did you mean 'town'?" in refused(
        "publish", table, *KNOWN, "--drop", "twn", "--out", tmp_path / "out.csv"
    )


@pytest.mark.slow
def test_people_read_words(table, tmp_path):
    answer = tacit(
        "publish",
        table,
        "--k",
        6,
        *ALL,
        "--target",
        "sex",
        "--order",
        "data",
        *QUICK,
        "--out",
        tmp_path / "out.parquet",
    )
    assert "whose sex is guessed right" in answer.out
    assert "sex is a quasi-identifier" in " ".join(answer.out.split())
    assert "everyone hides among at least" in answer.out
    assert "Written and verified" in answer.out
    checked = tacit("check", tmp_path / "out.parquet", "--attributes", "age,town,sex,illness")
    assert "prosecutor's risk" in checked.out


def test_numbers_in_steps_weights_and_a_plot(table, tmp_path):
    out, plot = tmp_path / "out.csv", tmp_path / "front.png"
    answer = tacit(
        "publish", table, "--k", 10, "--attributes", "age,town", "--weights", "age=.7,town=.3", "--granularity", "age=5",
        *QUICK, "--out", out, "--plot", plot, "--json",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert plot.read_bytes().startswith(b"\x89PNG")
    shown = {step for block in answer.json["partitions"]["age"] for step in block}
    assert shown == {"20 to 24", "25 to 29", "30 to 34", "35 to 39"}


def test_sets_local_and_suppression(table, tmp_path):
    sets = tacit("publish", table, "--attributes", "age,sex;town", *QUICK, "--out", tmp_path / "a.csv", "--json")
    assert sets.json["effective_k"] >= 5
    local = tacit("publish", table, "--method", "local", *ALL, *QUICK, "--again", "--out", tmp_path / "b.csv", "--json")
    assert local.json["suppressed"] == 0
    cut = tacit(
        "publish",
        table,
        "--suppress",
        0.05,
        "--method",
        "search",
        *ALL,
        *QUICK,
        "--again",
        "--out",
        tmp_path / "c.csv",
        "--json",
    )
    assert cut.json["suppressed"] <= 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--k", 500), "more than the 400 rows"),
        (("--attributes", "agee"), "Did you mean 'age'"),
        (("--weights", "age"), "entries like age=5"),
        (("--weights", "age=.5,town=.6", "--attributes", "age,town"), "sum to 1.1"),
        (("--sensitive", "illness", "--attributes", "age,illness"), "cannot also be sensitive"),
        (("--granularity", "town=5"), "not numbers"),
        (("--suppress", 1.5), "suppress must be"),
    ],
)
def test_refusals_leave_nothing_behind(table, tmp_path, options, message):
    given = options if "--attributes" in options else (*ALL, *options)
    assert message in refused("publish", table, *given, "--out", tmp_path / "out.csv", *QUICK)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_schema_already_says_the_steps(table, tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text("{}")
    message = refused("publish", table, "--schema", schema, "--granularity", "age=5", "--out", tmp_path / "o.csv")
    assert "the schema already cuts them" in message


def test_check_refuses_unknown_columns(table):
    assert "Did you mean 'town'" in refused("check", table, "--attributes", "twn")


@pytest.fixture
def stored(table, tmp_path):
    """The address of the same people in SQLite, ages as numbers."""
    file = tmp_path / "people.db"
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE people (age INTEGER, town TEXT, sex TEXT, illness TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", zip(*people().values(), strict=True))
    return f"sqlite:///{file}?table=people"


@pytest.mark.slow
def test_a_database_table_is_published_and_checked(stored, table, tmp_path, monkeypatch):
    wishes = (
        "--k",
        6,
        *KNOWN,
        "--granularity",
        "age=5",
        "--target",
        "illness",
        "--sensitive",
        "illness",
        *QUICK,
        "--json",
    )
    ours = tacit("publish", stored, *wishes, "--out", tmp_path / "out.csv")
    assert ours.code == 0, ours.err
    (tmp_path / "apart").mkdir()  # beside each other the second would say that the same columns were released before
    theirs = tacit("publish", table, *wishes, "--out", tmp_path / "apart" / "theirs.csv")
    elsewhere = {"out": "", "nwp_of_file": None, "read_columns": []}  # a database cuts its numbers itself
    assert ours.json | elsewhere == theirs.json | elsewhere
    beside = stored.replace("table=people", "table=hidden")
    monkeypatch.chdir(tmp_path)  # where the private manifest of a table goes
    words = tacit("publish", stored, *wishes[:-1], "--out", beside)
    assert (tmp_path / "hidden.private.json").exists()
    assert f"Written and verified: {beside!r}" in words.out
    checked = tacit("check", beside, "--attributes", "age,town,sex", "--json")
    assert checked.json["k"] == ours.json["effective_k"]


@pytest.mark.slow
def test_a_table_goes_into_the_database_of_its_input_only(stored, table, tmp_path):
    elsewhere = f"sqlite:///{tmp_path / 'other.db'}?table=hidden"
    for given in (stored, table):
        assert "the database that holds the input only" in refused("publish", given, *ALL, "--out", elsewhere, *QUICK)
    assert "There is no file" in refused("check", elsewhere, "--attributes", "age")


def test_ctrl_c_while_counting_leaves_no_release_at_all(table, tmp_path):
    with mock.patch("tacit.publish.publication.tally", side_effect=KeyboardInterrupt):
        stopped = tacit("publish", table, *ALL, "--out", tmp_path / "out.csv")
    assert stopped.code == 130
    assert "Nothing was left half-written" in stopped.err
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.manifest.json", "people.csv"])
def test_a_report_never_overwrites_a_file_of_the_release(table, tmp_path, name):
    wishes = (*ALL, "--out", tmp_path / "out.csv", "--report", tmp_path / name)
    assert "another file of this release" in refused("publish", table, *wishes)
    assert list(tmp_path.iterdir()) == [table]


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("tacit.publish.writing._write_batches", FULL),
        ("tacit.publish.writing.write_document", FULL),
        ("tacit.report.release_page.write_release_page", FULL),
        ("tacit.cli.publish._plot", FULL),
        ("tacit.publish.writing.read_back", KeyboardInterrupt()),
    ],
)
def test_whatever_fails_leaves_neither_a_release_nor_parts_of_one(table, tmp_path, what, error):
    wishes = (*KNOWN, "--method", "local", "--plot", tmp_path / "front.png", "--report", tmp_path / "report.html")
    with mock.patch(what, side_effect=error):
        failed = tacit("publish", table, *wishes, "--out", tmp_path / "out.csv")
    assert failed.code == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert "Traceback" not in failed.err
    assert "No space left on device" in failed.err or failed.code == 130
    assert list(tmp_path.iterdir()) == [table]


def test_ctrl_c_while_recoding_publishes_what_there_is(table, tmp_path):
    with mock.patch("tacit.publish.local.best_cut", side_effect=KeyboardInterrupt):
        stopped = tacit("publish", table, "--method", "local", *ALL, "--out", tmp_path / "out.csv")
    assert stopped.code == 0
    assert "Note: Local recoding was interrupted" in stopped.out
    assert (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("out", "further", "message"),
    [
        ("people.csv", (), "would overwrite the table of people"),
        ("none/out.csv", (), "Make it first"),
        ("out.csv", ("--plot", "front.xyz"), "cannot be written as '.xyz'. Use .png"),
        ("out.csv", ("--seconds", 0), "seconds must be a number above 0, not 0"),
        ("out.csv", ("--within", 1.5), "within must be a share from 0, below 1"),
        ("out.csv", ("--choose", "beauty"), "'beauty' is not one of"),
        ("out.csv", ("--target", "agee"), "Did you mean 'age'"),
        ("out.csv", ("--every", 5), "from 1 to 4"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_search(table, tmp_path, out, further, message):
    held = table.read_bytes()
    assert message in refused("publish", table, *ALL, "--k", 2, "--out", tmp_path / out, *further)
    assert list(tmp_path.iterdir()) == [table]
    assert table.read_bytes() == held


def test_without_roles_they_are_shown_and_nothing_is_written(table, tmp_path):
    shown = tacit("publish", table, "--k", 5, "--out", tmp_path / "out.csv")
    assert shown.code == 2
    assert "Nothing was published: say what each column is" in shown.err
    assert "quasi-identifier" in shown.out
    answer = tacit("publish", table, "--k", 5, "--out", tmp_path / "out.csv", "--json")
    assert answer.code == 2
    assert "Nothing was published" in answer.json["error"]
    assert [column["name"] for column in answer.json["columns"]] == ["age", "town", "sex", "illness"]
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_roles_are_never_written_over_their_table(table):
    people = table.read_bytes()
    assert "is read, and would be overwritten" in refused("roles", table, "--out", table)
    assert table.read_bytes() == people


@pytest.mark.slow
def test_roles_are_written_mended_and_used(table, tmp_path):
    file = tmp_path / "roles.yaml"
    answer = tacit("roles", table, "--out", file, "--json")
    assert answer.code == 0, answer.err
    assert all(set(column) == {"name", "role", "type", "reason"} for column in answer.json["columns"])
    assert {c["name"]: c["role"] for c in answer.json["columns"]}["illness"] == "sensitive"
    words = tacit("roles", table)
    assert "(illness)" in words.out
    done = tacit("publish", table, "--roles", file, "--k", 6, *QUICK, "--out", tmp_path / "out.csv", "--json")
    assert done.code == 0, done.err
    with (tmp_path / "out.csv").open() as lines:
        assert next(csv.reader(lines)) == ["age", "town", "sex", "illness"]
    file.write_text(file.read_text().replace("name: town", "name: twn"))
    message = refused("publish", table, "--roles", file, "--out", tmp_path / "b.csv")
    assert "Did you mean 'town'" in message


def test_dropped_columns_are_not_published(table, tmp_path):
    file = tmp_path / "roles.yaml"
    tacit("roles", table, "--out", file)
    wishes = ("--roles", file, "--drop", "illness,sex", "--method", "local", *QUICK)
    done = tacit("publish", table, *wishes, "--out", tmp_path / "out.csv", "--json")
    assert done.code == 0, done.err
    assert set(done.json["partitions"]) == {"age", "town"}


def test_a_second_release_is_refused_before_the_search_and_again_says_what_remains(table, tmp_path):
    first = tacit("publish", table, *ALL, "--method", "local", *QUICK, "--out", tmp_path / "a.csv", "--json")
    assert first.code == 0, first.err
    with mock.patch("tacit.publish.anonymization.find", side_effect=AssertionError):
        message = refused("publish", table, *ALL, "--method", "search", *QUICK, "--out", tmp_path / "b.csv")
    assert "was released before" in message
    wishes = (*ALL, "--method", "search", "--again", *QUICK)
    again = tacit("publish", table, *wishes, "--out", tmp_path / "b.csv", "--json")
    assert again.json["k_together"] >= 1
    assert any("the k of all together is" in warning for warning in again.json["warnings"])


@pytest.mark.slow
def test_an_alternative_is_picked_and_the_report_shows_the_menu(table, tmp_path):
    wishes = (*ALL, "--method", "search", "--prefer-bias", 0.05, *QUICK)
    page = tmp_path / "report.html"
    first = tacit("publish", table, *wishes, "--out", tmp_path / "a.csv", "--report", page, "--json")
    assert first.code == 0, first.err
    entry = first.json["front"][1]
    assert entry["pick"] == 1
    picked = tacit("publish", table, *wishes, "--pick", 1, "--again", "--out", tmp_path / "b.csv", "--json")
    assert picked.json["nwp"] == pytest.approx(entry["nwp"])
    assert picked.json["verified"]["k"] == entry["effective_k"]
    assert page.stat().st_mode & 0o077 == 0  # it names answers that may not be published
    text = page.read_text()
    assert "The alternatives" in text
    assert "Before and after" in text
    assert 'src="http' not in text
    assert "alternatives 0 to" in refused(
        "publish", table, *wishes, "--pick", 999, "--again", "--out", tmp_path / "c.csv"
    )


def test_persons_are_counted_from_the_command_line(table, tmp_path):
    with table.open(newline="") as lines:
        rows = list(csv.reader(lines))
    many = tmp_path / "many.csv"
    with many.open("w", newline="") as lines:
        csv.writer(lines).writerows([[*row, "id" if i == 0 else f"p{i // 3}"] for i, row in enumerate(rows)])
    wishes = ("--person", "id", "--k", 4, *KNOWN, "--method", "local", *QUICK)
    done = tacit("publish", many, *wishes, "--out", tmp_path / "out.csv", "--json")
    assert done.code == 0, done.err
    assert done.json["verified"]["counted"].startswith("persons")
    assert done.json["verified"]["k"] >= 4
    checked = tacit("check", many, "--attributes", "town,sex", "--person", "id", "--json")
    plain = tacit("check", many, "--attributes", "town,sex", "--json")
    assert checked.json["k"] < plain.json["k"]


def _written(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--roles", "nobody.yaml"), "No column has the role quasi-identifier"),
        (("--roles", "strange.yaml"), "'height'"),
        (("--attributes", "age", "--person", "id", "--k", 60), "k = 60 is more than the 50 persons there are"),
        (("--attributes", "age", "--sensitive", "sex", "--l", 3), "Ask for a smaller l: at most 2"),
        (("--attributes", "age,visit"), "two formats, such as '2024-03-01' and '04.03.2024'"),
    ],
)
def test_bad_tables_and_roles_get_a_clear_sentence_before_any_search(tmp_path, options, message):
    visits = [f"2024-03-{1 + i % 28:02d}" if i % 2 else f"{1 + i % 28:02d}.03.2024" for i in range(100)]
    visits[:4] = ["2024-03-01", "2024-03-02", "04.03.2024", "31.03.2024"]
    ages, sexes = [str(20 + i % 30) for i in range(100)], ["f", "m"] * 50
    data = {"id": [f"p{i // 2}" for i in range(100)], "age": ages, "sex": sexes, "visit": visits}
    table = _written(tmp_path / "people.csv", data)
    (tmp_path / "nobody.yaml").write_text("columns: {id: identifier, age: kept}\n", encoding="utf-8")
    (tmp_path / "strange.yaml").write_text("columns: {age: quasi-identifier, height: kept}\n", encoding="utf-8")
    given = [tmp_path / option if str(option).endswith(".yaml") else option for option in options]
    with mock.patch("tacit.publish.comparison.find", side_effect=AssertionError("searched")):
        assert message in refused("publish", table, *given, "--out", tmp_path / "out.csv")


def test_a_person_id_that_is_unique_says_that_rows_are_persons(table, tmp_path):
    with table.open(newline="") as lines:
        header, *rows = list(csv.reader(lines))
    columns = dict(zip([*header, "id"], [*zip(*rows, strict=True), [f"p{i}" for i in range(len(rows))]], strict=True))
    people = _written(tmp_path / "unique.csv", columns)
    answer = tacit(
        "publish", people, "--attributes", "age,sex", "--person", "id", "--method", "local", "--out", tmp_path / "o.csv"
    )
    assert "'id' is different in every row, so rows are persons" in answer.out
    assert "p17" not in (tmp_path / "o.csv").read_text()


def test_one_attribute_is_told_nothing_of_tables_of_two(table, tmp_path):
    done = tacit("publish", table, "--attributes", "age", "--k", 30, *QUICK, "--out", tmp_path / "a.csv")
    assert done.code == 0, done.err
    assert "query error" in done.out
    assert "ables of two" not in done.out
    assert "oefficients" not in done.out


@pytest.mark.slow
def test_what_was_counted_from_the_file_is_said_as_the_field_names_it(table, tmp_path):
    wishes = (*KNOWN, "--sensitive", "illness", "--k", 3, "--method", "search", *QUICK)
    done = tacit("publish", table, *wishes, "--beta", 20, "--out", tmp_path / "a.csv")
    assert done.code == 0, done.err
    checked = tacit("check", tmp_path / "a.csv", *KNOWN, "--sensitive", "illness", "--json").json
    shown = (
        f"k = {checked['k']}, l = {checked['l']}, t = {checked['t']:.3g}, beta = {checked['sensitive'][0]['beta']:.3g}."
    )
    assert f"Counted from what was written: {shown}" in " ".join(done.out.split())
    assert "Neither l nor t" not in done.out  # beta is asked


def test_refusals_name_the_option_and_nothing_that_only_python_knows(table, tmp_path):
    out = ("--out", tmp_path / "a.csv")
    assert refused("publish", table, *KNOWN, "--k", 0, *out).rstrip().endswith("not 0.")
    assert "--people F" in refused("publish", table, *KNOWN, "--k-map", 20, *out)


def test_a_dry_run_shows_everything_and_writes_nothing(table, tmp_path):
    wishes = ("publish", table, *KNOWN, "--k", 5, "--dry-run")
    before = sorted(tmp_path.iterdir())
    done = tacit(*wishes)
    assert done.code == 0, done.err
    assert "Nothing was published" in done.out
    assert "for k = 10" in done.out
    assert sorted(tmp_path.iterdir()) == before
    answer = tacit(*wishes, "--json").json
    assert answer["verified"] is None
    assert "out" not in answer
    released = tacit("publish", table, *KNOWN, "--k", 5, "--out", tmp_path / "o.csv")  # a try is no release
    assert released.code == 0, released.err
    assert "Name the release with --out" in refused("publish", table, *KNOWN)


def test_a_kept_alternative_is_written_byte_for_byte(table, tmp_path):
    """Runs without a seed searched anew: number N of the report was another release than number N of the next run."""
    kept = tmp_path / "kept.json"
    tried = tacit(
        "publish", table, *KNOWN, "--k", 3, "--method", "search", "--dry-run", "--alternatives", kept, "--json"
    ).json
    assert oct(kept.stat().st_mode)[-3:] == "600"
    for number in (0, len(tried["front"]) - 1):
        entry, bytes_written = tried["front"][number], []
        for name in ("a", "b"):
            out = tmp_path / name / "out.csv"
            out.parent.mkdir(exist_ok=True)
            done = tacit("publish", table, "--alternatives", kept, "--pick", number, "--out", out, "--again", "--json")
            assert done.code == 0, done.err
            assert (done.json["nwp"], done.json["effective_k"]) == (pytest.approx(entry["nwp"]), entry["effective_k"])
            bytes_written.append(out.read_bytes())
        assert bytes_written[0] == bytes_written[1]
    assert entry["k"] == 12  # local recoding for four times the k


def test_a_pick_beside_a_release_is_number_n_of_that_release(table, tmp_path):
    wishes = ("publish", table, *KNOWN, "--k", 3, "--method", "search", "--again", "--json")
    front = tacit(*wishes, "--out", tmp_path / "first.csv").json["front"]
    number = len(front) // 2
    picked = tacit(*wishes, "--pick", number, "--out", tmp_path / "second.csv").json
    assert (picked["nwp"], picked["effective_k"]) == (pytest.approx(front[number]["nwp"]), front[number]["effective_k"])
    assert "first.csv.private.json" in " ".join(picked["warnings"])


def test_alternatives_of_another_table_and_numbers_that_do_not_exist_are_refused(table, tmp_path):
    kept, out = tmp_path / "kept.json", tmp_path / "out.csv"
    assert tacit("publish", table, *KNOWN, "--k", 5, "--dry-run", "--alternatives", kept).code == 0
    other = tmp_path / "other.csv"
    other.write_text("".join(table.read_text().splitlines(keepends=True)[:-5]))
    asked = ("--alternatives", kept, "--out", out)
    assert "This is not the input of the release" in refused("publish", other, *asked, "--pick", 0)
    assert "There are the alternatives 0 to" in refused("publish", table, *asked, "--pick", 99)
    assert "no kept alternatives" in refused("publish", table, "--alternatives", other, "--pick", 0, "--out", out)
    assert not out.exists()
