"""The usual mistakes in Python: each gets a sentence that says what is wrong and what to write instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import tacit
from tacit import Attribute, Dataset, Reports, Scheme, TacitError, channels, devices

FRAME = pd.DataFrame({"smokes": ["no", "yes"] * 50, "age": ["young", "old"] * 50})
DATA = Dataset.from_arrow({"smokes": ["no", "yes"] * 50, "age": ["young", "old"] * 50})
WARNER = channels.warner(0.8)
SCHEME = Scheme.of(DATA.schema, [(["smokes"], WARNER)])
REPORTS = tacit.disguise(DATA, SCHEME, seed=1)
GAP = pd.DataFrame({"smokes": ["no", None, "yes"], "age": ["young", "old", "old"]})
MORE = FRAME.assign(name="x")

MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "a channel as a text": (lambda: Scheme.of(DATA.schema, [(["smokes"], "warner")]), r"channels\.warner\(\.\.\.\)"),
    "a channel that was not called": (
        lambda: Scheme.of(DATA.schema, [(["smokes"], channels.gamma_diagonal)]),
        r"channels\.gamma_diagonal\(\.\.\.\)",
    ),
    "a number as a channel": (
        lambda: Scheme.of(DATA.schema, [(["smokes"], 0.75)]),
        "0.75 is no channel. Give a channel",
    ),
    "a group that is not in a list": (
        lambda: Scheme.of(DATA.schema, (["smokes"], WARNER)),
        r"list of \(names, channel\) pairs",
    ),
    "groups as a mapping": (lambda: Scheme.of(DATA.schema, {"smokes": WARNER}), "pairs such as .* not dict"),
    "one name instead of a list of names": (
        lambda: Scheme.of(DATA.schema, [("smokes", WARNER)]),
        "list of attribute names, not 'smokes'",
    ),
    "groups before the schema": (lambda: Scheme.of([(["smokes"], WARNER)], DATA.schema), "list of attributes"),
    "a dataset for its schema": (lambda: Scheme.of(DATA, [(["smokes"], WARNER)]), r"dataset\.schema"),
    "a chance in percent": (lambda: Scheme.of(DATA.schema, [(["smokes"], channels.warner(80))]), "80"),
    "scheme and data swapped": (
        lambda: tacit.disguise(SCHEME, DATA),
        r"disguise\(data, scheme\), not Scheme and Dataset",
    ),
    "a seed that is not whole": (lambda: tacit.disguise(DATA, SCHEME, seed=1.5), "whole number from 0 up, not 1.5"),
    "a seed as a text": (lambda: tacit.disguise(DATA, SCHEME, seed="1"), "whole number from 0 up, not '1'"),
    "a column that the scheme does not name": (lambda: tacit.disguise(MORE, SCHEME), "drop_others=True"),
    "missing values": (lambda: tacit.disguise(GAP, SCHEME), "missing='drop'"),
    "answers as one text": (lambda: Attribute("smokes", "yes"), r"such as \('no', 'yes'\), not the one text 'yes'"),
    "an answer that is no text": (lambda: Attribute("smokes", (True, False)), "True is none. Put it in quotes"),
    "a schema of names": (lambda: tacit.Schema(["smokes", "age"]), r"Schema\(\[Attribute\(.*not smokes"),
    "a schema of one attribute": (lambda: tacit.Schema(DATA.schema["age"]), "list of attributes, .* not Attribute"),
    "fitting a data frame": (lambda: tacit.TreeClassifier("smokes").fit(FRAME), r"tacit\.Reports\.from_truth\(data\)"),
    "fitting a dataset": (lambda: tacit.NaiveBayesClassifier("smokes").fit(DATA), "not from Dataset"),
    "mining a data frame": (lambda: tacit.FrequentItemsets(0.1).fit(FRAME), "Expected reports, not DataFrame"),
    "estimating from a data frame": (lambda: tacit.estimate(FRAME, ["smokes"]), "Expected reports, not DataFrame"),
    "a scheme for the names": (lambda: tacit.estimate(REPORTS, SCHEME), "by their names.* not Scheme"),
    "a misspelt name": (lambda: tacit.estimate(REPORTS, ["smoke"]), "Did you mean 'smokes'"),
    "a share as a text": (lambda: tacit.estimate(REPORTS, "smokes=yes"), "For a share: {'smokes': 'yes'}"),
    "shares and tables": (lambda: tacit.estimate(REPORTS, [["smokes"], {"smokes": "yes"}]), "one after the other"),
    "a share by likelihood": (
        lambda: tacit.estimate(REPORTS, {"smokes": "yes"}, method="likelihood"),
        "takes neither method nor sample",
    ),
    "margin and scheme swapped": (
        lambda: tacit.plan(0.03, SCHEME),
        "then a margin such as 0.03 or respondents, not float and Scheme",
    ),
    "a margin in percent": (lambda: tacit.plan(SCHEME, 3), "between 0 and 1, not 3"),
    "a chance without its name": (lambda: tacit.prevalence(FRAME, "smokes", "crosswise", 0.25), "write 'p=0.25'"),
    "a device for a channel in a list": (lambda: devices.crosswise("1/2"), "carry nothing"),
    "a series for a table": (lambda: Dataset.from_arrow(FRAME["smokes"]), "one column without a name"),
    "a data frame for a file": (lambda: Dataset.read(FRAME), r"tacit\.Dataset\(frame\)"),
    "a data frame for a scheme's file": (lambda: Scheme.read(FRAME), "not DataFrame"),
    "a prior by its name": (lambda: tacit.exact_front("normal", records=100, delta=0.8), "a list of shares such as"),
    "designing for a data frame with an id": (
        lambda: tacit.design_scheme(FRAME.assign(id=range(100)), gamma=3),
        r"frame\.drop\(columns=\['id'\]\)",
    ),
    "designing for a data frame with gaps": (
        lambda: tacit.design_scheme(GAP, gamma=3),
        r"tacit\.Dataset\(frame, missing='drop'\)",
    ),
    "a design for its scheme": (
        lambda: tacit.disguise(FRAME, tacit.design_scheme(FRAME, gamma=3)),
        "take its `scheme`",
    ),
    "a dataset around a file's name": (lambda: tacit.Dataset("people.csv"), r"Dataset\.read\(path\)"),
    "a dataset of reports": (lambda: tacit.Dataset(REPORTS), r"tacit\.estimate\(reports, \.\.\.\)"),
    "a scheme of a data frame": (lambda: Scheme.of(FRAME, []), r"Scheme\.of\(tacit\.Dataset\(frame\)\.schema"),
    "a tally of a data frame": (lambda: tacit.Tally.of(FRAME), "counts reports, not DataFrame"),
    "a formula before the data": (lambda: tacit.regress("smokes ~ age", FRAME), r"regress\(data, .* not DataFrame"),
    "k before the table": (lambda: tacit.anonymize(5, FRAME), "not DataFrame; it follows the table"),
    "measuring reports": (lambda: tacit.measure(REPORTS), "not Reports"),
    "a column by its number": (lambda: tacit.estimate(REPORTS, [0]), "Attribute 0 does not exist. There is: 'smokes'"),
    "a truth value for an answer": (lambda: tacit.estimate(REPORTS, {"smokes": True}), "has no answer True"),
    "a matrix as a text": (lambda: channels.matrix("warner"), "list of rows of numbers"),
    "two columns of one name": (
        lambda: Dataset.from_arrow(pd.DataFrame([["a", "b"], ["c", "d"]], columns=["x", "x"])),
        "two columns called 'x'",
    ),
    "a class by its number": (lambda: tacit.TreeClassifier(0).fit(REPORTS), "Attribute 0 does not exist"),
    "a depth as a text": (lambda: tacit.TreeClassifier("smokes", max_depth="3").fit(REPORTS), "whole number .* '3'"),
    "a depth with a fraction": (lambda: tacit.TreeClassifier("smokes", max_depth=2.5).fit(REPORTS), "not 2.5"),
    "fitting nothing": (lambda: tacit.TreeClassifier("smokes").fit(None), "not from NoneType"),
    "fitting reports and something else": (
        lambda: tacit.TreeClassifier("smokes").fit([REPORTS, FRAME]),
        "learns from reports, not from list",
    ),
    "scoring a table without the class": (
        lambda: tacit.TreeClassifier("smokes").fit(REPORTS).score(FRAME[["age"]]),
        "column 'smokes' is missing",
    ),
    "a threshold as a text": (
        lambda: tacit.association_rules(tacit.FrequentItemsets(0.1).fit(REPORTS).itemsets_, "lift", "1.2"),
        "finite number, not '1.2'",
    ),
    "a channel for a device": (lambda: tacit.prevalence(FRAME, "smokes", WARNER), "'warner', or made by tacit.devices"),
    "values without a yes": (
        lambda: tacit.prevalence({"smokes": ["a", "b"]}, "smokes", "warner", "p=.75"),
        "means 'yes': yes=VALUE",
    ),
    "an unknown way with missing values": (lambda: tacit.disguise(FRAME, SCHEME, missing="skip"), "'refuse', .*'drop'"),
    "reports disguised again": (lambda: tacit.disguise(REPORTS, SCHEME), "disguised already"),
    "records as a text": (lambda: tacit.exact_front([0.5, 0.5], records="9", delta=0.8), "records is '9'"),
    "a point of no front": (lambda: tacit.choose_point([1], privacy=0.3), "chosen from a front, .* not from list"),
    "a schema as a mapping": (lambda: tacit.Schema({"smokes": ("no", "yes")}), "list of attributes, .* not dict"),
    "a schema with one wrong entry": (lambda: tacit.Schema([DATA.schema["age"], "sex"]), "not sex"),
    "answers as a set": (
        lambda: Attribute("smokes", {"no", "yes"}),
        r"a set has none. Give a list, such as \['no', 'yes'",
    ),
    "no answer among answers": (lambda: Attribute("smokes", ("yes", None)), "None is none"),
    "reports made of a data frame": (lambda: Reports(FRAME, SCHEME), r"Reports\.from_arrow\(frame, scheme\)"),
    "a tally of a misspelt table": (lambda: tacit.Tally.of(REPORTS, tables=[["smoke"]]), "Did you mean 'smokes'"),
    "suppression beside k": (
        lambda: tacit.anonymize(FRAME, 5, suppress=0.04),
        r"'suppress' as protection=tacit\.Protection\(suppress=",
    ),
    "a method beside k": (
        lambda: tacit.anonymize(FRAME, 5, method="local"),
        r"preferences=tacit\.Preferences\(method=",
    ),
    "weights beside the names": (lambda: tacit.estimate(REPORTS, "smokes", weights="w"), r"SampleDesign\.of"),
}


def test_there_are_more_than_twenty() -> None:
    assert len(MISTAKES) >= 20


@pytest.mark.parametrize("name", MISTAKES)
def test_a_usual_mistake_gets_a_sentence(name: str) -> None:
    mistake, message = MISTAKES[name]
    with pytest.raises(TacitError, match=message):
        mistake()


def test_what_the_messages_advise_works() -> None:
    assert tacit.disguise(MORE, SCHEME, drop_others=True).n_reports == 100
    assert tacit.disguise(GAP, SCHEME, missing="drop").n_reports == 2
    assert tacit.Dataset(GAP, missing="drop").n_rows == 2
    assert Scheme.of(tacit.Dataset(FRAME).schema, []).schema.names == ("smokes", "age")
    assert tacit.design_scheme(FRAME, gamma=3, public=["age"]).scheme.public_names == ("age",)
    assert Attribute("rooms", [1, 2, 3]).answers == ("1", "2", "3")
    assert tacit.Schema([Attribute("smokes", ("no", "yes"))]).names == ("smokes",)
    assert tacit.TreeClassifier("smokes").fit(Reports.from_truth(DATA)).n_reports_ == 100
    assert tacit.prevalence(FRAME, "smokes", "crosswise", {"p": 0.25}).n_reports == 100


def test_what_is_meant_is_done() -> None:
    """One name where a list is taken, a data frame where a dataset is, a column of texts and numbers."""
    assert DATA.select("smokes").schema.names == ("smokes",)
    assert tacit.design_scheme(DATA, gamma=3, public="age").scheme.public_names == ("age",)
    assert len(tacit.Tally.of(REPORTS, tables=["smokes", "age"]).parts[0].tables) == 2
    assert 0 <= tacit.TreeClassifier("smokes").fit(REPORTS).score(FRAME) <= 1
    assert tacit.attack(REPORTS, truth=FRAME).counted is not None
    mixed = pd.DataFrame({"rooms": [1, "two", pd.NA, None, float("nan"), 1]})
    assert Dataset.from_arrow(mixed, missing="drop").schema["rooms"].answers == ("1", "two")


def test_a_data_frame_goes_wherever_truths_go() -> None:
    """Booleans and floats of pandas are the answers that they were when the scheme was made."""
    frame = pd.DataFrame({"smokes": [True, False, False, True] * 25, "rooms": [1.0, 2.0, 2.0, 1.0] * 25})
    design = tacit.design_scheme(frame, gamma=100, public="rooms")
    assert tacit.measure(design.scheme, frame).prior == "data"
    assert tacit.plan(design.scheme, 0.05, prior=frame).respondents > 0
    reports = tacit.disguise(frame, design.scheme, seed=1)
    for model in (tacit.TreeClassifier("smokes").fit(reports), tacit.NaiveBayesClassifier("smokes").fit(reports)):
        assert model.score(frame) == model.score(frame[["rooms"]], frame["smokes"]) == 1
        assert model.score(tacit.Dataset(frame)) == 1


def test_an_argument_with_a_home_elsewhere_leaves_the_signature_as_it_is() -> None:
    assert "suppress" not in inspect.signature(tacit.anonymize).parameters
    assert list(inspect.signature(tacit.estimate).parameters)[:2] == ["reports", "attributes"]
