"""What a regression reads: the clear covariates, and the law of every disguised variable's reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.channel.devices import DeviceDesign, given_design
from tacit.channel.moment_devices import MOMENT_DEVICES, MomentDesign, moment_design
from tacit.channel.scheme import Group, Questionnaire, Scheme
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation import device_reports
from tacit.estimation.device_estimates import INATTENTIVE
from tacit.estimation.device_reports import DIRECT, MISSING
from tacit.estimation.sample_laws import SampleLaws
from tacit.schema import RESERVED, Schema
from tacit.table import encode
from tacit.table.columns import as_text, missing_values
from tacit.table.study_columns import numbers_of

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


class OpenLaw(NamedTuple):
    """The law of one sample's reports, ``[report, answer]``, and how it changes with the open parameter."""

    fixed: Array
    opened: Array | None = None


@dataclass(frozen=True, eq=False)
class Disguised:
    """A group of variables that were disguised together, as far as the formula names them.

    ``chances[row, truth]`` is the law of each row's report over the joint answers of `names`; ``inverse`` the unbiased
    weights. A device may leave a parameter open, on which the law depends linearly (`opened`).
    """

    names: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]
    chances: Array
    inverse: Array | None
    opened: Array | None = None
    open_name: str | None = None
    why_not: str = ""  # why the chances are not those of these variables alone
    laws: Callable[[], Sequence[OpenLaw]] | None = None  # of whole samples, where they are known
    which: Codes | None = None  # the law of each row

    def asked_by(self, kept: NDArray[np.bool_]) -> list[tuple[OpenLaw, NDArray[np.bool_]]]:
        """Every law with those of the kept rows that were asked by it; none where laws of whole samples are not known."""
        if self.laws is None or self.which is None:
            return []
        which = self.which[kept]
        return [(law, which == number) for number, law in enumerate(self.laws())]

    def empty(self, rows: int) -> Disguised:
        """The same variables, in rows of which nothing is known yet."""
        unknown = np.full((rows, self.chances.shape[1]), np.nan)
        return replace(self, chances=unknown, inverse=unknown.copy(), laws=None, which=None)

    def with_rows(self, rows: Codes, piece: Disguised) -> Disguised:
        """These variables, with what another part tells of some rows."""
        assert self.inverse is not None and piece.inverse is not None  # noqa: PT018
        self.chances[rows], self.inverse[rows] = piece.chances, piece.inverse
        return self if not piece.why_not else replace(self, why_not=piece.why_not)


def by_device(table: pa.Table, name: str, device: DeviceDesign, sample: str | None, yes: str | None) -> Disguised:
    """A variable that was asked with a device of the literature."""
    read = device_reports.understand_reports(table, name, device.reports, yes)
    return by_codes(name, device, read.codes, device_reports.samples(table, sample, device))


def with_control_item(piece: Disguised, device: DeviceDesign, control: Codes, share: float) -> Disguised:
    """The variable if a share w answers it, and a control item of known prevalence, at random: w is left open.

    Of an attentive person the two reports are independent given the answer; of others every pair is as likely. The law of both
    is linear in w. Where the control item was not answered, the law is that of the variable's report alone.
    """
    if device.opens or len(device.samples) > 1 or device.direct is not None or len(device.answers) != 2:
        raise InvalidInput(
            f"The device {device.name!r} estimates more than one share by itself, or has several samples; a control item is "
            "understood for yes/no devices of one sample without open parameters."
        )
    reports = len(device.reports)
    expected = device.honest_law(device.samples[0]) @ np.array([1 - share, share])
    answered = control != MISSING
    if np.allclose(expected, 1 / reports):
        raise NotEstimable(
            f"With a prevalence of {share:g} the control item is answered as by chance, so it tells nothing about attention. Use "
            "a control item that nobody, or everybody, carries."
        )
    seen = np.bincount(control[answered], minlength=reports) / max(answered.sum(), 1)
    if float((seen - expected) @ (1 / reports - expected)) >= float(((1 / reports - expected) ** 2).sum()):
        raise NotEstimable("The control item looks as if everybody answered at random, so nothing can be estimated.")
    attentive = np.where(answered, expected[np.maximum(control, 0)], 1.0)[:, None] * piece.chances
    random = np.where(answered, reports**-2.0, 1 / reports)[:, None]
    return Disguised(piece.names, piece.answers, attentive, None, random - attentive, INATTENTIVE)


