import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tacit import Attribute, Scheme
from tacit.cli.commands import flatten_groups
from tacit.cli.design_scheme import design_scheme
from tacit.errors import InvalidInput
from tests.cli.run import refused, tacit

app = typer.Typer()
app.command()(flatten_groups(design_scheme))


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text("smokes,drinks,age\nno,yes,old\nyes,no,young\nno,no,old\nno,yes,middle\n")
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "scheme.json"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_a_scheme_from_data_and_a_demand(data, out):
    options = ("--data", data, "--groups", "smokes, drinks; age", "--rho1", 0.05, "--rho2", 0.5, "--out", out)
    answer = json.loads(run(*options, "--json").stdout)
    written = Scheme.read(out)
    assert [group.names for group in written.groups] == [("smokes", "drinks"), ("age",)]
    assert answer["gamma"] == pytest.approx(19, rel=1e-6)
    assert answer["prior"] == "data"
    assert answer["scheme"]["hash"] == written.hash
    assert answer["out"] == str(out)


def test_what_it_protects_and_costs_is_printed(data, out):
    text = run("--data", data, "--public", "age", "--theta", 0.8, "--groups", "smokes,drinks", "--out", out).stdout
    assert f"{out}: theta = 0.8 for each group." in text
    assert "Amplification inf" in text
    assert "errors at 1,000 respondents" in text
    assert "only two records possible" in text


def test_a_schema_document_gives_the_attributes(out, tmp_path, data):
    schema = tmp_path / "schema.json"
    Scheme.of([Attribute("smokes", ("no", "yes")), Attribute("drinks", ("no", "yes"))]).write(schema)
    run("--schema", schema, "--epsilon", 2, "--per-group", "--out", out)
    assert [group.channel.kind for group in Scheme.read(out).groups] == ["gamma-diagonal"] * 2
    both = json.loads(run("--schema", schema, "--data", data, "--gamma", 9, "--out", out, "--json").stdout)
    assert both["prior"] == "data"


def test_without_attributes_there_is_no_scheme(out):
    with pytest.raises(InvalidInput, match=r"--schema .* --data"):
        run("--gamma", 19, "--out", out)


def test_nothing_is_written_when_the_demand_is_refused(data, out):
    with pytest.raises(InvalidInput, match="State one demand"):
        run("--data", data, "--out", out)
    assert not out.exists()


def test_a_scheme_for_a_purpose_deals_questionnaires(data, out):
    options = ("--data", data, "--gamma", 19, "--for", "itemsets:2", "--respondents", 5000, "--out", out)
    answer = json.loads(run(*options, "--json").stdout)
    assert Scheme.read(out).is_dealt
    assert sum(part["probability"] for part in answer["dealing"]) == pytest.approx(1)
    assert [entry["length"] for entry in answer["predicted"]] == [1, 2]
    assert answer["cost"] <= 1.012 * answer["lower_bound"]
    shown = " ".join(run(*options).stdout.split())
    assert "Who is asked what" in shown
    assert "Standard errors to expect of 5,000 respondents" in shown


def test_a_purpose_asks_only_for_what_it_needs(data, out):
    run("--data", data, "--gamma", 19, "--for", "tables:smokes,drinks", "--out", out)
    assert Scheme.read(out).schema.names == ("smokes", "drinks")
    run("--data", data, "--gamma", 19, "--for", "bayes:smokes", "--public", "age", "--out", out)
    assert Scheme.read(out).public_names == ("age",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--for", "itemsets"), "one of itemsets:3, bayes:CLASS, tables"),
        (("--for", "itemsets:many"), "needs a length"),
        (("--for", "trees:3"), "'trees:3' is none"),
        (("--for", "itemsets:2", "--groups", "smokes"), "--groups cannot be given with it"),
    ],
)
def test_impossible_purposes_are_refused(data, out, options, message):
    with pytest.raises(InvalidInput, match=message):
        run("--data", data, "--gamma", 19, *options, "--out", out)


