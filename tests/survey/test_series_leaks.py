"""The leak hunter over whole series: every draw of the real page in every visit of one device, held against what is stated.

Random series of two and three waves, in a panel or not, with answers that change and do not, a further survey that asks some of
the questions again, reports that are lost and sent again or withdrawn, devices that several people use, and people with two
codes. What is sent and kept in all visits together is drawn anew each time and has the product of the visits' laws; no visit,
refusal or entry of the device depends on an answer.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tacit.errors import InvalidInput
from tacit.survey.assets import join_scripts
from tacit.survey.definition import Definition
from tests.survey.page import HERE, STATIC, required
from tests.survey.random_questionnaires import Person, everybody, questionnaire

WANTED = 200 if os.environ.get("TACIT_SOAK") == "1" else 16
SEED = 17
EQUAL = 1e-9
Document = dict[str, Any]


@dataclass(frozen=True)
class Visit:
    """One visit of somebody to a survey on the device."""

    definition: Document
    people: list[Person]
    who: str = "me"
    code: int | None = None
    is_shared: bool = False
    is_lost: bool = False  # the report does not get through at first and is sent again
    is_withdrawn: bool = False

    def to_document(self) -> Document:
        return {
            "definition": self.definition,
            "people": [person.to_document() for person in self.people],
            "who": self.who,
            "code": self.code,
            "isShared": self.is_shared,
            "isLost": self.is_lost,
            "isWithdrawn": self.is_withdrawn,
        }


def page_script() -> str:
    """The page's modules as they are joined for the browser; only the source of a report's draws is exchanged."""
    modules = {path.stem: path.read_text(encoding="utf-8") for path in STATIC.glob("*.js")}
    drawn = re.compile(r"export const freshDraws = .*;")
    assert len(drawn.findall(modules["label"])) == 1
    modules["label"] = drawn.sub("export const freshDraws = () => pathDraws();", modules["label"])
    (script,) = join_scripts(modules, ["sending"])
    names = ("given", "session", "checks", "device", "sending", "unsent", "withdrawing")
    return f"{script}return {{ {', '.join(f'{name}: {name}Module' for name in names)} }};"


def followed(cases: list[list[Visit]], leak: str = "") -> list[Document]:
    documents = [{"visits": [visit.to_document() for visit in visits]} for visits in cases]
    done = subprocess.run(
        [required("node", "node is not installed"), "--no-warnings", str(HERE / "page_series.mjs")],
        input=json.dumps({"script": page_script(), "cases": documents, "leak": leak}),
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return list(json.loads(done.stdout))


# What happens in the life of a device, beside the waves of a series.
KINDS = ("plain", "missed", "another", "lost", "withdrawn", "shared", "two codes", "somebody else")


def random_series(rng: random.Random, waves: int, kind: str) -> list[Visit] | None:
    """Visits to the waves of a series, and to whatever else the case needs; None where the questionnaire does not do."""
    written = json.loads(questionnaire(rng))
    stated = {"waves": waves, "series_gamma": 1e12, "access": rng.choice(["open", "codes"])}
    try:
        first = Definition.from_yaml(
            json.dumps({**written, **stated, **({"panel": True} if rng.random() < 0.5 else {})})
        )
    except InvalidInput:
        return None
    people = everybody(first.document)
    if not 2 <= len(people) <= (5 if waves == 2 else 3) or any(person.weight != 1 for person in people):
        return None
    has_codes = first.needs_codes
    visits = [
        Visit(first.in_wave(wave).document, people, code=wave if has_codes else None) for wave in range(1, waves + 1)
    ]
    return varied(kind, written, visits)


def varied(kind: str, written: Document, visits: list[Visit]) -> list[Visit] | None:
    """The series with something that happens in the life of a device; None where the questionnaire does not do."""
    first, *rest = visits
    if kind == "missed":
        return rest if len(rest) > 1 else visits
    if kind == "another":
        questions = written["pages"][0]["questions"][:1]
        further = {name: part for name, part in written.items() if name != "groups"} | {"name": "further"}
        further["pages"] = [{"questions": questions}]
        try:
            definition = Definition.from_yaml(json.dumps(further))
        except InvalidInput:
            return None
        return [first, Visit(definition.document, everybody(definition.document)), *rest[:1]]
    if kind == "lost":
        return [Visit(**{**vars(first), "is_lost": True}), *rest]
    if kind == "withdrawn":
        return [Visit(**{**vars(first), "is_withdrawn": True}), first, *rest[:1]]
    if kind == "shared":
        return [Visit(**{**vars(one), "is_shared": True}) for one in visits]
    if kind == "two codes":
        return [first, Visit(**{**vars(first), "code": 99 if first.code else None}), *rest[:1]]
    if kind == "somebody else":
        return [first, Visit(**{**vars(first), "who": "else", "code": 99 if first.code else None})]
    return visits


def series_of(wanted: int) -> list[list[Visit]]:
    rng = random.Random(SEED)
    found: list[list[Visit]] = []
    while len(found) < wanted:
        visits = random_series(rng, rng.choice([2, 2, 3]), KINDS[len(found) % len(KINDS)])
        if visits is not None:
            found.append(visits)
    return found


def single_laws(cases: list[list[Visit]]) -> dict[tuple[str, str], dict[str, float]]:
    """The law of the report of one visit to each definition, on a device that nobody has used, by the person's answers."""
    first = {visit.definition["hash"]: visit for visits in cases for visit in visits}
    alone = [Visit(visit.definition, visit.people, code=visit.code) for visit in first.values()]
    laws = {}
    for visit, page in zip(alone, followed([[visit] for visit in alone]), strict=True):
        for law in page["laws"]:
            person = visit.people[law["truths"][0]]
            chances: dict[str, float] = defaultdict(float)
            for place, chance in law["chances"].items():
                chances[page["places"][int(place)]["reports"][0]] += chance
            laws[visit.definition["hash"], json.dumps(person.truth)] = chances
    return laws


