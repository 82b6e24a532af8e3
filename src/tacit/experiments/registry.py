"""The published studies that can be run again, each with what was published beside what comes out here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import UnknownName

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[float], None]


@dataclass(frozen=True)
class PublishedComparison:
    """One published number or sentence, and ours."""

    what: str
    published: str | None  # what the publication says, and nothing else; None where it says nothing of it
    ours: str
    holds: bool | None = None  # None where the publication gives nothing that could fail
    reason: str = ""  # why it differs, in one sentence
    is_small: bool = False  # a quick run is too small to say whether it holds

    @property
    def verdict(self) -> str:
        if self.is_small:
            return "full run"
        if self.holds is None:
            return "found here" if self.published is None else "no figure to hold it to"
        return "agrees" if self.holds else f"differs: {self.reason}".removesuffix(": ")


@dataclass(frozen=True)
class StudyTable:
    """Numbers of a study, written as they should read."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, eq=False)
class StudyPlot:
    """A figure; `name` is its file's name, `description` what it shows."""

    name: str
    description: str
    figure: Figure


@dataclass(frozen=True, eq=False)
class StudyResult:
    """Everything a study has to show; `settings` says on how many records, how often and with which seed it ran."""

    name: str
    title: str
    comparisons: tuple[PublishedComparison, ...]
    tables: tuple[StudyTable, ...] = ()
    plots: tuple[StudyPlot, ...] = ()
    settings: str = ""

    def to_document(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "settings": self.settings,
            "comparisons": [{**vars(row), "verdict": row.verdict} for row in self.comparisons],
            "tables": [
                {"title": t.title, "columns": list(t.columns), "rows": [list(r) for r in t.rows]} for t in self.tables
            ],
            "plots": [plot.name for plot in self.plots],
        }


@dataclass(frozen=True)
class Study:
    """A published study; its module is imported when it is run and has ``run(quick, seed, progress)``.

    `options` names what else its ``run`` takes.
    """

    name: str
    title: str
    module: str
    options: tuple[str, ...] = ()

    def run(self, quick: bool, seed: int, progress: Progress = lambda share: None, **given: Any) -> StudyResult:
        taken = {name: given[name] for name in self.options if name in given}
        return importlib.import_module(self.module).run(quick, seed, progress, **taken)


STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        Study("optrr", "OptRR: optimizing randomized response schemes (Huang and Du 2008)", "tacit.experiments.optrr"),
        Study("trees", "Decision trees from multi-group randomized response (Zhan and Du)", "tacit.experiments.trees"),
        Study(
            "bayes",
            "Naive Bayes from electronic surveys with unrelated questions (Zhan and Matwin)",
            "tacit.experiments.bayes",
        ),
        Study(
            "kanon", "k-anonymization with preferences on loss and bias (Dewri et al. 2009)", "tacit.experiments.kanon"
        ),
        Study(
            "frapp",
            "FRAPP: privacy-preserving mining of association rules (Agrawal and Haritsa 2005)",
            "tacit.experiments.frapp",
            ("health",),
        ),
    )
}


def study(name: str) -> Study:
    if name not in STUDIES:
        raise UnknownName("Study", name, STUDIES)
    return STUDIES[name]
