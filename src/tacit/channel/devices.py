"""The devices by which sensitive questions are asked: dice, cards and birthdays, under the names of the literature.

Each is a channel, or two samples with a channel each. A function of this module gives the device with its chances; it
goes wherever a channel goes, and `tacit.prevalence` analyses what was collected with it.

>>> from tacit import devices
>>> crosswise = devices.crosswise(p="1/4")
>>> crosswise.reports
('different', 'same')
>>> round(crosswise.build((2,)).amplification, 9)
3.0
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.channel.base import Array
from tacit.channel.device_catalogue import DEVICES, Device
from tacit.channel.device_laws import LAWS, YES_NO, Chances, DeviceLaw
from tacit.channel.device_parameters import DIRECT, Given, by_sample, read_parameters
from tacit.channel.recipe import Recipe
from tacit.errors import InvalidInput, NotEstimable, UnknownName

if TYPE_CHECKING:
    from tacit.channel.base import Channel

__all__ = [
    "DEVICES",
    "Device",
    "DeviceDesign",
    "Sample",
    "cheating_detection",
    "crosswise",
    "design",
    "disguised_response",
    "extended_crosswise",
    "forced_response",
    "kuk",
    "mangat",
    "matrix",
    "mirrored_question",
    "stochastic_lie_detector",
    "triangular",
    "unrelated_question",
    "warner",
]


@dataclass(frozen=True, eq=False)
class Sample:
    """Respondents who were asked with the same chances: ``matrix[report, class]`` is their law."""

    name: str | None
    chances: Chances
    matrix: Array


@dataclass(frozen=True, eq=False)
class DeviceDesign:
    """A device with its chances: the law of the reports of each sample.

    People are told apart into `classes`: their answers, split further where a device tells more (who cheats, who
    denies). ``shares @ classes`` are the shares of the answers; each open parameter is a ratio of two such sums.
    """

    device: Device
    answers: tuple[str, ...]
    reports: tuple[str, ...]
    classes: tuple[str, ...]
    samples: tuple[Sample, ...]
    shares: Array  # answers x classes
    opens: Mapping[str, tuple[Array, Array]]  # name: classes counted, among which classes
    direct: str | None  # the sample that was asked directly
    single: Recipe | None  # the channel, where the device is one

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def label(self) -> str:
        """The name with its chances, such as ``crosswise p=1/4``, and those of several samples by their names."""
        chances = []
        for name in self.samples[0].chances:
            values = [str(sample.chances.get(name)) for sample in self.samples]
            several = ",".join(f"{sample.name}:{value}" for sample, value in zip(self.samples, values, strict=True))
            chances.append(f"{name}={values[0] if len(set(values)) == 1 else several}")
        return f"{self.name} {','.join(chances)}"

    @property
    def recipe(self) -> Recipe:
        """The channel of the device, for a scheme."""
        if self.single is None:
            raise InvalidInput(
                f"The device {self.name!r} asks two samples with different chances, so it is not one channel and goes "
                "into no scheme. Analyse what was collected with it by `tacit prevalence`, or choose another device."
            )
        return self.single

    def build(self, shape: tuple[int, ...]) -> Channel:
        """The channel for an attribute with this number of answers."""
        return self.recipe.build(shape)

    @property
    def stacked_matrix(self) -> Array:
        """The laws of all samples, one above the other."""
        return np.concatenate([sample.matrix for sample in self.samples])

    def honest_law(self, sample: Sample) -> Array:
        """``matrix[report, answer]`` of those who follow the instructions: what the device itself protects."""
        first = [int(np.argmax(row)) for row in self.shares]
        return sample.matrix[:, first]

    @property
    def amplification(self) -> float:
        """How much more likely any report is under one answer than under another, the most over the samples."""
        laws = [self.honest_law(sample) for sample in self.samples]
        return max(_amplification(law) for law in laws)


def _amplification(law: Array) -> float:
    possible = law[law.max(axis=1) > 0]
    lowest = possible.min(axis=1)
    return float((possible.max(axis=1) / lowest).max()) if lowest.all() else math.inf


def design(
    name: str,
    parameters: str | Mapping[str, Given],
    answers: Sequence[str] = YES_NO,
) -> DeviceDesign:
    """A device by its name, with its parameters as text or as a mapping.

    Parameters
    ----------
    name : str
        Such as ``"crosswise"``; `tacit devices` lists them.
    parameters : str or mapping
        Its chances: ``"p=1/4"``, ``{"p": "1/4"}``; of two samples ``"p=1:1/6,2:5/6"``.
    answers : sequence of str
        The answers, where they are not no and yes.

    Returns
    -------
    DeviceDesign
        The device with its law.

    Raises
    ------
    UnknownName
        Where there is no such device.
    InvalidInput
        Where a parameter is missing, unknown or no chance.
    NotEstimable
        Where the reports would carry nothing.

    Examples
    --------
    >>> design("forced-response", "truth=2/3,yes=1/6").samples[0].matrix.round(4).tolist()
    [[0.8333, 0.1667], [0.1667, 0.8333]]
    """
    if not isinstance(name, str):
        raise InvalidInput(
            f"A device is named, such as 'warner', or made by tacit.devices; {type(name).__name__} is neither."
        )
    device = DEVICES.get(name)
    if device is None:
        raise UnknownName("Device", name, DEVICES)
    if not isinstance(parameters, str | Mapping):
        raise InvalidInput(
            f"The parameters of a device have names: write 'p={parameters}' or {{'p': {parameters!r}}}, not {parameters!r}."
        )
    given = read_parameters(parameters) if isinstance(parameters, str) else dict(parameters)
    given = {key: value for key, value in given.items() if value is not None}
    direct = given.pop(DIRECT, None)
    _checked_names(device, given)
    checked = _checked_answers(device, answers)
    laws = [(sample, LAWS[name](chances, checked)) for sample, chances in _per_sample(device, given)]
    made = _assemble_design(device, checked, laws, None if direct is None else str(direct))
    _checked_information(made)
    if name == "extended-crosswise":
        _checked_opposite(made)
    return made


def given_design(spec: str | DeviceDesign | tuple[str, Given]) -> DeviceDesign:
    """A device given as text (``"crosswise p=1/4"``), as a name with parameters, or as it is.

    >>> given_design("forced-response truth=.7,answers=never|once|often").answers
    ('never', 'once', 'often')
    """
    if isinstance(spec, DeviceDesign):
        return spec
    name, parameters = spec if isinstance(spec, tuple) else spec.strip().partition(" ")[::2]
    given = read_parameters(parameters) if isinstance(parameters, str) else dict(parameters)
    answers = given.pop("answers", None)
    return design(name, given) if answers is None else design(name, given, tuple(answers.split("|")))


def _checked_names(device: Device, given: Mapping[str, Given]) -> None:
    parameter_names = list(device.parameters)
    for name in given:
        if name not in parameter_names:
            raise InvalidInput(
                f"The device {device.name!r} has no parameter {name!r}. It takes {', '.join(parameter_names)}: {device.example}."
            )
    missing = [name for name in parameter_names if name not in given and name not in device.optional]
    if missing:
        raise InvalidInput(
            f"The device {device.name!r} needs {missing[0]}, {device.parameters[missing[0]]}. For example: "
            f"{device.example}."
        )


def _checked_answers(device: Device, answers: Sequence[str]) -> tuple[str, ...]:
    names = tuple(str(answer) for answer in answers)
    if len(names) < 2 or len(set(names)) < len(names):
        raise InvalidInput(f"A question needs at least two different answers, not {list(names)}.")
    if len(names) > 2 and not device.many_answers:
        several = ", ".join(other.name for other in DEVICES.values() if other.many_answers)
        raise InvalidInput(
            f"The device {device.name!r} asks for yes or no, but there are {len(names)} answers. For more answers: "
            f"{several}."
        )
    return names


def _per_sample(device: Device, given: Mapping[str, Given]) -> list[tuple[str | None, dict[str, Given]]]:
    """For each sample its parameters; one sample without a name where no parameter differs."""
    split = {name: parts for name, value in given.items() if (parts := by_sample(value)) is not None}
    needs_two = device.two_samples or (device.name == "unrelated-question" and "y" not in given)
    if not split:
        if needs_two:
            raise InvalidInput(_two_needed(device))
        return [(None, dict(given))]
    names = next(iter(split.values())).keys()
    for name, parts in split.items():
        if parts.keys() != names:
            raise InvalidInput(f"{name} names the samples {list(parts)}, another parameter {list(names)}.")
    if needs_two and len(names) != 2:
        raise InvalidInput(f"{len(names)} sample(s) are named: {', '.join(names)}. {_two_needed(device)}")
    return [(sample, {**given, **{name: split[name][sample] for name in split}}) for sample in names]


def _two_needed(device: Device) -> str:
    without = " without y" if device.name == "unrelated-question" else ""
    return (
        f"The device {device.name!r}{without} compares two samples: give each its own p by the sample's name, such as "
        "p=1:1/6,2:5/6, and the column that tells them apart (--sample)."
    )


def _assemble_design(
    device: Device, answers: tuple[str, ...], laws: Sequence[tuple[str | None, DeviceLaw]], direct: str | None
) -> DeviceDesign:
    first = laws[0][1]
    shares = np.eye(len(answers)) if first.shares is None else first.shares
    return DeviceDesign(
        device=device,
        answers=answers,
        reports=first.reports,
        classes=first.classes or answers,
        samples=tuple(Sample(name, law.chances, law.matrix) for name, law in laws),
        shares=shares,
        opens=first.opens or {},
        direct=direct,
        single=first.recipe if len(laws) == 1 and direct is None else None,
    )


def _checked_information(made: DeviceDesign) -> None:
    """Refuse chances under which the reports do not tell the shares apart."""
    matrix = made.stacked_matrix
    basis = np.linalg.svd(matrix)[2][: np.linalg.matrix_rank(matrix, tol=1e-9)]
    wanted = [*made.shares, *(weights for pair in made.opens.values() for weights in pair)]
    if all(np.allclose(vector @ basis.T @ basis, vector, atol=1e-7) for vector in wanted):
        return
    stated = "; ".join(_in_words(sample) for sample in made.samples)
    reason = (
        "both samples are asked alike, so their reports cannot be told apart"
        if len(made.samples) > 1
        else "every report is as likely whatever is true, so the reports carry nothing"
    )
    raise NotEstimable(f"With {stated} {reason}. Choose {made.device.example}, for example.")


def _checked_opposite(made: DeviceDesign) -> None:
    first, second = (sample.chances["p"] for sample in made.samples)
    if abs(first + second - 1) > Fraction(1, 1000):
        raise InvalidInput(
            f"The extended crosswise model asks one sample with p and the other with 1-p, but {first} and {second} do not "
            f"sum to 1. With {first} in one sample, the other needs {1 - first}."
        )


def _in_words(sample: Sample) -> str:
    chances = ", ".join(
        f"{name} = {value}" for name, value in sample.chances.items() if isinstance(value, Fraction | int)
    )
    return f"{chances or 'this matrix'}" + ("" if sample.name is None else f" (sample {sample.name})")


def _maker(name: str) -> Callable[..., DeviceDesign]:
    """The function that makes a device of the catalogue: its parameters are those of the device, in their order."""
    device = DEVICES[name]

    def make(*values: Any, **named: Any) -> DeviceDesign:
        given = signature.bind(*values, **named).arguments
        answers = given.pop("answers", YES_NO)
        return design(name, given, answers)

    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(key, kinds, default=None if key in device.optional else inspect.Parameter.empty)
        for key in device.parameters
    ]
    if device.many_answers:
        parameters.append(inspect.Parameter("answers", kinds, default=YES_NO))
    signature = inspect.Signature(parameters, return_annotation="DeviceDesign")
    meanings = "".join(
        f"    {key} : number or str\n        {why[0].upper()}{why[1:]}.\n" for key, why in device.parameters.items()
    )
    if device.many_answers:
        meanings += "    answers : sequence of str\n        The answers, where they are not no and yes.\n"
    source = f" ({device.source})" if device.source else ""
    make.__doc__ = f"""{device.title}{source}: {device.law}.

    Parameters
    ----------
{meanings}
    Returns
    -------
    DeviceDesign
        The device with its law, which goes wherever a channel or a device is asked for.

    Raises
    ------
    NotEstimable
        Where the reports would carry nothing.
    """
    make.__name__ = make.__qualname__ = name.replace("-", "_")
    make.__signature__ = signature  # type: ignore[attr-defined]
    return make


warner = _maker("warner")
unrelated_question = _maker("unrelated-question")
forced_response = _maker("forced-response")
crosswise = _maker("crosswise")
triangular = _maker("triangular")
mangat = _maker("mangat")
kuk = _maker("kuk")
mirrored_question = _maker("mirrored-question")
disguised_response = _maker("disguised-response")
cheating_detection = _maker("cheating-detection")
stochastic_lie_detector = _maker("stochastic-lie-detector")
extended_crosswise = _maker("extended-crosswise")
matrix = _maker("matrix")