def problem_of(visits: list[Visit], page: Document, single: dict[tuple[str, str], dict[str, float]]) -> str:
    """How what was enumerated differs from what is stated; empty where it does not."""
    (outcomes,) = {
        tuple(place["outcomes"]) for place in page["places"]
    }  # whether a report goes out depends on no answer
    reports = [tuple(place["reports"]) for place in page["places"]]
    if len(set(reports)) < len(reports):
        return "the same reports went out in two ways, or the device keeps two things about them"
    if any(place["isKept"] for place in page["places"]):
        return "the device keeps what it sent"
    is_sent = [outcome == "sent" for outcome in outcomes]
    sent = list(itertools.compress(visits, is_sent))
    columns: dict[tuple[str, ...], dict[str, dict[int, float]]] = defaultdict(dict)
    for law in page["laws"]:
        truths = [visit.people[one].truth for visit, one in zip(visits, law["truths"], strict=True)]
        told = list(itertools.compress(truths, is_sent))
        chances = {int(place): chance for place, chance in law["chances"].items()}
        laws = [single[visit.definition["hash"], json.dumps(truth)] for visit, truth in zip(sent, told, strict=True)]
        for place, listed in enumerate(reports):
            anew = math.prod(law.get(report, 0.0) for law, report in zip(laws, listed, strict=True))
            if abs(chances.get(place, 0.0) - anew) > EQUAL:
                return (
                    f"{listed} after {told} has the chance {chances.get(place, 0.0)}; drawn anew each time it is {anew}"
                )
        public = tuple(truth[name] for visit, truth in zip(sent, told, strict=True) for name in public_names(visit))
        columns[public][json.dumps(told)] = chances
    gamma = max(amplification_of(list(laws.values()), len(reports)) for laws in columns.values())
    return problem_of_figures(visits, page, is_sent, gamma)


