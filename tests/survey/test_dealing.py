"""Versions of a questionnaire that chance deals: parts of the questions, and arms that ask them in other ways."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tacit.cli.survey import app
from tacit.errors import InvalidInput
from tacit.estimation import estimate
from tacit.survey.dashboard import results_document
from tacit.survey.definition import Definition
from tacit.survey.exports import export_folder, reports_of
from tacit.survey.promise import promise
from tacit.survey.store.submissions import Submission, store_batch
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.survey.verification import examine
from tacit.survey.wire import InvalidReport
from tests.survey.page import node
from tests.survey.questionnaires import SMALL

ARMS = (
    SMALL.replace("name: health", "name: arms").replace("drink?, sensitive: true}", "drink?, mode: disguised}")
    + """\
arms:
  questions: [smokes]
  device: 0.5
  self: {share: 0.3, channel: {kind: warner, p: 0.7}, help: "Think of your mother's birthday before you answer."}
  direct: 0.2
"""
)  # fmt: skip
SPLIT = (
    SMALL.replace("name: health", "name: parts")
    + """\
split:
  - {name: first, questions: [smokes], share: 0.25}
  - {name: second, questions: [drinks], share: 0.75}
"""
)


def test_device_and_self_report_one_attribute_and_direct_one_of_its_own() -> None:
    definition = Definition.from_yaml(ARMS)
    scheme = definition.scheme
    assert [one.name for one in scheme.questionnaires] == ["device", "self", "direct"]
    laws = [[group.channel.kind for group in one.groups if group.names == ("smokes",)] for one in scheme.questionnaires]
    assert laws == [["gamma-diagonal"], ["warner"], []]
    assert scheme.public_names == ("age", "smokes_direct")
    assert scheme.schema["smokes_direct"].answers == ("no", "yes", "not asked")
    (direct,) = [one for one in definition.questions if one["name"] == "smokes_direct"]
    assert (direct["mode"], direct["deals"]) == ("direct", ["direct"])


BOTH = (
    ARMS.replace("name: arms", "name: both")
    + """\
split:
  - {name: first, questions: [smokes], share: 0.25}
  - {name: second, questions: [drinks], share: 0.75}
"""
)
BOTH = BOTH.replace(
    "pages:",
    """\
