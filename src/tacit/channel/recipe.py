"""Channels by name and parameters: what a scheme document holds, before the size of a group is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.channel.registry import kind
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.channel.base import Channel

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
        channel_kind = kind(self.kind)
        missing = [name for name in channel_kind.required if name not in self.parameters]
        unknown = [name for name in self.parameters if name not in channel_kind.required + channel_kind.optional]
        if missing or unknown:
            wanted = ", ".join((*channel_kind.required, *(f"{name} (optional)" for name in channel_kind.optional)))
            wrong = f"lacks {missing[0]!r}" if missing else f"does not take {unknown[0]!r}"
            raise InvalidInput(f"The channel {self.kind!r} {wrong}. It takes: {wanted}.")
        return channel_kind.make(tuple(shape), self.parameters)

    @classmethod
    def of(cls, channel: Channel) -> Recipe:
        """The recipe that makes this channel again."""
        return cls(channel.kind, channel.parameters)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Recipe:
        if not isinstance(document, Mapping) or not isinstance(document.get("kind"), str):
            raise InvalidInput(f"A channel must be an object with a kind, not {document!r}.")
        return cls(document["kind"], {name: value for name, value in document.items() if name != "kind"})


def _no_parameters(shape: Shape, gamma: float) -> None:
    return None


def _nothing_open(shape: Shape, gamma: float) -> Sequence[Parameters]:
    return ({},)


@dataclass(frozen=True)
class Kind:
    """What the registry knows of a kind of channel.

    `make` builds a channel from a shape and the parameters of a document; `recipe` is how a user asks for one;
    `for_amplification` gives the parameters that tell most within an amplification gamma, or None if there are none.
    """

    make: Callable[[Shape, Parameters], Channel]
    recipe: Callable[..., Recipe]
    required: tuple[str, ...]
    for_amplification: Callable[..., Parameters | None] = _no_parameters
    optional: tuple[str, ...] = ()
    # Parameters that a privacy demand leaves open, such as the K of cut-and-paste: everything that may be chosen.
    choices: Callable[[Shape, float], Sequence[Parameters]] = _nothing_open
    # Another kind that tells at least as much under every demand.
    no_better_than: str | None = None

    @property
    def follows_demands(self) -> bool:
        """Whether it has parameters for an amplification at all; a matrix is found by a search."""
        return self.for_amplification is not _no_parameters


def for_amplification(name: str, shape: Shape, gamma: float, **chosen: Any) -> Recipe | None:
    """The channel of this kind that tells most within an amplification; None if the kind has none.

    Parameters that are `chosen` already, such as the K of cut-and-paste, are kept.
    """
    parameters = kind(name).for_amplification(tuple(shape), gamma, **chosen)
    return None if parameters is None else Recipe(name, parameters)