def problem_of_figures(visits: list[Visit], page: Document, is_sent: list[bool], gamma: float) -> str:
    """How an amplification that was enumerated differs from what the visits, the series and the device's count state."""
    figures = [tuple(map(_bound, pair)) for pair in itertools.compress(page["stated"], is_sent)]
    sent = list(itertools.compress(visits, is_sent))
    once = math.prod(one for one, _ in figures)
    if not _is_close(gamma, once):
        return f"all visits together: {gamma} is enumerated, {once} stated"
    is_one_person = all(visit.who == "me" for visit in sent)
    (series,) = {visit.definition.get("series") for visit in sent[:1]}
    if is_one_person and series is not None and all(visit.definition.get("series") == series for visit in sent):
        over = figures[0][1]
        is_whole = len(sent) == sent[0].definition["waves"]
        if gamma > over * (1 + EQUAL) or (is_whole and not _is_close(gamma, over)):
            return f"the series: {gamma} is enumerated, {over} stated before its first wave"
    is_counted = is_one_person and len(sent) > 1 and is_sent[-1] and math.isfinite(gamma)
    counted = min(place["all"] or 0.0 for place in page["places"])
    if is_counted and counted < gamma * (1 - EQUAL):
        return f"the device counts {counted}, of {gamma} that it sent"
    return ""


def public_names(visit: Visit) -> list[str]:
    hidden = {name for group in visit.definition["scheme"]["groups"] for name in group["attributes"]}
    return [one["name"] for one in visit.definition["scheme"]["attributes"] if one["name"] not in hidden]


def amplification_of(laws: list[dict[int, float]], places: int) -> float:
    table = np.array([[law.get(place, 0.0) for place in range(places)] for law in laws])
    table = table[:, table.any(axis=0)]
    low, high = table.min(axis=0), table.max(axis=0)
    return math.inf if (low == 0).any() else float((high / low).max())


def _bound(gamma: float | None) -> float:
    return math.inf if gamma is None else gamma


def _is_close(one: float, other: float) -> bool:
    return one == other or math.isclose(one, other, rel_tol=EQUAL)


@pytest.mark.soak
@pytest.mark.slow
def test_what_is_sent_and_kept_over_a_whole_series_has_exactly_the_law_that_is_stated() -> None:
    cases = series_of(WANTED)
    single, told = single_laws(cases), followed(cases)
    compared = 0
    for visits, page in zip(cases, told, strict=True):
        if "laws" in page:
            problem = problem_of(visits, page, single)
            assert not problem, f"{problem}\n{json.dumps([visit.to_document() for visit in visits])}"
            compared += 1
    assert compared >= 0.8 * len(cases)
    every_case_was_met(cases, told)
    noticed = [
        problem_of(visits, page, single)
        for visits, page in zip(cases, followed(cases[:5], leak="memory"), strict=False)
        if "laws" in page and sum(one == "sent" for one in page["places"][0]["outcomes"]) > 1
    ]
    # A report that is sent again while nothing changed would tell that something did: seen wherever two sendings are of one kind.
    assert sum(map(bool, noticed)) >= 0.8 * len(noticed)


def every_case_was_met(cases: list[list[Visit]], told: list[Document]) -> None:
    every = [visit for visits in cases for visit in visits]
    outcomes = {
        outcome for page in told if "places" in page for place in page["places"] for outcome in place["outcomes"]
    }
    assert {len(visits) for visits in cases} >= {2, 3}
    assert {visit.definition.get("waves") for visit in every} == {None, 2, 3}
    assert any(visit.definition.get("panel") for visit in every)
    assert {visit.who for visit in every} == {"me", "else"}
    assert outcomes == {"sent", "known", "refused"}
    for name in ("code", "is_shared", "is_lost", "is_withdrawn"):
        assert any(getattr(visit, name) for visit in every)
    questions = [one for visit in every for page in visit.definition["pages"] for one in page["questions"]]
    assert any(one["optional"] or one["declines"] for one in questions)