pages:
  - questions:
      - {name: stole, kind: yes-no, text: Did you steal?, sensitive: true, prefer_not_to_say: false}""",
)


def test_parts_and_arms_go_together() -> None:
    definition = Definition.from_yaml(BOTH)
    versions = {one.name: one for one in definition.scheme.questionnaires}
    # The part without the question of the arms is asked in one way only.
    assert {name: one.probability for name, one in versions.items()} == {
        "first_device": pytest.approx(0.125), "first_self": pytest.approx(0.075), "first_direct": pytest.approx(0.05),
        "second": pytest.approx(0.75),
    }  # fmt: skip
    asked = {name: {part for group in one.groups for part in group.names} for name, one in versions.items()}
    assert asked["first_device"] == asked["first_self"] == {"stole", "smokes"}
    assert asked["first_direct"] == {"stole"}
    assert asked["second"] == {"stole", "drinks"}
    (direct,) = [one for one in definition.questions if one["name"] == "smokes_direct"]
    assert direct["deals"] == ["first_direct"]


@pytest.mark.parametrize("text", [ARMS, SPLIT, BOTH])
def test_page_and_python_accept_versions_with_the_same_figures(text: str) -> None:
    document = Definition.from_yaml(text).document
    (page,) = node("examine", script="page_checks.mjs", documents=[document])
    assert page["reasons"] == []
    stated = examine(document)
    assert stated.objections == ()
    for blocks, found in zip(stated.deals, page["deals"], strict=True):
        assert [block["worst"] for block in found] == [pytest.approx(dict(block.worst)) for block in blocks]


def asked_twice(document: dict[str, Any]) -> None:
    """The direct copy is also asked of those whose disguised answer it would tell."""
    next(one for one in document["pages"][0]["questions"] if one["name"] == "smokes_direct")["deals"] = [
        "direct",
        "device",
    ]


def hidden_in_some(document: dict[str, Any]) -> None:
    document["pages"][0]["questions"][1]["deals"] = ["device"]


def unknown_arm(document: dict[str, Any]) -> None:
    document["pages"][0]["questions"][1]["arms"] = {"nowhere": {"mode": "self", "help": {"en": "x"}}}


@pytest.mark.parametrize(
    ("change", "reason"), [(asked_twice, "twice"), (hidden_in_some, "mode"), (unknown_arm, "mode")]
)
def test_page_and_python_refuse_versions_that_would_tell(change: Any, reason: str) -> None:
    document = copy.deepcopy(Definition.from_yaml(ARMS).document)
    change(document)
    (page,) = node("examine", script="page_checks.mjs", documents=[document])
    assert reason in [one for one, _ in page["reasons"]]
    assert reason in [one.reason for one in examine(document).objections]


REFUSED = {
    "at least two versions are needed, each with a share above 0": (ARMS, ("device: 0.5", "device: 0.6")),
    "'smokes' is also asked with a device of the respondent's own": (
        ARMS, ("Do you smoke?, sensitive: true, prefer_not_to_say: false", "Do you smoke?, sensitive: true"),
    ),
    "arms need one that disguises": (
        ARMS, (ARMS[ARMS.index("  device"):], "  direct: 1\n"),
    ),
    "The sensitive question 'age' does not exist": (ARMS, ("questions: [smokes]", "questions: [age]")),
    "'smokes' cannot be asked in arms": (
        ARMS, ("text: Do you drink?,", 'text: Do you drink?, when: {smokes: "yes"},'),
    ),
    "the channel kind 'coin' does not exist": (ARMS, ("kind: warner, p: 0.7", "kind: coin")),
    "would let someone be 99.0% sure of an answer": (ARMS, ("p: 0.7", "p: 0.99")),
    "the part 'first' stands here twice": (SPLIT, ("name: second", "name: first")),
    "'first' asks only some of drinks, smokes, which are disguised together": (
        SPLIT, ("split:", "groups:\n  - {questions: [smokes, drinks], channel: {kind: gamma-diagonal, gamma: 3}}\nsplit:"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_versions_that_cannot_be_dealt_are_refused_with_their_line(message: str) -> None:
    text, change = REFUSED[message]
    assert change[0] in text
    with pytest.raises(InvalidInput, match=re.escape(message)) as refusal:
        Definition.from_yaml(text.replace(*change), "survey.yaml")
    assert re.match(r"survey\.yaml, line \d+: ", str(refusal.value))


def filled(store: Store, text: str, people: int, seed: int) -> tuple[StoredSurvey, float]:
    """A store with simulated reports, of which 30% smoke; in the direct arm half of those deny it."""
    survey = store.add(Definition.from_yaml(text), text)
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(people):
        name = str(rng.choice(["device", "self", "direct"], p=[0.5, 0.3, 0.2]))
        smokes = rng.random() < 0.3
        told = smokes if rng.random() < 0.7 else not smokes
        row = {
            "questionnaire": name, "age": "below 30", "drinks": "no",
            "smokes": None if name == "direct" else "yes" if told else "no",
            "smokes_direct": "not asked" if name != "direct" else "yes" if smokes and rng.random() < 0.5 else "no",
        }  # fmt: skip
        rows.append((f"{number:064x}", *(row[one] for one in survey.wire.names)))
        assert survey.wire.decode(survey.wire.encode(rows[-1][1:])) == rows[-1][1:]
    with store.database.transaction():
        store.database.insert(survey.table("reports"), ("report_key", *survey.wire.names), rows)
    return survey, 0.3


def test_device_and_self_are_pooled_and_direct_is_not(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "survey.db")
    survey, truth = filled(store, ARMS, 4000, seed=20261116)
    reports = reports_of(store, survey)
    pooled = estimate(reports, ["smokes"])
    (share,) = [cell for cell in pooled.cells() if cell["answers"]["smokes"] == "yes"]
    assert abs(share["probability"] - truth) < 5 * share["standard_error"]
    # All who were asked so, together: device and self, but not the direct arm.
    alone = np.sqrt(0.3 * 0.7 / 3200 + 0.7 * 0.3 / (0.4**2 * 3200))
    assert share["standard_error"] == pytest.approx(alone, rel=0.1)
    direct = {
        cell["answers"]["smokes_direct"]: cell["probability"] for cell in estimate(reports, ["smokes_direct"]).cells()
    }
    assert direct["yes"] / (direct["yes"] + direct["no"]) == pytest.approx(0.15, abs=0.05)
    export_folder(store, survey, tmp_path / "export")
    store.close()
    found = CliRunner().invoke(
        app, ["results", "arms", "--store", str(tmp_path / "survey.db"), "--json"], catch_exceptions=False
    )
    results = json.loads(found.stdout)
    (yes,) = [one for one in results["arms"] if one["answer"] == "yes"]
    # Three in ten smoke and half of those deny it when asked directly.
    assert abs(yes["difference"] - 0.15) < 5 * yes["standard_error"]
    assert yes["standard_error"] == pytest.approx(np.hypot(alone, np.sqrt(0.15 * 0.85 / 800)), rel=0.1)
    assert yes["p"] < 1e-4
    names = {one["attribute"]: one["label"] for one in results["questions"]}
    assert list(names) == ["age", "smokes", "smokes_direct", "drinks"]
    # Two questions of one text are told apart.
    assert (names["smokes"], names["smokes_direct"]) == ("Do you smoke?", "Do you smoke? (not disguised)")


def test_a_direct_arm_of_few_people_is_not_compared(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "survey.db")
    survey, _ = filled(store, ARMS, 60, seed=3)  # at most a dozen are asked directly, and a few of them say yes
    results = results_document(store, survey)
    store.close()
    assert results["arms"] == []
    (direct,) = [one for one in results["questions"] if one["attribute"] == "smokes_direct"]
    assert not {"yes", "no"} & {cell["answer"] for cell in direct["cells"]}


def test_fakes_show_in_the_version_that_they_were_sent_in(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "survey.db")
    survey, _ = filled(store, ARMS, 2000, seed=5)
    honest = results_document(store, survey)["fit"]
    told = [fit["verdict"] for fit in honest if fit["attributes"] == ["smokes"]]
    assert told == ["nothing suspicious"] * 2  # of the device and of the respondents' own
    forged = {"questionnaire": "self", "smokes": "yes", "drinks": "no", "age": "below 30", "smokes_direct": "not asked"}
    row = tuple(forged[name] for name in survey.wire.names)
    store_batch(store.database, [Submission(survey, "reports", f"fake {n}", row) for n in range(1500)])
    results = results_document(store, survey)
    store.close()
    told = [fit["verdict"] for fit in results["fit"] if fit["attributes"] == ["smokes"]]
    assert sorted(verdict.split(":")[0] for verdict in told) == ["nothing suspicious", "suspicious"]
    assert any(re.search(r"do not look like the page's: .*Do you smoke\?", one) for one in results["warnings"])


def test_an_arm_that_tells_nothing_is_refused_though_another_does() -> None:
    with pytest.raises(InvalidInput, match=r"line \d+: smokes \(disguised by 'warner'\): .* nothing can be estimated"):
        Definition.from_yaml(ARMS.replace("p: 0.7", "p: 0.5"))


def test_opening_says_which_questions_nobody_is_asked_together() -> None:
    document, lines = promise(Definition.from_yaml(SPLIT))
    assert document["never_together"] == ["smokes with drinks"]
    assert "  cannot be estimated together, because nobody is asked both: smokes with drinks" in lines
    assert promise(Definition.from_yaml(ARMS))[0]["never_together"] == []


def test_a_report_of_no_version_is_refused(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "survey.db")
    survey = store.add(Definition.from_yaml(SPLIT), SPLIT)
    good = survey.wire.encode(
        ["first", "no", "below 30", None][: len(survey.wire.names)] if survey.wire.names[1] == "smokes" else []
    )
    assert survey.wire.decode(good)[0] == "first"
    for text in ("02" + good[2:], good + "00", ""):
        with pytest.raises(InvalidReport):
            survey.wire.decode(text)
    store.close()


def test_open_says_what_each_version_promises(tmp_path: Path) -> None:
    (tmp_path / "survey.yaml").write_text(ARMS)
    done = CliRunner().invoke(
        app,
        ["open", str(tmp_path / "survey.yaml"), "--store", str(tmp_path / "s.db"), "--json"],
        catch_exceptions=False,
    )
    opened = json.loads(done.stdout)
    assert [group["attributes"] for group in opened["groups"]] == [["smokes"], ["drinks"], ["smokes"]]
    assert opened["public"] == ["age", "smokes_direct"]
    _, lines = promise(Definition.from_yaml(ARMS))
    told = [line.split(":")[0].strip() for line in lines[1:4]]
    assert told == ["smokes (in device)", "drinks", "smokes (in self)"]
