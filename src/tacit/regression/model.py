"""From data as they lie to a fitted regression: which variables are disguised decides how it is fitted."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.channel.moment_devices import MomentDesign
from tacit.channel.scheme import Group, Scheme
from tacit.count.connections import is_address
from tacit.count.stored import StoredReports
from tacit.count.tally import Tally, is_tally
from tacit.count.weighted import SampleColumns
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation import device_reports
from tacit.estimation.complex_samples import Lonely
from tacit.estimation.device_estimates import read_control
from tacit.estimation.intervals import checked_level
from tacit.estimation.study_record import StudyRecord
from tacit.regression.data import Disguised, by_device, by_scheme, clear_frame, given_devices, with_control_item
from tacit.regression.families import FAMILIES, FamilyName
from tacit.regression.fitting import ERRORS, Errors, Fitting, FormulaData, Sampling
from tacit.regression.formula import Formula, read_formula
from tacit.regression.result import Regression
from tacit.regression.rows import rows_of
from tacit.reports import checked_scheme_note, scheme_of_files
from tacit.schema import RESERVED
from tacit.table.columns import file_columns
from tacit.table.files import data_places
from tacit.table.study_columns import StudyReading

if TYPE_CHECKING:
    import pyarrow as pa


def regress(
    data: Any,
    formula: str,
    *,
    devices: Mapping[str, Any] | Sequence[str] | None = None,
    scheme: Scheme | None = None,
    family: FamilyName | None = None,
    sample: str | None = None,
    yes: str | None = None,
    weights: str | None = None,
    strata: str | None = None,
    clusters: str | None = None,
    sampled: float | str | None = None,
    lonely: Lonely = "refuse",
    errors: Errors | None = None,
    level: float = 0.95,
    bootstrap: int | None = None,
    replicates: Sequence[str] = (),
    replicate_scale: float | None = None,
    seed: int | None = None,
    control: str | tuple[str, float] | None = None,
    missing_marks: Sequence[str] = (),
    sheet: str | None = None,
    skip_rows: int = 0,
) -> Regression:
    """Regress an outcome on covariates where some of them were disguised.

    A disguised outcome with clear covariates is fitted by likelihood (logit, probit, multinomial, ordered). Where
    covariates are disguised, the scores of the clear data are corrected (linear, logit, Poisson).

    Parameters
    ----------
    data : path, data frame, Reports, stored reports or Tally
        A file (CSV, Parquet, SPSS, Stata, SAS, Excel) or anything that speaks Arrow. Only the named columns are read.
        Reports know their scheme, and report files that carry it need none; stored ones and tallies are counted where they
        are. A path may be that of a folder, of saved tallies and, with a scheme, the address of a table.
    formula : str
        Outcome and covariates as R and formulaic write them: names of columns (those with dots in backticks), operators
        and the functions log, exp, sqrt, abs, I, C, poly, bs, cr, scale, center and their like; nothing else is read.
    devices : mapping or sequence, optional
        For each disguised variable its device: ``{"copied": "crosswise p=1/4"}``, or ``["copied: crosswise p=1/4"]``.
    scheme : Scheme, optional
        The scheme of disguised reports; columns it does not name are clear covariates.
    family : {"logit", "probit", "multinomial", "ordered", "linear", "poisson"}, optional
        Without it logit for two answers or values, multinomial for more answers, linear for a clear outcome of numbers.
    sample : str, optional
        The column that tells the samples of a device apart.
    yes : str, optional
        The value that means yes, where it is not 1, yes or true.
    weights, strata, clusters : str, optional
        Columns of a complex sample; errors are then linearised.
    sampled : float or str, optional
        The sampled share of a finite population.
    lonely : {"refuse", "centre"}
        What a stratum with a single cluster gets.
    errors : {"observed", "opg", "robust"}, optional
        From the observed information, the outer products of the scores, or both (the sandwich).
    level : float
        Confidence level of the intervals.
    bootstrap : int, optional
        Errors from so many repeats of a bootstrap of clusters within strata, instead of linearised ones.
    replicates : sequence of str
        Columns of replicate weights: errors are the spread of the coefficients under them.
    replicate_scale : float, optional
        What the sum of squared deviations is multiplied by: 1/R if not said (bootstrap, balanced), (R-1)/R for a jackknife.
    seed : int, optional
        Makes the bootstrap repeatable.
    control : str, optional
        A control item of known prevalence asked with the outcome's device, as ``"column=0"``: tells the share of inattentive
        respondents, who answer both at random.
    missing_marks : sequence of str
        Values that mean no answer. Without them NA, a dot and codes such as -99 are recognised, and the result says so.
    sheet : str, optional
        The sheet of an Excel file, by name or number; the first if not said.
    skip_rows : int
        Title rows above the line of column names.

    Returns
    -------
    Regression

    Raises
    ------
    InvalidInput
        Where the formula, columns or devices do not fit.
    NotEstimable
        Where the data cannot carry the model.

    Examples
    --------
    >>> import tacit
    >>> people = {"used": [1] * 60 + [0] * 40 + [1] * 30 + [0] * 70, "city": ["a"] * 100 + ["b"] * 100}
    >>> found = tacit.regress(people, "used ~ city", devices={"used": "forced-response truth=2/3,yes=1/6"})
    >>> round(found["city[T.b]"].estimate, 2)
    -2.01
    """
    checked_level(level)
    if errors is not None and errors not in ERRORS:
        raise UnknownName("Kind of errors", str(errors), ERRORS)
    if family is not None and family not in FAMILIES:
        raise UnknownName("Family", str(family), FAMILIES)
    read = read_formula(formula)  # before the data: whoever swaps the two is told so
    data = _open_data(data, scheme)
    used_scheme = scheme if scheme is not None else _carried_scheme(data, devices)
    study = _read(read, given_devices(devices), used_scheme, sample, yes, read_control(control))
    columns = SampleColumns(weights, strata, clusters, sampled, tuple(replicates), replicate_scale)
    asked = bool(columns.column_names) or sampled is not None or bootstrap is not None or replicate_scale is not None
    reading = StudyReading(tuple(missing_marks), sheet, skip_rows)
    rows = rows_of(data, study.columns, study.names, columns, reading, listed=asked)
    sampling = Sampling(columns, lonely, bootstrap, seed)
    result = Fitting(study.laid_out(rows.table), rows, formula, sampling, family, errors, level).result()
    record = StudyRecord(study.devices, columns, bootstrap, seed, None if used_scheme is None else used_scheme.hash)
    return replace(result, study=record)


def _open_data(data: Any, scheme: Scheme | None) -> Any:
    """What a name stands for: saved tallies, a table of reports in a database (with a scheme), or files of this scheme."""
    if not isinstance(data, (str, Path)):
        return data
    if is_address(data):
        return data if scheme is None else StoredReports.open(data, scheme)
    files = data_places(data)
    if all(is_tally(file) for file in files):
        return functools.reduce(operator.add, [Tally.read(file, scheme) for file in files])
    if scheme is not None:
        for file in files:
            checked_scheme_note(file, scheme)
    return data


def _carried_scheme(data: Any, devices: Any) -> Scheme | None:
    """The scheme that reports know; that of report files, where no device says how they were asked."""
    if not isinstance(data, (str, Path)):
        its_scheme = getattr(data, "scheme", None)
        return its_scheme if isinstance(its_scheme, Scheme) else None
    return None if devices or is_address(data) else scheme_of_files(data)


@dataclass(frozen=True, eq=False)
class _AskedFormula:
    """The formula, and how each of its variables was asked."""

    formula: Formula
    devices: Mapping[str, Any]
    scheme: Scheme | None
    sample: str | None
    yes: str | None
    control: tuple[str, float] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.formula.outcome, *self.formula.names)

    @property
    def disguised_names(self) -> set[str]:
        devices = {name for name, device in self.devices.items() if not isinstance(device, MomentDesign)}
        return (devices | {name for group in self._groups for name in group.names}) & set(self.names)

    @property
    def _groups(self) -> list[Group]:
        """The groups of the scheme, of all questionnaires that it deals."""
        parts = () if self.scheme is None else self.scheme.questionnaires
        return [group for questionnaire in parts for group in questionnaire.groups]

    @property
    def columns(self) -> list[str]:
        """Everything that is read: clear variables, and the report columns of disguised ones."""
        wanted = [name for name in self.names if name not in self.disguised_names or name in self.devices]
        for group in self._groups:
            if set(group.names) & set(self.names):
                wanted += [column for attribute in group.report_attributes for column in file_columns(attribute)]
        wanted += [] if self.control is None else [self.control[0]]
        dealt = [RESERVED] if self.scheme is not None and self.scheme.is_dealt else []
        return list(dict.fromkeys([*wanted, *dealt, *([] if self.sample is None else [self.sample])]))

    def laid_out(self, table: pa.Table) -> FormulaData:
        parts = [
            by_device(table, name, device, self.sample, self.yes)
            for name, device in self.devices.items()
            if name in self.disguised_names
        ]
        if self.control is not None:
            parts = [self._attentive(table, variable, self.control) for variable in parts]
        if self.scheme is not None:
            parts += by_scheme(table, self.scheme, self.names)
        clear = [name for name in self.names if name not in self.disguised_names]
        frame = clear_frame(table, clear)
        amount = self.devices.get(self.formula.outcome)
        if isinstance(amount, MomentDesign):
            if len(amount.samples) > 1 or frame[self.formula.outcome].dtype.kind != "f":
                raise InvalidInput(
                    f"An outcome asked with {amount.name!r} is not regressed, only numbers that one sample scrambled. Compare "
                    "groups instead: tacit.prevalence(..., by=...)."
                )
            sample = amount.samples[0]
            frame[self.formula.outcome] = sample.factor * (frame[self.formula.outcome] - sample.shift)
        return FormulaData(self.formula, tuple(parts), frame, self.yes, is_amount=isinstance(amount, MomentDesign))

    def _attentive(self, table: pa.Table, variable: Disguised, control: tuple[str, float]) -> Disguised:
        """The outcome, where a share of people answers it and the control item at random."""
        if variable.names != (self.formula.outcome,):
            raise InvalidInput(
                f"A control item tells inattention of the outcome; {variable.names[0]!r} is a covariate. Leave out control."
            )
        device = self.devices[self.formula.outcome]
        codes = device_reports.understand_reports(table, control[0], device.reports, self.yes).codes
        return with_control_item(variable, device, codes, control[1])


def _read(
    formula: Formula,
    devices: Mapping[str, Any],
    scheme: Scheme | None,
    sample: str | None,
    yes: str | None,
    control: tuple[str, float] | None,
) -> _AskedFormula:
    study = _AskedFormula(formula, devices, scheme, sample, yes, control)
    if control is not None and formula.outcome not in devices:
        raise InvalidInput(f"A control item is asked with the device of the outcome. Give one for {formula.outcome!r}.")
    for name, device in devices.items():
        if isinstance(device, MomentDesign) and name != formula.outcome:
            raise InvalidInput(
                f"{name!r} was asked with {device.name!r}, which tells means only: it can be the outcome alone."
            )
    others = [name for name in devices if name not in study.names]
    if others:
        raise InvalidInput(
            f"The device of {others[0]!r} belongs to no variable of the formula {formula.outcome} ~ {formula.right}. "
            f"Its variables: {', '.join(study.names)}."
        )
    return study
