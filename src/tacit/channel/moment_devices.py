"""Devices whose reports are numbers: scrambled amounts, item sums and list experiments.

What they tell is a mean. Each report adds ``factor * (report - shift)`` to it, and nothing else of the device's law is needed:
of a scrambled amount ``E(Z|X) = slope X + shift``, of two samples the difference of their means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tacit.channel.device_catalogue import Device
from tacit.channel.device_parameters import Given, by_sample, exact_chance, exact_number, read_parameters, whole_number
from tacit.errors import InvalidInput, UnknownName

_MEAN = "the mean of the numbers that are drawn"


def _amount(name: str, title: str, source: str, law: str, parameters: Mapping[str, str], example: str) -> Device:
    return Device(name, title, source, law, parameters, example)


MOMENT_DEVICES: dict[str, Device] = {
    device.name: device
    for device in (
        Device(
            "list-experiment",
            "List experiment (item count)",
            "Miller 1984; Blair and Imai 2012",
            "one sample counts J harmless items, the other J + 1 with the sensitive one: π is the difference of the means",
            {"items": "the number of items that each sample is shown"},
            "items=0:4,1:5",
            two_samples=True,
        ),
        Device(
            "item-sum",
            "Item sum",
            "Trappmann, Krumpal, Kirchner and Jann 2014",
            "one sample adds the sensitive amount to a harmless one, the other tells that one alone: the difference of the means",
            {
                "long": "the sample whose sum holds the sensitive amount",
                "short": "the sample that tells the harmless amount",
            },
            "long=1,short=0",
            two_samples=True,
        ),
        _amount(
            "scrambled",
            "Scrambled amount",
            "Warner 1971",
            "E(report | x) = slope x + shift",
            {"slope": "what the amount is multiplied by on average", "shift": "what is added to it on average"},
            "slope=1,shift=10",
        ),
        _amount("eichhorn-hayre", "Eichhorn and Hayre", "Eichhorn and Hayre 1983", "x S", {"s": _MEAN}, "s=1.2"),
        _amount(
            "bar-lev",
            "Bar-Lev, Bobovitch and Boukai",
            "Bar-Lev, Bobovitch and Boukai 2004",
            "x with chance p, else x S",
            {"p": "the chance of the amount itself", "s": _MEAN},
            "p=.6,s=1.2",
        ),
        _amount(
            "eriksson",
            "Eriksson's cards",
            "Eriksson 1973",
            "x with chance p, else the number of a card",
            {"p": "the chance of the amount itself", "mean": "the mean of the numbers on the other cards"},
            "p=.6,mean=30",
        ),
        _amount(
            "saha",
            "Saha's device",
            "Saha 2007",
            "W (x + U)",
            {"w": "the mean of the numbers W", "u": "the mean of the numbers U"},
            "w=1.1,u=20",
        ),
        _amount(
            "diana-perri-1",
            "Diana and Perri, first device",
            "Diana and Perri 2010",
            "x with chance p, else W (x + U)",
            {
                "p": "the chance of the amount itself",
                "w": "the mean of the numbers W",
                "u": "the mean of the numbers U",
            },
            "p=.6,w=1.1,u=20",
        ),
        _amount(
            "diana-perri-2",
            "Diana and Perri, second device",
            "Diana and Perri 2011",
            "W (β U + (1-β) x)",
            {"beta": "the weight of U", "w": "the mean of the numbers W", "u": "the mean of the numbers U"},
            "beta=.8,w=1.1,u=20",
        ),
        _amount(
            "chaudhuri-christofides",
            "Chaudhuri and Christofides",
            "Chaudhuri and Christofides 2013",
            "A x + B with drawn cards",
            {"a": "the mean of the factors A", "b": "the mean of the numbers B"},
            "a=1,b=30",
        ),
    )
}
# Slope and shift of a scrambled amount, from the means of the numbers that are drawn (FORMULAS of the devices above).
_LINES: dict[str, Callable[..., tuple[float, float]]] = {
    "scrambled": lambda slope, shift: (slope, shift),
    "eichhorn-hayre": lambda s: (s, 0.0),
    "bar-lev": lambda p, s: (p + (1 - p) * s, 0.0),
    "eriksson": lambda p, mean: (p, (1 - p) * mean),
    "saha": lambda w, u: (w, w * u),
    "diana-perri-1": lambda p, w, u: (p + (1 - p) * w, (1 - p) * w * u),
    "diana-perri-2": lambda beta, w, u: ((1 - beta) * w, beta * w * u),
    "chaudhuri-christofides": lambda a, b: (a, b),
}
_CHANCES = ("p", "beta")


class MomentSample(NamedTuple):
    """Respondents asked alike: a report adds ``factor * (report - shift)``; counts reach `most`."""

    name: str | None
    factor: float
    shift: float
    most: int | None = None


@dataclass(frozen=True, eq=False)
class MomentDesign:
    """A device that tells a mean, with its parameters; of two samples the first one holds what is asked for."""

    device: Device
    samples: tuple[MomentSample, ...]
    answers: tuple[str, ...]  # no and yes of a list experiment, one called mean of an amount
    chances: Mapping[str, str]

    direct = None

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def label(self) -> str:
        return f"{self.name} {','.join(f'{name}={value}' for name, value in self.chances.items())}"

    @property
    def opens(self) -> dict[str, object]:
        return {}

    @property
    def is_list(self) -> bool:
        return self.name == "list-experiment"


def moment_design(name: str, parameters: str | Mapping[str, Given]) -> MomentDesign:
    """A device of numbers by its name, with its parameters.

    >>> moment_design("eriksson", "p=.6,mean=30").samples[0].shift
    12.0
    """
    device = MOMENT_DEVICES.get(name)
    if device is None:
        raise UnknownName("Device", name, MOMENT_DEVICES)
    given = read_parameters(parameters) if isinstance(parameters, str) else dict(parameters)
    for key in given:
        if key not in device.parameters:
            parameter_names = ", ".join(device.parameters)
            raise InvalidInput(
                f"The device {name!r} has no parameter {key!r}. It takes {parameter_names}: {device.example}."
            )
    for key, meaning in device.parameters.items():
        if key not in given:
            raise InvalidInput(f"The device {name!r} needs {key}, {meaning}. For example: {device.example}.")
    chances = {key: str(value) for key, value in given.items()}
    if name == "list-experiment":
        return MomentDesign(device, _lists(given["items"], device), ("no", "yes"), chances)
    if name == "item-sum":
        samples = MomentSample(str(given["long"]), 1.0, 0.0), MomentSample(str(given["short"]), -1.0, 0.0)
        return MomentDesign(device, samples, ("mean",), chances)
    numbers = {key: _number(key, value) for key, value in given.items()}
    slope, shift = _LINES[name](**numbers)
    if abs(slope) < 1e-12:
        raise InvalidInput(
            f"With {', '.join(f'{key}={value}' for key, value in chances.items())} the slope is 0: the reports do not depend on "
            f"the amount. Choose other numbers, such as {device.example}."
        )
    return MomentDesign(device, (MomentSample(None, 1 / slope, shift),), ("mean",), chances)


def _number(name: str, value: Given) -> float:
    if name in _CHANCES:
        return float(exact_chance(name, value))
    number = exact_number(value)
    if number is None:
        raise InvalidInput(f"{name} is {value!r}; it must be a number.")
    return float(number)


def _lists(items: Given, device: Device) -> tuple[MomentSample, ...]:
    """The sample with the longer list, then the other one."""
    items_by_sample = by_sample(items)
    if items_by_sample is None or len(items_by_sample) != 2:
        raise InvalidInput(
            f"items is {items!r}; it must give the number of items shown to each of two samples: {device.example}."
        )
    counts = {
        sample: whole_number(f"The number of items of sample {sample}", many)
        for sample, many in items_by_sample.items()
    }
    short, long = sorted(counts, key=lambda sample: counts[sample])
    if counts[long] != counts[short] + 1:
        raise InvalidInput(
            f"The lists have {counts[short]} and {counts[long]} items; the longer one holds one more, the sensitive item."
        )
    return MomentSample(long, 1.0, 0.0, counts[long]), MomentSample(short, -1.0, 0.0, counts[short])