def by_codes(name: str, device: DeviceDesign, reports: Codes, which: Codes) -> Disguised:
    """A variable, from the code of each row's report (or `MISSING`) and the number of its sample (or `DIRECT`)."""
    codes, absent = np.maximum(reports, 0), reports == MISSING
    fixed, opened = _laws(device)
    chances = _rows(fixed, which, codes, np.eye(len(device.answers)))
    slopes = None if opened is None else _rows(opened, which, codes, np.zeros((len(device.answers),) * 2))
    chances[absent] = np.nan
    inverse = None
    if not device.opens:
        inverse = _rows([_undone(law) for law in fixed], which, codes, np.eye(len(device.answers)))
        inverse[absent] = np.nan
    open_name = next(iter(device.opens), None)
    laws = [OpenLaw(law, None if opened is None else opened[at]) for at, law in enumerate(fixed)]
    # Those asked directly follow one law more: their reports are the answers.
    laws.append(OpenLaw(np.eye(len(device.answers)), None if opened is None else np.zeros((len(device.answers),) * 2)))
    numbered = np.where(which == DIRECT, len(fixed), which)
    return Disguised((name,), (device.answers,), chances, inverse, slopes, open_name, laws=lambda: laws, which=numbered)


def _undone(law: Array) -> Array:
    """For each report the unbiased weights of the answers, ``[report, answer]``: of least variance for even answers."""
    samples, answers = SampleLaws.even([law]), law.shape[1]
    return samples.weights(np.eye(answers), np.full(answers, 1 / answers))[0].T


def _rows(laws: Sequence[Array], which: Codes, codes: Codes, direct: Array) -> Array:
    """The row of each report's law: that of its sample, or the answers themselves where it was asked directly."""
    values = np.empty((len(codes), laws[0].shape[1]))
    for number, law in enumerate(laws):
        here = which == number
        values[here] = law[codes[here]]
    asked = which == DIRECT
    if asked.any():
        values[asked] = direct[codes[asked]]
    return values


def _laws(device: DeviceDesign) -> tuple[list[Array], list[Array] | None]:
    """For each sample the law ``[report, answer]``, and how it changes with the parameter that the device leaves open.

    The open parameter is a share among the classes of one answer (honesty of carriers), or among everybody: then it
    takes from the class of the first answer (cheaters) or is the same for every answer (a harmless yes).
    """
    if not device.opens:
        return [device.honest_law(sample) for sample in device.samples], None
    if len(device.opens) > 1:
        raise InvalidInput(f"The device {device.name!r} leaves several parameters open, too many for a regression.")
    counted, among = next(iter(device.opens.values()))
    fixed, slopes = [], []
    for sample in device.samples:
        base, slope = np.zeros((2, len(device.reports), len(device.answers)))
        for answer, members in enumerate(device.shares > 0):
            off = np.flatnonzero(members & (counted == 0))
            on = np.flatnonzero(members & (counted > 0))
            base[:, answer] = sample.matrix[:, off[0]] if len(off) else sample.matrix[:, on[0]]
            if len(on) and len(off):
                slope[:, answer] = sample.matrix[:, on[0]] - sample.matrix[:, off[0]]
            elif among.all():  # who counts belongs to no answer: taken from those who give the first
                outside = np.flatnonzero(counted > 0)[0]
                slope[:, answer] = sample.matrix[:, outside] - sample.matrix[:, 0]
        fixed.append(base)
        slopes.append(slope)
    return fixed, slopes


def by_scheme(table: pa.Table, scheme: Scheme, names: Sequence[str]) -> list[Disguised]:
    """The groups of a scheme that disguise variables of the formula.

    Of a dealt scheme those rows count whose questionnaire asks for all of the variables that it disguises anywhere.
    """
    if not scheme.is_dealt:
        return [_group(table, group, names) for group in scheme.groups if set(group.names) & set(names)]
    grouped = {name for piece in scheme.questionnaires for group in piece.groups for name in group.names}
    wanted = [name for name in names if name in grouped]
    asking = [piece for piece in scheme.questionnaires if set(wanted) <= set(piece.attributes)]
    if not asking:
        raise NotEstimable(
            f"{', '.join(wanted)} are never asked together, so no regression can be fitted. Deal a questionnaire with all."
        )
    dealt = as_text(table.column(RESERVED))
    return _merge_questionnaires(table, [(piece, _rows_dealt(dealt, piece.name)) for piece in asking], wanted)