def test_a_column_that_tells_rows_apart_is_left_out_unless_it_is_named(tmp_path, out):
    rows = "".join(f"{row},{'yes' if row % 3 else 'no'}\n" for row in range(40))
    people = tmp_path / "class.csv"
    people.write_text("number,cheated\n" + rows, encoding="utf-8")
    told = run("--data", people, "--gamma", 9, "--out", out)
    assert "Left out: number. Nearly every row has a value of its own" in told.stderr
    assert Scheme.read(out).schema.names == ("cheated",)
    assert "Left out" not in run("--data", people, "--drop", "number", "--gamma", 9, "--out", out).stderr
    assert "Left out" not in run("--data", people, "--groups", "number;cheated", "--gamma", 9, "--out", out).stderr
    assert Scheme.read(out).schema.names == ("number", "cheated")


def test_a_file_of_nothing_but_ids_is_refused(tmp_path, out):
    people = tmp_path / "ids.csv"
    people.write_text("number\n" + "".join(f"{row}\n" for row in range(40)), encoding="utf-8")
    with pytest.raises(InvalidInput, match="In number nearly every row has a value of its own"):
        run("--data", people, "--gamma", 9, "--out", out)


def test_what_others_know_anyway_is_proposed_as_public_with_what_it_costs(data, out):
    answer = json.loads(run("--data", data, "--gamma", 9, "--out", out, "--json").stdout)
    assert answer["proposed_public"]["attributes"] == ["age"]
    errors = answer["proposed_public"]["errors"]
    assert set(errors) == {"smokes", "drinks"}
    assert all(cost["public"] < cost["disguised"] for cost in errors.values())
    text = run("--data", data, "--gamma", 9, "--out", out).stdout
    assert "With --public age the standard errors would be" in text
    alone = json.loads(run("--data", data, "--public", "age", "--gamma", 9, "--out", out, "--json").stdout)
    assert alone["proposed_public"] is None
    measured = {e["attributes"][0]: e["standard_error"] for e in alone["errors"] if len(e["attributes"]) == 1}
    assert measured["smokes"] == errors["smokes"]["public"]


def test_a_column_of_ids_is_left_out_when_said(tmp_path: Path) -> None:
    rows = [f"{number},{'yes' if number % 3 else 'no'}" for number in range(1200)]
    (tmp_path / "people.csv").write_text("\n".join(["id,smokes", *rows]) + "\n")
    given = ("design", "scheme", "--data", tmp_path / "people.csv", "--gamma", 3, "--out", tmp_path / "scheme.json")
    assert "--drop" in refused(*given)
    assert tacit(*given, "--drop", "id").code == 0
    assert Scheme.read(tmp_path / "scheme.json").schema.names == ("smokes",)
    assert "'ids'" in refused(*given, "--drop", "ids")
    assert "--drop" in refused(*given[:2], "--answers", "a=no,yes", "--drop", "id", *given[4:])


def test_answers_that_differ_only_in_capitals_or_spaces_are_named(tmp_path, out):
    people = tmp_path / "class.csv"
    people.write_text("cheated,sex\n" + "nein,f\nNein,m\nnein ,f\nja,m\n" * 10, encoding="utf-8")
    told = run("--data", people, "--gamma", 9, "--out", out).stderr
    assert "count as different: cheated has 'Nein', 'nein' and 'nein '. If they mean the same" in told
    assert "sex" not in told


def test_rows_that_are_left_out_are_counted_and_every_column_with_gaps_is_named_once(tmp_path, out):
    people = tmp_path / "class.csv"
    rows = "".join(f"{at},ja,{'' if at == 3 else 'f'}\n{at + 30},{'nein' if at else ''},m\n" for at in range(30))
    people.write_text("id,cheated,sex\n" + rows, encoding="utf-8")
    given = ("--data", people, "--gamma", 9, "--out", out)
    assert "'cheated' has 1 missing value(s), 'sex' 1; 2 of 60 rows lack something" in refused(
        "design", "scheme", *given
    )
    told = run(*given, "--missing", "drop").stderr
    assert "Left out: 2 of 60 rows, which lack a value. `tacit disguise` leaves them out with --missing drop." in told
    done = tacit("disguise", people, "--scheme", out, "--out", tmp_path / "r.csv", "--missing", "drop", "--drop-others")
    assert "58 reports written" in done.out
