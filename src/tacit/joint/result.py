"""The fitted model of whole records: what it says of the population, of single reports, and of its own fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tacit.channel.codes import Array
from tacit.channel.scheme import Questionnaire
from tacit.count.sources import ReportSource, sources
from tacit.display import Told, told_errors, with_error
from tacit.errors import InvalidInput
from tacit.joint.evidence import BATCH_ROWS, Known, WholeReports, batches, laid_out, whole_reports
from tacit.joint.selection import ModelCandidate, RecordModel, refine_model
from tacit.randomness import SeededRandomness
from tacit.reports import Reports
from tacit.schema import Attribute, Schema
from tacit.table import Table

# A table of more cells than this is not written out.
MOST_CELLS = 1 << 24


@dataclass(frozen=True, eq=False)
class ModelTable:
    """The joint distribution of some attributes under a fitted model, one axis each."""

    attributes: tuple[Attribute, ...]
    probabilities: Array
    standard_errors: Array | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    def cells(self) -> Iterator[dict[str, Any]]:
        """One entry per combination of answers."""
        for index in np.ndindex(self.probabilities.shape):
            error = None if self.standard_errors is None else float(self.standard_errors[index])
            yield {
                "answers": {a.name: a.answers[code] for a, code in zip(self.attributes, index, strict=True)},
                "probability": float(self.probabilities[index]),
                "standard_error": error,
            }

    def __str__(self) -> str:
        rows = [
            (" ".join(cell["answers"].values()), cell["probability"], cell["standard_error"]) for cell in self.cells()
        ]
        with_errors = [(label, p, error) for label, p, error in rows if error is not None]
        if len(with_errors) == len(rows):
            return "\n".join(told_errors(with_errors))
        width = max(len(label) for label, _, _ in rows)
        return "\n".join(f"{label:{width}} {p:7.4f}" for label, p, _ in rows)


@dataclass(frozen=True)
class ModelShare:
    """The share of people to whom a combination of answers applies, under a fitted model."""

    probability: float
    standard_error: float | None = None

    def __float__(self) -> float:
        return self.probability

    def __str__(self) -> str:
        if self.standard_error is None:
            return f"{self.probability:.4f}"
        return with_error(self.probability, self.standard_error)


@dataclass(frozen=True)
class PairMisfit:
    """The cell of all tables of two attributes in which the model and the unbiased estimate differ most."""

    answers: Mapping[str, str]
    model: float
    estimate: float
    standard_error: float
    cells: int  # how many cells were compared

    @property
    def z(self) -> float:
        return (self.model - self.estimate) / self.standard_error

    @property
    def p(self) -> float:
        """Chance of so large a difference in any of the cells if the model were right (Bonferroni)."""
        return min(1.0, self.cells * math.erfc(abs(self.z) / math.sqrt(2)))


@dataclass(frozen=True, eq=False, repr=False)
class JointModel(Told):
    """A model of whole records, fitted to reports by likelihood.

    Made by `fit_joint`. It answers any share, table or conditional, gives the posterior of every answer behind a
    report, and draws synthetic records. Its shares are those of a *model*: smoother than the unbiased estimates of
    `tacit.estimate`, and as right as the model is; `summary` says how well it fits.

    Attributes
    ----------
    schema
        The attributes of a whole record.
    model
        The chosen model: an exact table, latent classes, or one or several trees.
    candidates
        Every model that was tried, the likeliest to held-out reports first.
    n_reports, n_fitted
        Reports there are, and those the model was fitted to.
    converged
        Whether the climb to the likeliest parameters arrived.
    misfit
        Where tables of pairs differ most from their unbiased estimates; None where nothing could be compared.
    """

    schema: Schema
    model: RecordModel
    candidates: tuple[ModelCandidate, ...]
    n_reports: int
    n_fitted: int
    converged: bool
    misfit: PairMisfit | None = None
    groups: tuple[tuple[Questionnaire, int], ...] = field(default=(), repr=False)  # whom a bootstrap asks again

    @property
    def what(self) -> str:
        """The chosen model in words."""
        return self.model.describe()

    def table(
        self,
        attributes: str | Sequence[str],
        given: Mapping[str, str] | None = None,
        *,
        bootstrap: int = 0,
        seed: int = 0,
    ) -> ModelTable:
        """The joint distribution of some attributes, among all or among those to whom `given` applies.

        Parameters
        ----------
        attributes
            Their names.
        given
            Answers that condition the table, such as ``{"sex": "f"}``.
        bootstrap
            Refits, each to reports simulated from the model, for standard errors; none are given for 0.
        seed
            Makes the bootstrap repeatable.

        Returns
        -------
        ModelTable
            Probabilities with one axis for each attribute.
        """
        names = [attributes] if isinstance(attributes, str) else list(attributes)
        self._check_names(names)
        conditions = self._codes(given or {}, names)
        probabilities = self._conditional(self.model, names, conditions)
        errors = None
        if bootstrap:
            again = [self._conditional(model, names, conditions) for model in self._refits(bootstrap, seed)]
            errors = np.std(again, axis=0, ddof=1)
        return ModelTable(tuple(self.schema[name] for name in names), probabilities, errors)

    def share(
        self,
        where: Mapping[str, str | Sequence[str]],
        given: Mapping[str, str] | None = None,
        *,
        bootstrap: int = 0,
        seed: int = 0,
    ) -> ModelShare:
        """The share of people to whom every answer of `where` applies, such as ``{"smokes": "yes"}``.

        Parameters
        ----------
        where
            For each attribute an answer, or several of which any will do.
        given
            Answers that say among whom.
        bootstrap, seed
            As for `table`.

        Returns
        -------
        ModelShare
            The share, and its standard error where a bootstrap was asked for.
        """
        names = list(where)
        masks = []
        for name, answers in where.items():
            wanted = [answers] if isinstance(answers, str) else list(answers)
            masks.append([self.schema[name].encode(answer) for answer in wanted])
        self._check_names(names)
        conditions = self._codes(given or {}, names)

        def of(model: RecordModel) -> float:
            return float(self._conditional(model, names, conditions)[np.ix_(*masks)].sum())

        error = None
        if bootstrap:
            error = float(np.std([of(model) for model in self._refits(bootstrap, seed)], ddof=1))
        return ModelShare(of(self.model), error)

    def predict(self, attribute: str, given: Mapping[str, str]) -> dict[str, float]:
        """The chance of each answer of an attribute, for somebody of whom other true answers are known.

        Parameters
        ----------
        attribute
            What to predict.
        given
            Known answers by attribute.

        Returns
        -------
        dict
            A chance for every answer. (`posterior` does the same for many people, and for disguised answers.)
        """
        codes = self._codes(given, [attribute])
        given_codes = {self.schema.names.index(name): np.array([code]) for name, code in codes.items()}
        position = self.schema.names.index(self.schema[attribute].name)
        chances = self.model.answers(_nobody(self.schema, given_codes))[position][0]
        return dict(zip(self.schema[attribute].answers, map(float, chances / chances.sum()), strict=True))

    def posterior(self, reports: Reports, known: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """What each report tells of every answer of the person who sent it.

        Parameters
        ----------
        reports
            Reports of any scheme over attributes of the model; ``Reports.from_truth(table)`` for undisguised answers.
        known
            For some attributes the true codes of the people behind the reports, known from elsewhere.

        Returns
        -------
        dict
            For every attribute of the model an array ``(reports, answers)`` of chances.
        """
        named: list[list[Array]] = [[] for _ in self.schema]
        for batch in self._evidence_batches(reports, known or {}):
            for chances, answers in zip(named, self.model.answers(batch), strict=True):
                chances.append(answers)
        return {name: np.concatenate(chances) for name, chances in zip(self.schema.names, named, strict=True)}

    def log_likelihood(self, reports: ReportSource | Sequence[ReportSource]) -> float:
        """The mean logarithm of the chance of a report.

        Parameters
        ----------
        reports
            Reports of any scheme over attributes of the model.

        Returns
        -------
        float
            Natural logarithm, per report.
        """
        total, people = 0.0, 0
        for source in sources(reports):
            for table, counts in batches(source.engine):
                batch = laid_out(source.questionnaire, self.schema, table, counts.astype(np.float64))
                total += float(self.model.report_logs(batch) @ counts)
                people += int(counts.sum())
        if not people:
            raise InvalidInput("There are no reports to compute a likelihood from.")
        return total / people

    def sample(self, people: int, seed: int | None = None) -> Reports:
        """Synthetic records drawn from the model.

        Parameters
        ----------
        people
            How many.
        seed
            Makes the draw repeatable; otherwise the operating system's randomness starts it.

        Returns
        -------
        Reports
            Undisguised records of nobody, ready to be counted, mined, or written to a file.
        """
        if not (isinstance(people, int) and people >= 1):
            raise InvalidInput(f"The number of synthetic records must be a whole number of at least 1, not {people!r}.")
        columns = self.model.draw(people, np.random.default_rng(seed))
        table = Table.from_codes(self.schema, dict(zip(self.schema.names, columns, strict=True)))
        drawn = Reports.from_truth(table)
        return Reports(drawn.scheme, drawn.parts, is_simulation=True)

    def summary(self) -> str:
        """The statement of fit: what was chosen, against what, and where it fits worst.

        Returns
        -------
        str
            Some lines for people.
        """
        lines = [
            f"{self.what} ({self.model.n_parameters:,} parameters) from {self.n_fitted:,} of {self.n_reports:,} reports"
            + ("" if self.converged else "; the climb had not arrived"),
            f"{'model':34} {'parameters':>10} {'held-out log-likelihood':>24}  behind",
        ]
        for candidate in self.candidates:
            lines.append(
                f"{candidate.what:34} {candidate.model.n_parameters:10,} {candidate.held_out:24.5f}  "
                f"{candidate.behind:.5f} ± {candidate.behind_error:.5f}"
            )
        return "\n".join([*lines, self._misfit_sentence()])

    def _misfit_sentence(self) -> str:
        if self.misfit is None:
            return "No table of two attributes could be estimated to compare the model with."
        worst = self.misfit
        where = " and ".join(f"{name} = {answer}" for name, answer in worst.answers.items())
        verdict = "as chance would have it" if worst.p >= 0.01 else "more than chance would have it"
        return (
            f"Of {worst.cells:,} cells of tables of two attributes the worst is {where}: {worst.model:.4f} in the model, "
            f"{worst.estimate:.4f} ± {worst.standard_error:.4f} unbiased, {abs(worst.z):.1f} standard errors apart, {verdict}."
        )

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"JointModel({self.what}, {len(self.schema)} attributes, {self.n_reports:,} reports)"

    # What the methods above have in common.

    def _check_names(self, names: Sequence[str]) -> None:
        if not names:
            raise InvalidInput("Say which attributes are wanted.")
        if len(set(names)) < len(names):
            raise InvalidInput(f"An attribute is named twice: {', '.join(names)}.")
        cells = math.prod(float(size) for size in self.schema.shape(names))
        if cells > MOST_CELLS:
            raise InvalidInput(
                f"A table of {', '.join(names)} has {cells:.3g} cells, more than {MOST_CELLS:,}. Ask for fewer attributes."
            )

    def _codes(self, given: Mapping[str, str], names: Sequence[str]) -> dict[str, int]:
        for name in given:
            if name in names:
                raise InvalidInput(f"{name!r} is both asked for and given. Leave it out of one of the two.")
        return {name: self.schema[name].encode(answer) for name, answer in given.items()}

    def _conditional(self, model: RecordModel, names: Sequence[str], given: Mapping[str, int]) -> Array:
        self._check_names([*names, *given])
        places = [self.schema.names.index(name) for name in (*names, *given)]
        within: tuple[Any, ...] = (..., *given.values())
        table: Array = np.asarray(model.marginal(places)[within])
        total = float(table.sum()) if given else 1.0
        if total <= 0:
            raise InvalidInput(
                f"Nobody gives the answers {dict(given)} under the model, so nothing can be said of them."
            )
        return table / total

    def _evidence_batches(self, reports: Reports, known: Mapping[str, Any]) -> Iterator[WholeReports]:
        """Rows of reports as evidence, some at a time, together with true answers known of the people who sent them."""
        for questionnaire, table in reports:
            check_attributes(questionnaire, self.schema)
            for start in range(0, table.n_rows, BATCH_ROWS):
                rows = table.rows(slice(start, start + BATCH_ROWS))
                batch = laid_out(questionnaire, self.schema, rows, np.ones(rows.n_rows))
                known_codes = {
                    self.schema.names.index(self.schema[name].name): np.asarray(codes)[start : start + BATCH_ROWS]
                    for name, codes in known.items()
                }
                yield batch.with_known_answers(known_codes, self.schema.shape()) if known_codes else batch

    @cached_property
    def _bootstrap_models(self) -> dict[tuple[int, int], list[RecordModel]]:
        return {}

    def _refits(self, replicates: int, seed: int) -> list[RecordModel]:
        """The model fitted again to reports that were simulated from it."""
        if not (isinstance(replicates, int) and replicates >= 2):
            raise InvalidInput(f"A bootstrap needs a whole number of at least 2 refits, not {replicates!r}.")
        held = self._bootstrap_models
        if (replicates, seed) not in held:
            rng = np.random.default_rng(seed)
            held[replicates, seed] = [
                refine_model(self.model, simulate_reports(self.model, self.schema, self.groups, rng))[0]
                for _ in range(replicates)
            ]
        return held[replicates, seed]


def check_attributes(questionnaire: Questionnaire, schema: Schema) -> None:
    """Refuse reports of attributes that a model does not have, or has with other answers."""
    asked = [a for group in questionnaire.groups for a in group.attributes] + list(questionnaire.public)
    for attribute in asked:
        if schema[attribute.name].answers != attribute.answers:
            raise InvalidInput(
                f"The answers of {attribute.name!r} differ between the model and the reports; they must be the same."
            )


def _nobody(schema: Schema, known: Known) -> WholeReports:
    """A person who sent no report, and of whom some true answers are known."""
    everything = Questionnaire("", 1.0, (), tuple(schema))
    blank = Table(schema, {name: np.zeros(1, dtype=np.int64) for name in schema.names})
    return WholeReports(everything, blank, np.ones(1), ()).with_known_answers(known, schema.shape())


def simulate_reports(
    model: RecordModel, schema: Schema, groups: Sequence[tuple[Questionnaire, int]], rng: np.random.Generator
) -> list[WholeReports]:
    """As many reports of each questionnaire as there were, from people drawn from the model."""
    made = []
    for questionnaire, people in groups:
        records = dict(zip(schema.names, model.draw(people, rng), strict=True))
        chance = SeededRandomness(int(rng.integers(1 << 62)))
        columns = {attribute.name: records[attribute.name] for attribute in questionnaire.public}
        for group in questionnaire.groups:
            reported = group.channel.sample([records[name] for name in group.names], chance)
            names = [attribute.name for attribute in group.report_attributes]
            columns |= dict(zip(names, reported, strict=True))
        made.append(whole_reports(questionnaire, schema, Table(questionnaire.report_schema, columns)))
    return made