def _rows_dealt(dealt: pa.ChunkedArray, name: str) -> Codes:

    return np.flatnonzero(pc.fill_null(pc.equal(dealt, name), False).to_numpy())


def _merge_questionnaires(
    table: pa.Table, asking: Sequence[tuple[Questionnaire, Codes]], wanted: Sequence[str]
) -> list[Disguised]:
    """The parts of several questionnaires, each with its own law in its own rows; what was not asked is missing."""
    together: dict[tuple[str, ...], Disguised] = {}
    for questionnaire, rows in asking:
        mine = table.take(rows)
        parts = [_group(mine, group, wanted) for group in questionnaire.groups if set(group.names) & set(wanted)]
        if together and set(together) != {piece.names for piece in parts}:
            raise InvalidInput(
                "The questionnaires disguise these variables in different groups, which one regression cannot read. Fit the "
                "reports of one questionnaire at a time."
            )
        for piece in parts:
            known = together.get(piece.names) or piece.empty(table.num_rows)
            together[piece.names] = known.with_rows(rows, piece)
    return list(together.values())


def _group(table: pa.Table, group: Group, names: Sequence[str]) -> Disguised:

    kept = [axis for axis, name in enumerate(group.names) if name in names]
    channel, attributes = group.channel, [group.attributes[axis] for axis in kept]
    columns = group.report_attributes
    if len(kept) < len(group.names) and channel.has_marginals:
        channel = channel.marginal(kept)
        columns = channel.report_attributes(attributes)
    coded = encode(table, Schema(tuple(columns)), drop_others=True)
    reports = tuple(coded[column.name] for column in columns)
    chances, inverse = channel.chances(reports), channel.inverse(reports)
    whole, why_not = channel.shape, ""
    if len(whole) > len(kept):
        others = tuple(1 + axis for axis in range(len(whole)) if axis not in kept)
        inverse = inverse.reshape(-1, *whole).sum(axis=others).reshape(len(inverse), -1)
        why_not = (
            f"{', '.join(name for name in group.names if name not in names)} is disguised together with "
            f"{', '.join(a.name for a in attributes)}, and a {group.channel.kind} channel does not tell them apart"
        )
        chances = np.full_like(inverse, np.nan)
    names_kept = tuple(attribute.name for attribute in attributes)
    laws = None if why_not else lambda: [OpenLaw(channel.matrix)]
    which = np.zeros(len(inverse), dtype=np.intp)
    answers = tuple(a.answers for a in attributes)
    return Disguised(names_kept, answers, chances, inverse, why_not=why_not, laws=laws, which=which)


def clear_frame(table: pa.Table, names: Sequence[str]) -> Any:
    """The clear variables as a pandas frame: numbers where every value is one, else categories."""
    import pandas as pd

    return pd.DataFrame(
        {name: _values(name, table.column(name)) for name in names}, index=pd.RangeIndex(table.num_rows)
    )


def _values(name: str, column: pa.ChunkedArray) -> Any:
    numbers = numbers_of(name, column)
    if numbers is not None:
        return numbers
    values = np.array(as_text(column).to_pylist(), dtype=object)
    values[missing_values(column)] = None
    return values


def given_devices(given: Mapping[str, Any] | Sequence[str] | None) -> dict[str, DeviceDesign | MomentDesign]:
    """Devices by variable, from a mapping or from texts like ``"copied: crosswise p=1/4"``."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(name): _read_device(spec) for name, spec in given.items()}
    named = {}
    for text in [given] if isinstance(given, str) else given:
        name, colon, spec = text.partition(":")
        if not colon or not name.strip() or not spec.strip():
            raise InvalidInput(
                f"A device names its variable, its name and chances: 'copied: crosswise p=1/4', not {text!r}."
            )
        named[name.strip().strip("`")] = _read_device(spec)
    return named


def _read_device(spec: Any) -> DeviceDesign | MomentDesign:
    """A device of answers or of numbers, as text or as it is."""
    if isinstance(spec, MomentDesign):
        return spec
    name, _, parameters = spec.strip().partition(" ") if isinstance(spec, str) else ("", "", "")
    return moment_design(name, parameters) if name in MOMENT_DEVICES else given_design(spec)
