import json

import pytest
import typer
from typer.testing import CliRunner

from tacit import Attribute, Scheme, channels
from tacit.cli.measure import measure, percent
from tacit.errors import InvalidInput, UnknownAnswer

app = typer.Typer()
app.command()(measure)
BINARY = [Attribute(name, ("no", "yes")) for name in ("smokes", "drinks", "votes")]


@pytest.fixture
def scheme(tmp_path):
    path = tmp_path / "scheme.json"
    Scheme.of(BINARY, [(["smokes"], channels.warner(0.95)), (["drinks"], channels.warner(0.8))]).write(path)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_the_json_answer(scheme):
    answer = json.loads(run(scheme, "--json").stdout)
    assert answer["gamma"] == pytest.approx(76)
    assert answer["epsilon"] == pytest.approx(4.3307, abs=1e-4)
    first, second = answer["groups"]
    assert first["attributes"] == ["smokes"]
    assert first["gamma"] == pytest.approx(19)
    assert (first["map_privacy"], first["worst_posterior"]) == pytest.approx((0.05, 0.95))
    assert second["pse"] == pytest.approx(0.32)
    assert answer["warnings"]


def test_the_answer_for_people_has_numbers_sentences_errors_and_caveats(scheme):
    text = run(scheme, "--respondents", 500, "--verbose").stdout
    assert "Amplification 76" in text
    assert "at most 76 times" in text
    assert "gets your answer wrong 5.0% of the time" in text
    assert "500 respondents" in text
    assert "smokes x drinks" in text
    assert "! votes is public" in text


def test_the_short_answer_says_each_thing_once(scheme):
    text = run(scheme).stdout
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "Amplification 76, epsilon 4.33."
    (smokes,) = [line for line in lines if line.startswith("smokes")]
    assert smokes.split()[1:4] == ["19", "95.0%", "5.0%"]
    assert any(line.startswith("votes public") for line in lines)
    assert text.count("at most 76 times") == 1
    assert "PSE is an average" not in text
    assert "MAP" not in text.partition("!")[0]
    assert "--verbose" in text


def test_what_is_not_certain_never_reads_as_certain():
    assert percent(0.99999) == "99.9%"
    assert percent(1.0) == "100.0%"
    assert percent(None) == "-"


def test_what_is_infinite_is_null_and_said(tmp_path):
    path = tmp_path / "flip.json"
    Scheme.of(BINARY, [(["smokes", "drinks"], channels.flip(0.8))]).write(path)
    answer = json.loads(run(path, "--json").stdout)
    assert answer["gamma"] is None
    assert answer["epsilon"] is None
    assert any("amplification is infinite" in warning for warning in answer["warnings"])
    assert "Amplification inf" in run(path).stdout


def test_priors_are_read_by_name(scheme):
    answer = json.loads(run(scheme, "--prior", "smokes=0.9,0.1", "--prior", "drinks=0.6,0.4", "--json").stdout)
    assert answer["prior"] == "given"
    assert [group["blind_privacy"] for group in answer["groups"]] == pytest.approx([0.1, 0.4])


def test_a_single_group_needs_no_name(tmp_path):
    path = tmp_path / "one.json"
    Scheme.of(BINARY, [(["smokes"], channels.warner(0.9))]).write(path)
    answer = json.loads(run(path, "--prior", "0.7,0.3", "--json").stdout)
    assert answer["groups"][0]["blind_privacy"] == pytest.approx(0.3)


def test_data_give_the_prior(scheme, tmp_path):
    data = tmp_path / "truth.csv"
    data.write_text("smokes,drinks,votes,other\nno,yes,no,1\nno,no,no,2\nno,yes,yes,3\nyes,yes,yes,4\n")
    answer = json.loads(run(scheme, "--data", data, "--json").stdout)
    assert answer["prior"] == "data"
    assert answer["groups"][0]["blind_privacy"] == pytest.approx(0.25)


def test_many_groups_show_the_sentences_of_one(tmp_path):
    path = tmp_path / "many.json"
    names = [f"q{position}" for position in range(6)]
    groups = [([name], channels.warner(0.6 + 0.05 * position)) for position, name in enumerate(names)]
    Scheme.of([Attribute(name, ("no", "yes")) for name in names], groups).write(path)
    text = run(path, "--verbose").stdout
    assert "--json has the sentences of all 6" in text
    assert "and 10 more pairs" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "smokes=0.9,0.1", "--prior", "0.5,0.5"], "Several priors need names"),
        (["--prior", "smokes=0.9,x"], "a list of numbers such as 0.2,0.8, not '0.9,x'"),
        (["--prior", "0.9,0.1"], "not enough for 2 groups"),
        (["--prior", "smokes=0.9,0.2"], "sums to 1.1"),
        (["--respondents", "0"], "whole number of at least 1"),
        (["--data", "x.csv", "--prior", "smokes=0.9,0.1"], "not from both"),
    ],
)
def test_bad_options_are_refused(scheme, arguments, message):
    with pytest.raises(InvalidInput, match=message):
        run(scheme, *arguments)


def test_data_with_an_unknown_answer_are_refused(scheme, tmp_path):
    data = tmp_path / "truth.csv"
    data.write_text("smokes,drinks,votes\nno,yess,no\n")
    with pytest.raises(UnknownAnswer, match="'drinks' has no answer 'yess'"):
        run(scheme, "--data", data)


def test_rows_that_lack_a_value_are_left_out_of_the_prior_and_counted(scheme, tmp_path):
    """A command without a word for missing values must not ask for one."""
    data = tmp_path / "truth.csv"
    data.write_text("smokes,drinks,votes\nno,yes,no\nyes,,no\n,no,yes\nyes,no,yes\n")
    told = run(scheme, "--data", data, "--json")
    assert "Left out: 2 of 4 rows, which lack a value." in told.stderr
    assert json.loads(told.stdout)["prior"] == "data"
