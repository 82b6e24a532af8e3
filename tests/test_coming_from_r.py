"""The page for those who come from R: every exported function is named, and every line runs as it stands."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.run import tacit as run

PAGE = (Path(__file__).parent.parent / "docs" / "how-to" / "coming-from-r.md").read_text(encoding="utf-8")
# What the packages export (RRreg 0.7, rr 1.4, RRTCS 0.0.4, GLMMRR 0.5, cWise).
EXPORTED = {
    "RRreg": "RRcor RRgen RRlin RRlog RRmixed RRsimu RRuni getPW powerplot",
    "rr": "power.rr.plot power.rr.test rrreg rrreg.bayes rrreg.predictor",
    "RRTCS": (
        "BarLev ChaudhuriChristofides Christofides Devore DianaPerri1 DianaPerri2 EichhornHayre Eriksson ForcedResponse "
        "Horvitz HorvitzUB Kuk Mangat MangatSingh MangatSinghSingh MangatSinghSinghUB MangatUB ResamplingVariance Saha "
        "SinghJoarder SoberanisCruz Warner"
    ),
    "GLMMRR": (
        "RRbinomial RRglm RRglmGOF RRglmer RRlink.cauchit RRlink.cloglog RRlink.logit RRlink.probit getCellMeans getCellSizes "
        "getMLPrevalence getRRparameters getUniqueGroups intDotplot"
    ),
    "cWise": "bc.est cmBound cmpredict cmreg cmreg.p",
}
PACKAGES = [*EXPORTED, "sdcMicro"]  # of the last, what is used most


def rows(package: str) -> list[tuple[str, str]]:
    section = PAGE.split(f"\n## {package}\n")[1].split("\n## ")[0]
    cells = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return [(" | ".join(row[:-1]), row[-1].strip()) for row in cells[1:]]


@pytest.mark.parametrize("package", EXPORTED)
def test_every_exported_function_is_named(package: str) -> None:
    named = " ".join(there for there, _ in rows(package))
    for function in EXPORTED[package].split():
        assert re.search(rf"(?<![\w.]){re.escape(function)}(?![\w.])", named), function


LINES = [
    (package, there, found.group(1))
    for package in PACKAGES
    for there, here in rows(package)
    if (found := re.match(r"`(tacit.*?)`(?: \(|$)", here))
]


@pytest.fixture(scope="module")
def names() -> dict[str, object]:
    """What the first two blocks of the page make."""
    examples = doctest.DocTestParser().get_examples("".join(PAGE.split("```")[1:4:2]))
    made: dict[str, object] = {}
    for example in examples:
        exec(example.source, made)
    return made


@pytest.mark.parametrize(("package", "there", "line"), LINES, ids=[f"{p}-{n}" for n, (p, _, _) in enumerate(LINES)])
def test_the_line_for_a_function_runs(package: str, there: str, line: str, names: dict[str, object]) -> None:
    if line.startswith("tacit "):
        assert run(*shlex.split(line)[1:]).code == 0
    else:
        assert eval(line, dict(names)) is not None


def test_what_has_no_line_says_so() -> None:
    for package in PACKAGES:
        for there, here in rows(package):
            assert here.startswith(("`tacit", "none")), there
