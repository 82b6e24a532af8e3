"""The numbers a channel is designed for: shares, a mean, cumulative shares, contrasts, or several of them (FORMULAS 16)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.numbers import answer_numbers
from tacit.schema import Attribute

Matrix = NDArray[np.float64]

FORMS = "shares:a, mean:a, cumulative:a or contrast:a:much=1,none=-1"


@dataclass(frozen=True, eq=False)
class WantedNumbers:
    """Numbers to estimate, each a weighted sum of the shares of the answers, with importances that sum to one.

    A mean is in units of the range of its numbers, so that it can stand beside shares.
    """

    text: str  # as it was asked for
    weights: Matrix  # [number, answer]
    importances: Matrix

    def to_document(self) -> dict[str, Any]:
        return {"text": self.text, "weights": self.weights.tolist(), "importances": self.importances.tolist()}

    @property
    def is_of_shares(self) -> bool:
        """Whether it is the shares of all answers alike, the purpose of a front that states none."""
        return self.text == "shares"


def wanted_shares(n_answers: int) -> WantedNumbers:
    """The shares of all answers, alike in importance."""
    return WantedNumbers("shares", np.eye(n_answers), np.full(n_answers, 1 / n_answers))


def wanted_from_document(document: Any) -> WantedNumbers | None:
    """The purpose written by `WantedNumbers.to_document`; None for the shares of all answers."""
    if document == "shares":
        return None
    return WantedNumbers(str(document["text"]), np.array(document["weights"]), np.array(document["importances"]))


def split_terms(purpose: str) -> list[str]:
    """The terms of a purpose, which are joined by " + "."""
    return [text.strip() for text in re.split(r"\s\+\s", purpose.strip())]


def parsed_terms(purpose: str) -> list[tuple[float, str, str]]:
    """Importance, kind and what it is about of each term of a purpose.

    >>> parsed_terms("2*mean:stress + shares:stress")
    [(2.0, 'mean', 'stress'), (1.0, 'shares', 'stress')]
    """
    terms = []
    for text in split_terms(purpose):
        factor, star, wanted = text.rpartition("*")
        kind, _, about = wanted.strip().partition(":")
        try:
            importance = float(factor) if star else 1.0
        except ValueError:
            importance = -1.0
        if not 0 < importance < np.inf:
            raise InvalidInput(f"The importance in {text!r} is {factor.strip()!r}; give a number above 0: 2*mean:a.")
        if kind not in BUILDERS:
            raise InvalidInput(f"A purpose is {FORMS}, or several joined by ' + '; {text!r} is none of them.")
        terms.append((importance, kind, about.strip()))
    return terms


def named_attribute(purpose: str) -> str | None:
    """The attribute that a purpose names first; None where it names none."""
    return next((name for _, kind, about in parsed_terms(purpose) if (name := split_name(kind, about)[0])), None)


def split_name(kind: str, about: str) -> tuple[str, str]:
    """The attribute's name and the weights of a contrast; either may be left out."""
    if kind != "contrast":
        return about, ""
    name, colon, weights = about.rpartition(":")
    return (name, weights) if colon else ("", about)


def wanted_numbers(purpose: str, attribute: Attribute) -> WantedNumbers:
    """The numbers that a purpose wants of one attribute; its terms may leave out the attribute's name.

    >>> attribute = Attribute("stress", ("0", "1", "2"), ordered=True)
    >>> wanted_numbers("mean", attribute).weights
    array([[0. , 0.5, 1. ]])
    """
    weights, importances, kinds = [], [], set()
    for importance, kind, about in parsed_terms(purpose):
        name, rest = split_name(kind, about)
        if name and name != attribute.name:
            raise UnknownName("Attribute", name, [attribute.name])
        rows = BUILDERS[kind](attribute, rest)
        weights.append(rows)
        importances.append(np.full(len(rows), importance / len(rows)))
        kinds.add(kind)
    together = np.concatenate(importances)
    text = "shares" if kinds == {"shares"} else purpose.strip()
    return WantedNumbers(text, np.vstack(weights), together / together.sum())


def _share_rows(attribute: Attribute, _: str) -> Matrix:
    return np.eye(attribute.size)


def _mean_row(attribute: Attribute, _: str) -> Matrix:
    numbers = answer_numbers(attribute)
    if np.ptp(numbers) == 0:
        raise InvalidInput(f"All answers of {attribute.name!r} have the number {numbers[0]:g}, so their mean is known.")
    return ((numbers - numbers.min()) / np.ptp(numbers))[None]


def _cumulative_rows(attribute: Attribute, _: str) -> Matrix:
    return np.tri(attribute.size - 1, attribute.size)


def _contrast_row(attribute: Attribute, text: str) -> Matrix:
    row = np.zeros(attribute.size)
    for pair in text.split(","):
        answer, equals, weight = pair.rpartition("=")
        if not equals:
            raise InvalidInput(f"A contrast gives weights to answers, such as contrast:much=1,none=-1, not {text!r}.")
        if answer.strip() not in attribute.answers:
            raise UnknownName("Answer", answer.strip(), attribute.answers)
        try:
            row[attribute.answers.index(answer.strip())] = float(weight)
        except ValueError:
            raise InvalidInput(f"The weight of {answer.strip()!r} in a contrast is a number, not {weight!r}.") from None
    if np.ptp(row) == 0:
        raise InvalidInput(f"The contrast {text!r} gives every answer the same weight, so it is known beforehand.")
    return row[None]


BUILDERS = {"shares": _share_rows, "mean": _mean_row, "cumulative": _cumulative_rows, "contrast": _contrast_row}
