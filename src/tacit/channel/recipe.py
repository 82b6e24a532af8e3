"""Channels by name and parameters: what a scheme document holds, before the size of a group is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.channel.chances import (
    checked_chance,
    checked_distribution,
    checked_gamma,
    integer_weights,
    numerator,
    numerator_below,
)
from tacit.channel.flip import FlipChannel
from tacit.channel.matrix import MatrixChannel
from tacit.channel.mixture import MixtureChannel
from tacit.channel.onehot import CutAndPasteChannel, MaskChannel
from tacit.channel.protocol import Channel
from tacit.channel.randomized import randomized_gamma_diagonal
from tacit.channel.subset import SubsetChannel
from tacit.errors import InvalidInput, UnknownName

Shape = tuple[int, ...]
Parameters = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """How to make a channel for a group of any shape.

    >>> Recipe("warner", {"p": 0.6}).build((4,)).matrix[0].round(3).tolist()
    [0.6, 0.133, 0.133, 0.133]
    """

    kind: str
    parameters: Parameters

    def build(self, shape: Shape) -> Channel:
        """The channel for a group whose attributes have these numbers of answers."""
        if self.kind not in _KINDS:
            raise UnknownName("Channel kind", self.kind, _KINDS)
        make, required, optional = _KINDS[self.kind]
        missing = [name for name in required if name not in self.parameters]
        unknown = [name for name in self.parameters if name not in required + optional]
        if missing or unknown:
            wanted = ", ".join((*required, *(f"{name} (optional)" for name in optional)))
            wrong = f"lacks {missing[0]!r}" if missing else f"does not take {unknown[0]!r}"
            raise InvalidInput(f"The channel {self.kind!r} {wrong}. It takes: {wanted}.")
        return make(tuple(shape), self.parameters)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Recipe:
        if not isinstance(document, Mapping) or not isinstance(document.get("kind"), str):
            raise InvalidInput(f"A channel must be an object with a kind, not {document!r}.")
        return cls(document["kind"], {name: value for name, value in document.items() if name != "kind"})


def _warner(shape: Shape, parameters: Parameters) -> Channel:
    coin = numerator(checked_chance("p, the chance of the truth,", parameters["p"]))
    return MixtureChannel("warner", parameters, shape, coin, others=True)


def _uniform_perturbation(shape: Shape, parameters: Parameters) -> Channel:
    coin = numerator(checked_chance("q, the chance to keep the truth,", parameters["q"]))
    return MixtureChannel("uniform-perturbation", parameters, shape, coin)


def _gamma_diagonal(shape: Shape, parameters: Parameters) -> Channel:
    gamma = checked_gamma(parameters["gamma"])
    coin = numerator_below((Fraction(gamma) - 1) / (Fraction(gamma) + math.prod(shape) - 1))
    return MixtureChannel("gamma-diagonal", parameters, shape, coin)


def _mixture(shape: Shape, parameters: Parameters) -> Channel:
    coin = numerator(checked_chance("keep, the chance to keep the truth,", parameters["keep"]))
    personal = parameters.get("personal", "uniform")
    if personal == "uniform":
        return MixtureChannel("mixture", parameters, shape, coin)
    lists = _distributions(personal)
    sizes = shape if len(lists) > 1 or len(shape) == 1 else (math.prod(shape),)
    if len(lists) != len(sizes) or any(len(part) != size for part, size in zip(lists, sizes, strict=True)):
        raise InvalidInput(
            f"`personal` must hold one distribution for each of {len(shape)} attributes, of lengths {list(shape)}, or "
            f"one over all {math.prod(shape)} joint answers; its lengths are {[len(part) for part in lists]}."
        )
    weights = tuple(integer_weights(checked_distribution("`personal`", part)) for part in lists)
    return MixtureChannel("mixture", parameters, shape, coin, personal=weights)


def _distributions(personal: Any) -> Sequence[Sequence[float]]:
    """The distributions `personal` holds: one per attribute, or a single one."""
    if isinstance(personal, list | tuple) and personal:
        if all(isinstance(part, list | tuple) for part in personal):
            return personal
        if not any(isinstance(part, list | tuple) for part in personal):
            return [personal]
    raise InvalidInput(
        f"`personal` must be 'uniform', one distribution per attribute, or one over the joint domain, not {personal!r}."
    )


def _flip(shape: Shape, parameters: Parameters) -> Channel:
    return FlipChannel(shape, checked_chance("theta, the chance of the true record,", parameters["theta"]))


def _matrix(shape: Shape, parameters: Parameters) -> Channel:
    return MatrixChannel.from_chances(shape, parameters["matrix"], parameters.get("reports"))


def _mask(shape: Shape, parameters: Parameters) -> Channel:
    return MaskChannel(shape, checked_chance("p, the chance to keep a bit,", parameters["p"]))


def _cut_and_paste(shape: Shape, parameters: Parameters) -> Channel:
    rho = checked_chance("rho, the chance that an item enters,", parameters["rho"])
    return CutAndPasteChannel(shape, parameters["K"], rho, len(shape))


def _subset(shape: Shape, parameters: Parameters) -> Channel:
    return SubsetChannel(shape, parameters["size"], checked_gamma(parameters["gamma"]))


# kind: how it is made, the parameters it needs, the parameters it may have
_KINDS: dict[str, tuple[Callable[[Shape, Parameters], Channel], tuple[str, ...], tuple[str, ...]]] = {
    "warner": (_warner, ("p",), ()),
    "uniform-perturbation": (_uniform_perturbation, ("q",), ()),
    "gamma-diagonal": (_gamma_diagonal, ("gamma",), ()),
    "mixture": (_mixture, ("keep",), ("personal",)),
    "flip": (_flip, ("theta",), ()),
    "matrix": (_matrix, ("matrix",), ("reports",)),
    "mask": (_mask, ("p",), ()),
    "cut-and-paste": (_cut_and_paste, ("K", "rho"), ()),
    "randomized-gamma-diagonal": (randomized_gamma_diagonal, ("gamma", "alpha"), ()),
    "subset": (_subset, ("size", "gamma"), ()),
}

KINDS = tuple(_KINDS)


def warner(p: float) -> Recipe:
    """Report the truth with chance `p`, else another answer, all others alike (Warner 1965)."""
    return Recipe("warner", {"p": p})


def uniform_perturbation(q: float) -> Recipe:
    """Keep the truth with chance `q`, else report any answer, all alike (the truth included)."""
    return Recipe("uniform-perturbation", {"q": q})


def gamma_diagonal(gamma: float) -> Recipe:
    """The truth `gamma` times as likely as any other record (FRAPP's DET-GD)."""
    return Recipe("gamma-diagonal", {"gamma": gamma})


def mixture(keep: float, personal: Any = "uniform") -> Recipe:
    """Keep the truth with chance `keep`, else report a draw from `personal` (the unrelated question)."""
    plain = personal.tolist() if isinstance(personal, np.ndarray) else personal
    return Recipe("mixture", {"keep": keep, "personal": plain})


def flip(theta: float) -> Recipe:
    """Report the binary record with chance `theta`, else its opposite (multi-group randomized response)."""
    return Recipe("flip", {"theta": theta})


def matrix(chances: Any, reports: Sequence[str] | None = None) -> Recipe:
    """Any matrix ``chances[report][truth]``; `reports` names the reports where they are not the answers."""
    rows = [[float(chance) for chance in row] for row in chances]
    return Recipe("matrix", {"matrix": rows} | ({} if reports is None else {"reports": list(reports)}))


def mask(p: float) -> Recipe:
    """One bit per answer, each kept with chance `p` (MASK)."""
    return Recipe("mask", {"p": p})


def cut_and_paste(K: int, rho: float) -> Recipe:
    """Keep up to `K` answers of the record; any other item enters with chance `rho`."""
    return Recipe("cut-and-paste", {"K": K, "rho": rho})


def randomized_gamma_diagonal_recipe(gamma: float, alpha: float) -> Recipe:
    """Each respondent draws a diagonal within `alpha` of the gamma-diagonal one (FRAPP's RAN-GD)."""
    return Recipe("randomized-gamma-diagonal", {"gamma": gamma, "alpha": alpha})


def subset(size: int, gamma: float) -> Recipe:
    """A set of `size` answers; the sets that hold the truth are `gamma` times as likely as the others."""
    return Recipe("subset", {"size": size, "gamma": gamma})
