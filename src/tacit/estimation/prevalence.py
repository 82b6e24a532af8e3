"""How many carry a trait that was asked with a device of the literature, from data as they lie."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc

from tacit.channel import devices
from tacit.channel.base import Array
from tacit.channel.device_laws import YES_NO
from tacit.channel.device_parameters import Given
from tacit.channel.devices import DeviceDesign
from tacit.channel.moment_devices import MOMENT_DEVICES, MomentDesign, moment_design
from tacit.count.weighted import SampleColumns
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation import device_reports
from tacit.estimation.comparison import difference_ends
from tacit.estimation.complex_samples import Lonely, SampleDesign
from tacit.estimation.device_estimates import (
    DeviceEstimate,
    SampleCounts,
    estimate_device,
    impossible_reports,
    read_control,
    with_control,
)
from tacit.estimation.device_reports import DIRECT, MISSING
from tacit.estimation.intervals import ROUNDING, ShareLaw, checked_level, interval_within
from tacit.estimation.moment_estimates import (
    REVEALING,
    SWAPPED,
    DesignEffect,
    Numbers,
    check_counts,
    design_effect,
    estimate_moments,
    revealing_share,
)
from tacit.estimation.prevalence_result import (
    AnswerShare,
    Difference,
    GroupPrevalence,
    OpenParameter,
    OverallTest,
    Prevalence,
    ShareTest,
)
from tacit.estimation.sample_columns import design_of
from tacit.estimation.sample_laws import SampleLaws, estimate_shares_of
from tacit.estimation.study_record import StudyRecord
from tacit.table.study_columns import StudyReading, numbers_of

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[np.intp]


def prevalence(
    data: Any,
    item: str,
    device: str | DeviceDesign | MomentDesign,
    parameters: str | Mapping[str, Given] | None = None,
    *,
    yes: str | None = None,
    sample: str | None = None,
    by: str | Sequence[str] | None = None,
    weights: str | None = None,
    strata: str | None = None,
    clusters: str | None = None,
    sampled: float | str | None = None,
    lonely: Lonely = "refuse",
    control: str | tuple[str, float] | None = None,
    answers: Sequence[str] = YES_NO,
    level: float = 0.95,
    bootstrap: int | None = None,
    replicates: Sequence[str] = (),
    replicate_scale: float | None = None,
    seed: int | None = None,
    compare: str | None = None,
    against: float | None = None,
    direct_item: str | None = None,
    missing_marks: Sequence[str] = (),
    sheet: str | None = None,
    skip_rows: int = 0,
) -> Prevalence:
    """The share of people who carry a trait that was asked with a device.

    Parameters
    ----------
    data : path or data frame
        A file (CSV, Parquet, SPSS, Stata, SAS, Excel) or anything that speaks Arrow. Only the named columns are read.
    item : str
        The column with the reports; of two lists both, as ``"first,second"``.
    device : str or DeviceDesign
        A name of `tacit.devices` with its `parameters`, or a device made there.
    parameters : str or mapping, optional
        Such as ``"p=2/3"``; two samples as ``"p=1:2/12,2:10/12"``, a sample that was asked directly as ``direct=0``.
    yes : str, optional
        The value that means yes (or the second report of the device), where it is not 1, yes or true.
    sample : str, optional
        The column that tells the samples apart.
    by : str or sequence of str, optional
        Columns whose values make groups, to be compared: each with the first, and all by one test.
    weights, strata, clusters : str, optional
        Columns of a complex sample; errors are then linearised, with Student's distribution.
    sampled : float or str, optional
        The sampled share of a finite population: a number or a column.
    lonely : {"refuse", "centre"}
        What a stratum with a single cluster gets.
    control : str, optional
        A control item asked with the same device, with its known prevalence, as ``"column=0"``: tells inattention.
    answers : sequence of str
        The answers, where they are not no and yes.
    level : float
        Confidence level of the intervals.
    bootstrap : int, optional
        Errors from so many repeats of a bootstrap of clusters within strata, instead of linearised ones.
    replicates : sequence of str
        Columns of replicate weights: errors are the spread of the estimates under them round the estimate.
    replicate_scale : float, optional
        What the sum of squared deviations is multiplied by: 1/R if not said (bootstrap, balanced), (R-1)/R for a jackknife.
    seed : int, optional
        Makes the bootstrap repeatable.
    compare : str, optional
        With `by`: ``"all"`` compares every two groups, the value of a group every other one with it.
    against : float, optional
        A share that the estimate is tested against.
    direct_item : str, optional
        Of a list experiment: the column of a direct question to all, whose yes is believed and whose no is not.
    missing_marks : sequence of str
        Values that mean no answer. Without them NA, a dot and codes such as -99 are recognised, and the result says so.
    sheet : str, optional
        The sheet of an Excel file, by name or number; the first if not said.
    skip_rows : int
        Title rows above the line of column names.

    Returns
    -------
    Prevalence
        Shares with errors and intervals in [0, 1], and what the device leaves open.

    Raises
    ------
    InvalidInput
        Where columns, values or samples do not fit the device.
    NotEstimable
        Where the chances of the device carry nothing.

    Examples
    --------
    >>> import tacit
    >>> reports = {"copied": ["yes"] * 328 + ["no"] * 382}
    >>> print(tacit.prevalence(reports, "copied", "unrelated-question", "p=1/2,y=1/12"))
    no   0.159 ± 0.037
    yes  0.841 ± 0.037
    (± one standard error)
    """
    if isinstance(device, str) and device in MOMENT_DEVICES:
        device = moment_design(str(device), parameters or {})
    device_design = (
        device if isinstance(device, DeviceDesign | MomentDesign) else devices.design(device, parameters or {}, answers)
    )
    checked_level(level)
    watched = read_control(control)
    columns = SampleColumns(weights, strata, clusters, sampled, tuple(replicates), replicate_scale)
    groups = [by] if isinstance(by, str) else list(by or ())
    if compare is not None and not groups:
        raise InvalidInput("compare says which groups are compared, and there are none. Name their columns: by=...")
    if against is not None and not 0 <= against <= 1:
        raise InvalidInput(f"The share to test against must lie between 0 and 1, not {against!r}.")
    items = [name.strip() for name in item.split(",")] if isinstance(device_design, MomentDesign) else [item]
    named = [*items, sample, direct_item, *groups, watched[0] if watched else None, *columns.column_names]
    reading = StudyReading(tuple(missing_marks), sheet, skip_rows)
    table, notes = reading.read(data, [name for name in named if name is not None])
    if table.num_rows == 0:
        raise InvalidInput("There are no rows, so nothing can be estimated.")
    design = design_of(table, columns, lonely, bootstrap=bootstrap, seed=seed)
    record = StudyRecord({item: device_design}, columns, bootstrap, seed)
    if isinstance(device_design, MomentDesign):
        if watched is not None:
            raise InvalidInput(
                "A control item tells inattention of devices with answers, and not of counts and amounts."
            )
        return _moments(
            device_design, table, items, sample, direct_item, notes, (design, level, compare, against, record), groups
        )
    if direct_item is not None:
        raise InvalidInput("A direct question to all is combined with a list experiment. Leave out direct_item.")
    reports = _reports(table, device_design, item, sample, yes, notes)
    return _Study(device_design, reports, design, watched, level, compare, against, record).result(table, groups)


@dataclass(frozen=True, eq=False)
class _Reports:
    item: str
    yes: str | None
    codes: Codes
    samples: Codes  # DIRECT where asked directly
    readings: tuple[str, ...]


def _reports(
    table: pa.Table, device: DeviceDesign, item: str, sample: str | None, yes: str | None, notes: Sequence[str]
) -> _Reports:
    read = device_reports.understand_reports(table, item, device.reports, yes)
    if device.direct is not None and len(device.reports) != len(device.answers):
        raise InvalidInput(f"The reports of {device.name!r} are not answers, so no sample of it was asked directly.")
    readings = (*notes, *([read.sentence] if read.sentence else []))
    return _Reports(item, yes, read.codes, device_reports.samples(table, sample, device), readings)


def _moments(
    device: MomentDesign,
    table: pa.Table,
    items: Sequence[str],
    sample: str | None,
    direct_item: str | None,
    notes: Sequence[str],
    settings: tuple[SampleDesign | None, float, str | None, float | None, StudyRecord],
    groups: Sequence[str],
) -> Prevalence:
    """The study of a device whose reports are numbers."""
    columns = []
    for name in items:
        column = numbers_of(name, device_reports.column(table, name))
        if column is None:
            raise InvalidInput(f"{name!r} must hold numbers, as the reports of {device.name!r} are.")
        columns.append(column)
    admits = None
    if direct_item is not None:
        if not device.is_list:
            raise InvalidInput("A direct question to all is combined with a list experiment. Leave out direct_item.")
        codes = device_reports.understand_reports(table, direct_item, YES_NO).codes
        admits = np.where(codes == MISSING, np.nan, codes.astype(np.float64))
    numbers = Numbers(np.array(columns).T, device_reports.samples(table, sample, device), admits)
    check_counts(device, numbers, items)
    reports = _Reports(", ".join(items), None, np.where(numbers.is_answered, 0, MISSING), numbers.samples, tuple(notes))
    design, level, compare, against, record = settings
    study = _MomentStudy(device, reports, design, None, level, compare, against, record, numbers)
    return study.result(table, groups)


@dataclass(frozen=True, eq=False)
class _Study:
    device: Any  # a device of answers or of numbers
    reports: _Reports
    design: SampleDesign | None
    control: tuple[str, float] | None
    level: float
    compare: str | None
    against: float | None
    record: StudyRecord

    def result(self, table: pa.Table, by: Sequence[str]) -> Prevalence:
        answered = self.reports.codes != MISSING
        direct = self.reports.samples == DIRECT
        control = self._control_codes(table)
        levels, empty = self._levels(table, by)
        groups = [answered & ~direct, *(answered & ~direct & rows for _, rows in levels)]

        def all_estimates(weights: Array) -> list[DeviceEstimate]:
            by_device = [self._estimate(rows, control, weights) for rows in groups]
            return by_device if self.device.direct is None else [*by_device, self._direct(answered & direct, weights)]

        estimates = all_estimates(np.ones(len(answered)) if self.design is None else self.design.weights)
        weighings = () if self.design is None else self.design.weighings()
        repeated = [_values(all_estimates(again)) for again in weighings]
        errors = _Errors(estimates, self.design, self.level, repeated)
        whole, asked = estimates[0], None if self.device.direct is None else estimates[-1]
        compliance = self._compliance(whole)
        n_without = int((groups[0] & ~np.logical_or.reduce([rows for _, rows in levels])).sum()) if levels else 0
        compared = self._group_differences(errors, [group for group, _ in levels])
        if asked is not None:
            compared.append(errors.difference(0, len(estimates) - 1, {"asked": "device"}, {"asked": "direct"}))
        return Prevalence(
            item=self.reports.item,
            device=self.device.name,
            n_reports=whole.counted.n,
            n_missing=int((~answered).sum()),
            shares=errors.shares(0),
            parameters=errors.parameters(0),
            groups=tuple(errors.group(1 + at, group) for at, (group, _) in enumerate(levels)),
            differences=tuple(compared),
            direct=None if asked is None else errors.group(len(estimates) - 1, {"asked": "direct"}),
            compliance=compliance,
            level=self.level,
            errors=errors.in_words,
            readings=self.reports.readings,
            warnings=tuple(self._warnings(estimates, compliance, n_without, empty)),
            overall=errors.equality(range(1, 1 + len(levels))) if levels else None,
            test=None if self.against is None else errors.test(0, self.against),
            study=self.record,
            design_effect=self._design_effect(groups[0]),
        )

    def _compliance(self, whole: DeviceEstimate) -> Difference | None:
        return _compliance(whole, self.device, self.level)

    def _design_effect(self, rows: NDArray[np.bool_]) -> DesignEffect | None:
        return None

    def _control_codes(self, table: pa.Table) -> Codes | None:
        if self.control is None:
            return None
        if self.device.opens or len(self.device.answers) > 2:
            raise InvalidInput(
                f"The device {self.device.name!r} estimates more than one share by itself; a control item is understood "
                "for yes/no devices without open parameters."
            )
        return device_reports.understand_reports(table, self.control[0], self.device.reports, self.reports.yes).codes

    def _estimate(self, rows: NDArray[np.bool_], control: Codes | None, weights: Array) -> DeviceEstimate:
        counted = SampleCounts(
            np.maximum(self.reports.codes, 0),
            np.maximum(self.reports.samples, 0),
            rows,
            weights,
            len(self.device.reports),
        )
        by_device = estimate_device(self.device, counted)
        return (
            by_device
            if control is None or self.control is None
            else with_control(by_device, self.device, control, self.control[1])
        )

    def _direct(self, rows: NDArray[np.bool_], weights: Array) -> DeviceEstimate:
        """The sample that was asked directly, its answers taken as they are."""
        if not rows.any():
            raise InvalidInput(f"No row belongs to the sample {self.device.direct!r} that was asked directly.")
        clear = devices.matrix(np.eye(len(self.device.answers)).tolist(), answers=self.device.answers)
        zero = np.zeros(len(rows), dtype=np.intp)
        counted = SampleCounts(np.maximum(self.reports.codes, 0), zero, rows, weights, len(self.device.answers))
        return estimate_device(clear, counted)

    def _levels(
        self, table: pa.Table, by: Sequence[str]
    ) -> tuple[list[tuple[dict[str, str], NDArray[np.bool_]]], list[str]]:
        """Each group with its rows, and the groups that are left out as they have no reports."""
        if not by:
            return [], []
        coded = [device_reports.values_of(device_reports.column(table, name)) for name in by]
        orders = [
            sorted(np.unique(codes[codes != MISSING]), key=lambda at, values=values: _by_size(values[at]))  # type: ignore[misc]
            for codes, values in coded
        ]
        n_groups = math.prod(map(len, orders))
        if n_groups > 50:
            raise InvalidInput(
                f"{' and '.join(map(repr, by))} hold {n_groups:,} different values, too many to be groups."
            )
        asked = (self.reports.codes != MISSING) & (self.reports.samples != DIRECT)
        levels, empty = [], []
        for places in itertools.product(*orders):
            rows = np.logical_and.reduce([codes == at for (codes, _), at in zip(coded, places, strict=True)])
            group = {name: values[at] for name, (_, values), at in zip(by, coded, places, strict=True)}
            sizes = np.bincount(self.reports.samples[rows & asked], minlength=len(self.device.samples))
            if sizes.all():
                levels.append((group, rows))
            else:
                empty.append(" ".join(group.values()))
        if len(levels) < 2:
            raise InvalidInput(
                f"{' and '.join(map(repr, by))} make {len(levels)} group with reports, so there is nothing to compare."
            )
        return levels, empty

    def _group_differences(self, errors: _Errors, groups: Sequence[Mapping[str, str]]) -> list[Difference]:
        """Every group against the first one, against the chosen one, or every two."""
        if not groups:
            return []
        if self.compare == "all":
            pairs = [(second, first) for first, second in itertools.combinations(range(len(groups)), 2)]
        else:
            names = [" ".join(group.values()) for group in groups]
            if self.compare is not None and self.compare not in names:
                raise UnknownName("Group", self.compare, [*names, "all"])
            base = 0 if self.compare is None else names.index(self.compare)
            pairs = [(at, base) for at in range(len(groups)) if at != base]
        return [errors.difference(1 + place, 1 + base, groups[place], groups[base]) for place, base in pairs]

    def _warnings(
        self,
        estimates: Sequence[DeviceEstimate],
        compliance: Difference | None,
        n_without: int,
        empty: Sequence[str],
    ) -> list[str]:
        distance = max(estimate.impossibility for estimate in estimates)
        sentences = [impossible_reports(distance)] if distance else []
        if empty:
            sentences.append(
                f"{len(empty):,} group(s) without reports are left out: {', '.join(empty[:8])}"
                f"{', ...' if len(empty) > 8 else ''}."
            )
        if not distance and not all(estimate.is_inside for estimate in estimates):
            sentences.append(
                "An estimate lies outside [0, 1]: `share` is the unbiased one, `constrained` the most likely one "
                "within the possible."
            )
        if compliance is not None and compliance.p is not None and compliance.p < 0.05:
            sentences.append(
                f"The samples {compliance.answers['sample']} and {compliance.against['sample']} disagree by "
                f"{abs(compliance.difference):.3f} (p = {compliance.p:.2g}). The device was not followed by everybody, so "
                "the pooled share is not to be trusted."
            )
        if n_without:
            sentences.append(f"{n_without:,} rows have no group; they count in the whole, but in none of the groups.")
        return sentences


@dataclass(frozen=True, eq=False)
class _MomentStudy(_Study):
    """A study whose reports are numbers."""

    numbers: Numbers

    def _estimate(self, rows: NDArray[np.bool_], control: Codes | None, weights: Array) -> Any:
        return estimate_moments(self.device, self.numbers, rows, weights)

    def _compliance(self, whole: DeviceEstimate) -> Difference | None:
        return None

    def _design_effect(self, rows: NDArray[np.bool_]) -> DesignEffect | None:
        if not self.device.is_list:
            return None
        return design_effect(self.device, self.numbers, rows, self.design or SampleDesign.of(len(rows)))

    def _warnings(
        self, estimates: Sequence[Any], compliance: Difference | None, n_without: int, empty: Sequence[str]
    ) -> list[str]:
        sentences = super()._warnings(estimates, compliance, n_without, empty)
        whole = estimates[0]
        error = math.sqrt(float((whole.contributions[:, -1] ** 2).sum()))
        if not self.device.is_list:
            if self.device.name != "item-sum":
                sentences.append(
                    "A multiplied amount bounds nothing: 0 stays 0, and large reports come from large amounts."
                )
            return sentences
        if whole.values[-1] < -SWAPPED * error:
            sentences.append(
                f"The long list has the smaller mean, by {-whole.values[-1] / error:.1f} standard errors: the samples may be "
                "swapped."
            )
        rows = whole.counted.rows
        effect = self._design_effect(rows)
        if effect is not None and effect.p < 0.05:
            sentences.append(
                f"The sensitive item seems to change answers to the others (design effect, p = {effect.p:.2g}): a joint share is "
                f"estimated at {effect.lowest:.3f}, and none can be below 0."
            )
        revealing = revealing_share(self.device, self.numbers, rows)
        if revealing > REVEALING:
            sentences.append(
                f"{revealing:.1%} of those with the long list counted nothing or everything, which tells their answer (floor and "
                "ceiling): such people may have answered otherwise."
            )
        return sentences


def _compliance(by_device: DeviceEstimate, device: DeviceDesign, level: float) -> Difference | None:
    """How far two samples that ask for the same share differ, each estimated alone by its law."""
    if len(device.samples) != 2 or device.opens or len(device.answers) != 2:
        return None
    alone = []
    for law, seen, people in zip(
        by_device.laws.laws, by_device.counted.frequencies, by_device.counted.sizes, strict=True
    ):
        single = SampleLaws.even([law])
        weights = single.weights(np.array([[0.0, 1.0]]), by_device.classes)
        share, variance = (
            estimate_shares_of(weights, [seen])[0],
            single.covariance(weights, by_device.classes)[0, 0] / people,
        )
        alone.append((float(share), float(variance)))
    (first, first_variance), (second, second_variance) = alone
    value, error = first - second, math.sqrt(max(first_variance + second_variance, 1e-300))
    margin = checked_level(level) * error
    names = [{"sample": str(sample.name)} for sample in device.samples]
    p = math.erfc(abs(value) / error / math.sqrt(2))
    low, high = max(value - margin, -1.0), min(value + margin, 1.0)
    return Difference(names[0], names[1], device.answers[1], value, error, low, high, p)


def _values(estimates: Sequence[DeviceEstimate]) -> Array:
    return np.concatenate([estimate.values for estimate in estimates])


def _by_size(value: str) -> tuple[int, float, str]:
    try:
        return 0, float(value), ""
    except ValueError:
        return 1, 0.0, value


class _Errors:
    """The joint errors of several estimates from one sample, and what is read from them."""

    def __init__(
        self,
        estimates: Sequence[DeviceEstimate],
        design: SampleDesign | None,
        level: float,
        repeated: Sequence[Array] = (),
    ) -> None:
        self._estimates, self._design, self._level = list(estimates), design, level
        self._starts = np.cumsum([0, *(len(estimate.values) for estimate in estimates)])
        linearised = design is not None or any(estimate.added is not None for estimate in estimates)
        n = len(estimates[0].counted.rows)
        self._sample = design or (SampleDesign.of(n) if linearised else None)
        if design is not None and design.repeats is not None:
            self._covariance = design.repeats.covariance(repeated, _values(estimates))
        else:
            self._covariance = self._linearised_covariance() if self._sample is not None else self._by_the_law()

    @property
    def in_words(self) -> str:
        return "for a population sampled at random" if self._design is None else self._design.in_words

    def _by_the_law(self) -> Array:
        """Groups are disjoint, hence independent; the whole holds them all and is compared with none."""
        total = np.zeros((self._starts[-1], self._starts[-1]))
        for start, end, estimate in zip(self._starts, self._starts[1:], self._estimates, strict=False):
            total[start:end, start:end] = estimate.covariance
        return total

    def _linearised_covariance(self) -> Array:
        assert self._sample is not None
        contributions = np.hstack([estimate.contributions for estimate in self._estimates])
        noise = None
        if self._sample.sampled.any():
            noise = np.zeros((self._sample.n_strata, self._starts[-1], self._starts[-1]))
            for start, end, estimate in zip(self._starts, self._starts[1:], self._estimates, strict=False):
                noise[:, start:end, start:end] = estimate.noise(self._sample)
        return self._sample.covariance(np.nan_to_num(contributions), noise)

    def equality(self, places: Sequence[int]) -> OverallTest:
        """A test that the yes has one share in all groups: by their laws at the common share, with a design by Wald."""
        answer = self._estimates[places[0]].n_answers - 1
        shares = np.array([self._estimates[place].values[answer] for place in places])
        freedom = len(shares) - 1
        if self._is_impossible(places):
            return OverallTest(None, freedom, None, None)
        if self._design is None and self._estimates[0].has_law:
            laws = [self._law(place, [answer]) for place in places]
            inside = float(np.clip(shares, 0, 1).mean())
            for _ in range(20):  # the common share, weighted by what each group tells of it
                precisions = np.array([1 / max(float(law.variance(np.full(1, inside))[0]), 1e-300) for law in laws])
                inside = float(np.clip(precisions @ shares / precisions.sum(), 0, 1))
            statistic = float(precisions @ (shares - inside) ** 2)
            return OverallTest(statistic, freedom, None, float(chdtrc(freedom, statistic)))
        at = [self._starts[place] + answer for place in places]
        contrasts = np.hstack([-np.ones((freedom, 1)), np.eye(freedom)])
        apart, covariance = contrasts @ shares, contrasts @ self._covariance[np.ix_(at, at)] @ contrasts.T
        statistic = float(apart @ np.linalg.solve(covariance, apart)) / freedom
        if self._design is None:
            return OverallTest(statistic * freedom, freedom, None, float(chdtrc(freedom, statistic * freedom)))
        second = max(self._design.degrees_of_freedom - freedom + 1, 1)
        statistic *= second / max(self._design.degrees_of_freedom, 1)
        return OverallTest(statistic, freedom, second, float(fdtrc(freedom, second, statistic)))

    def test(self, which: int, share: float) -> ShareTest:
        """The test of the last answer's share against another: counted where it can be, else in errors at that share."""
        estimate = self._estimates[which]
        answer = estimate.n_answers - 1
        value = float(estimate.values[answer])
        if self._design is not None or not estimate.has_law:
            error = self._error(self._starts[which] + answer)
            if self._design is None:
                return ShareTest(share, math.erfc(abs(value - share) / error / math.sqrt(2)), "Wald")
            return ShareTest(share, self._design.p_value((value - share) / error), "Wald, by the design")
        counted = estimate.exact_p(share)
        if counted is not None:
            return ShareTest(share, counted, "exact binomial")
        spread = math.sqrt(max(float(self._law(which, [answer]).variance(np.full(1, share))[0]), 1e-300))
        return ShareTest(share, math.erfc(abs(value - share) / spread / math.sqrt(2)), "score")

    def _is_impossible(self, places: Sequence[int]) -> bool:
        return any(self._estimates[place].impossibility for place in places)

    def _error(self, at: int) -> float:
        return math.sqrt(max(self._covariance[at, at], 0.0))

    def _quantile(self) -> float:
        return checked_level(self._level) if self._design is None else self._design.quantile(self._level)

    def shares(self, which: int) -> tuple[AnswerShare, ...]:
        estimate, start = self._estimates[which], self._starts[which]
        errors = [self._error(start + answer) for answer in range(estimate.n_answers)]
        ends = self._intervals(which, range(estimate.n_answers))
        return tuple(
            AnswerShare(name, float(value), float(held), error, low, high)
            for name, value, held, error, (low, high) in zip(
                estimate.names, estimate.values, estimate.constrained, errors, ends, strict=False
            )
        )

    def _intervals(self, which: int, places: Sequence[int]) -> list[tuple[float, float]]:
        """Intervals of shares by the device's own law, widened by the effect of the design and by Student's distribution."""
        estimate, at = self._estimates[which], list(places)
        if estimate.impossibility:
            return [(0.0, 1.0)] * len(at)
        if not estimate.has_law:
            return [self._wald_ends(which, place) for place in at]
        values, errors = estimate.values[at], np.array([self._error(self._starts[which] + place) for place in at])
        law = self._law(which, at)
        # Everybody was asked, and directly: nothing is left to chance.
        is_certain = (errors <= ROUNDING) & (self._sample is not None and bool((self._sample.sampled == 1).all()))
        effect = self._effect(law, values, errors)
        ends = ShareLaw(law.constant * effect, law.slope * effect, law.curvature * effect).interval(values, self._level)
        held = estimate.constrained[at]
        low, high = np.where(is_certain, held, ends.low), np.where(is_certain, held, ends.high)
        return [(float(lower), float(upper)) for lower, upper in zip(low, high, strict=True)]

    def _wald_ends(self, which: int, place: int) -> tuple[float, float]:
        """An interval from the error alone, within [0, 1] where it is of a share."""
        estimate, error = self._estimates[which], self._error(self._starts[which] + place)
        value, quantile = float(estimate.values[place]), self._quantile()
        if estimate.is_share(place):
            return interval_within(value, error, quantile)
        return value - quantile * error, value + quantile * error

    def _law(self, which: int, places: Sequence[int]) -> ShareLaw:
        return ShareLaw(*np.array([self._estimates[which].variance_law(place) for place in places]).T)

    def _effect(self, law: ShareLaw, values: Array, errors: Array) -> Array:
        """What the law's variances are multiplied by; law and errors are compared at the same shares."""
        if self._sample is None:
            return np.ones(len(values))
        plain = law.variance(np.clip(values, 0, 1))
        has_variance = (errors > ROUNDING) & (plain > 0)
        effect = np.divide(errors**2, plain, out=np.ones(len(values)), where=has_variance)
        return effect * (self._quantile() / checked_level(self._level)) ** 2

    def parameters(self, which: int) -> dict[str, OpenParameter]:
        estimate, start = self._estimates[which], self._starts[which]
        named = {}
        for at in range(estimate.n_answers, len(estimate.values)):
            value, held = estimate.values[at], estimate.constrained[at]
            if not np.isfinite(value):
                named[estimate.names[at]] = OpenParameter(None, None, float(held) if np.isfinite(held) else None)
                continue
            error = self._error(start + at)
            ends = interval_within(float(value), error, self._quantile())
            if estimate.is_share(at):
                (ends,) = self._intervals(which, [at])
            named[estimate.names[at]] = OpenParameter(float(value), error, float(held), *ends)
        return named

    def group(self, which: int, answers: Mapping[str, str]) -> GroupPrevalence:
        return GroupPrevalence(answers, self._estimates[which].counted.n, self.shares(which), self.parameters(which))

    def difference(self, which: int, against: int, answers: Mapping[str, str], others: Mapping[str, str]) -> Difference:
        """The difference between the shares of the last answer, the yes."""
        answer = self._estimates[which].n_answers - 1
        first, second = self._starts[which] + answer, self._starts[against] + answer
        value = float(self._estimates[which].values[answer] - self._estimates[against].values[answer])
        c = self._covariance
        error = math.sqrt(max(c[first, first] + c[second, second] - 2 * c[first, second], 1e-300))
        has_law = self._estimates[which].has_law
        spread = error if self._design is not None or not has_law else self._spread_if_equal(which, against, answer)
        p = (
            math.erfc(abs(value) / spread / math.sqrt(2))
            if self._design is None
            else self._design.p_value(value / error)
        )
        name = self._estimates[which].names[answer]
        if self._is_impossible([which, against]):
            return Difference(answers, others, name, value, error, -1.0, 1.0, None)
        margin = self._quantile() * error
        low, high = self._difference_ends(which, against, answer) if has_law else (value - margin, value + margin)
        return Difference(answers, others, name, value, error, low, high, p)

    def _spread_if_equal(self, which: int, against: int, answer: int) -> float:
        """The error of a difference were there none: both have the share that they tell together, by their own laws."""
        laws = [self._law(group, [answer]) for group in (which, against)]
        shares = np.array([self._estimates[group].constrained[answer] for group in (which, against)])
        precisions = np.array([1 / max(float(law.variance(np.full(1, shares.mean()))[0]), 1e-300) for law in laws])
        common = np.full(1, precisions @ shares / precisions.sum())
        return math.sqrt(max(sum(float(law.variance(common)[0]) for law in laws), 1e-300))

    def _difference_ends(self, which: int, against: int, answer: int) -> tuple[float, float]:
        """The ends of a difference from those of the two shares, which know the edges (Newcombe 1998; Zou 2007)."""
        ends = [self._intervals(group, [answer])[0] for group in (which, against)]
        shares = [
            min(max(float(self._estimates[group].values[answer]), low), high)
            for group, (low, high) in zip((which, against), ends, strict=True)
        ]
        first, second = self._starts[which] + answer, self._starts[against] + answer
        together = self._covariance[first, second] / max(self._error(first) * self._error(second), 1e-300)
        return difference_ends((shares[0], *ends[0]), (shares[1], *ends[1]), min(max(float(together), -1.0), 1.0))
