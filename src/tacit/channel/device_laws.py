"""The law of each device: the chance of every report, given who answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit import channel as recipes
from tacit.channel.base import Array
from tacit.channel.dense import even_mixture, mixture_matrix, warner_keep
from tacit.channel.device_parameters import Given, chance_rows, exact_chance, exact_chances, whole_number
from tacit.channel.recipe import Recipe
from tacit.errors import InvalidInput

YES_NO = ("no", "yes")
Chances = dict[str, Any]


@dataclass(frozen=True, eq=False)
class DeviceLaw:
    """What one sample's chances make of a device."""

    chances: Chances
    matrix: Array
    reports: tuple[str, ...]
    recipe: Recipe | None
    classes: tuple[str, ...] = ()
    shares: Array | None = None
    opens: Mapping[str, tuple[Array, Array]] | None = None


def _two_by_two(yes_given_no: Fraction, yes_given_yes: Fraction) -> Array:
    no, yes = float(yes_given_no), float(yes_given_yes)
    return np.array([[1 - no, 1 - yes], [no, yes]])


def _binary(chances: Chances, no: Fraction, yes: Fraction, reports: Sequence[str] = YES_NO) -> DeviceLaw:
    """A yes/no device: the chance of its second report for those who do not carry the trait, and for those who do."""
    law = _two_by_two(no, yes)
    labels = None if tuple(reports) == YES_NO else reports
    return DeviceLaw(chances, law, tuple(reports), recipes.matrix(law.tolist(), labels))


def _warner(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p = exact_chance("p", given["p"])
    if len(answers) == 2:
        law = _binary({"p": p}, 1 - p, p)
        return DeviceLaw(law.chances, law.matrix, answers, recipes.warner(float(p)))
    n = len(answers)
    return DeviceLaw({"p": p}, even_mixture(n, float(warner_keep(n, p))), answers, recipes.warner(float(p)))


def _mixture(chances: Chances, keep: Fraction, otherwise: Sequence[Fraction], answers: tuple[str, ...]) -> DeviceLaw:
    """The truth with chance `keep`, else an answer drawn from `otherwise`, which sums to one."""
    personal = [float(share) for share in otherwise]
    matrix = mixture_matrix(float(keep), np.array(personal))
    return DeviceLaw(chances, matrix, answers, recipes.mixture(float(keep), personal))


def _unrelated_question(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p = exact_chance("p", given["p"])
    if "y" not in given:
        return _unrelated_unknown(p, answers)
    shares = exact_chances("y", given["y"] if isinstance(given["y"], str | Sequence) else [given["y"]])
    if len(shares) == 1 and len(answers) == 2:
        shares = [1 - shares[0], shares[0]]
    if len(shares) != len(answers) or abs(sum(shares, Fraction(0)) - 1) > Fraction(1, 10**6):
        raise InvalidInput(
            f"y is {given['y']!r}; it must be the known share of the harmless question's yes, or one share for each of "
            f"{len(answers)} answers, which sum to 1."
        )
    y = shares[1] if len(answers) == 2 else tuple(shares)
    return _mixture({"p": p, "y": y}, p, [share / sum(shares) for share in shares], answers)


def _unrelated_unknown(p: Fraction, answers: tuple[str, ...]) -> DeviceLaw:
    """Who carries the trait and who answers the harmless question with yes: four classes, asked in two samples."""
    if len(answers) > 2:
        raise InvalidInput("The unrelated question without a known y asks for yes or no. Give y, one share per answer.")
    carries, harmless = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    yes = float(p) * carries + float(1 - p) * harmless
    classes = ("no, harmless no", "no, harmless yes", "yes, harmless no", "yes, harmless yes")
    shares = np.array([1 - carries, carries], dtype=np.float64)
    opens = {"y": (harmless.astype(np.float64), np.ones(4))}
    return DeviceLaw({"p": p}, np.array([1 - yes, yes]), answers, None, classes, shares, opens)


def _forced_response(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    truth = exact_chance("truth", given["truth"])
    if "yes" not in given and len(answers) == 2:
        raise InvalidInput("The device 'forced-response' needs yes, the chance of a forced yes: truth=2/3,yes=1/6.")
    rest = 1 - truth
    if "yes" not in given:
        return _mixture({"truth": truth}, truth, [Fraction(1, len(answers))] * len(answers), answers)
    forced = exact_chances("yes", given["yes"] if isinstance(given["yes"], str | Sequence) else [given["yes"]])
    if len(forced) == 1 and len(answers) == 2:
        forced = [rest - forced[0], forced[0]]
    if (
        len(forced) != len(answers)
        or any(chance < 0 for chance in forced)
        or abs(sum(forced, Fraction(0)) - rest) > Fraction(1, 10**6)
    ):
        raise InvalidInput(
            f"truth = {truth} leaves {rest} for forced answers, but yes is {given['yes']!r}. Give the chance of a forced "
            "yes, at most what is left; with more than two answers one chance for each, which sum to what is left."
        )
    chances = {"truth": truth, "yes": forced[1] if len(answers) == 2 else tuple(forced)}
    even = [Fraction(1, len(answers))] * len(answers)
    return _mixture(chances, truth, [chance / rest for chance in forced] if rest else even, answers)


def _crosswise(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p = exact_chance("p", given["p"])
    return _binary({"p": p}, 1 - p, p, ("different", "same"))


def _triangular(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p = exact_chance("p", given["p"])
    return _binary({"p": p}, p, Fraction(1), ("neither", "at least one"))


def _mangat(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p = exact_chance("p", given["p"])
    return _binary({"p": p}, 1 - p, Fraction(1))


def _disguised_response(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p = exact_chance("p", given["p"])
    return _binary({"p": p}, 1 - p, p, ("black", "red"))


def _mirrored_question(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p = exact_chance("p", given["p"])
    return _binary({"p": p}, 1 - p, p)


def _kuk(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p1, p2 = exact_chance("p1", given["p1"]), exact_chance("p2", given["p2"])
    k = whole_number("k, the number of draws,", given.get("k", 1))
    drawn = range(k + 1)
    columns = [[math.comb(k, red) * p**red * (1 - p) ** (k - red) for red in drawn] for p in (p2, p1)]
    matrix = np.array([[float(chance) for chance in column] for column in columns]).T
    reports = tuple(str(red) for red in drawn)
    return DeviceLaw({"p1": p1, "p2": p2, "k": k}, matrix, reports, recipes.matrix(matrix.tolist(), reports))


def _cheating(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p, no = exact_chance("p", given["p"]), exact_chance("no", given.get("no", 0))
    if p + no > 1:
        raise InvalidInput(
            f"p = {p} and no = {no}, the chances of a forced yes and a forced no, sum to more than 1. For example: "
            "p=1:1/6,2:1/2,no=1:1/2,2:1/6."
        )
    yes = np.array([float(p), float(1 - no), 0.0])
    shares = np.array([[1.0, 0, 0], [0, 1, 0]])
    opens = {"cheaters": (np.array([0.0, 0, 1]), np.ones(3))}
    classes = ("no", "yes", "cheater")
    chances = {"p": p} | ({"no": no} if no else {})
    return DeviceLaw(chances, np.array([1 - yes, yes]), YES_NO, None, classes, shares, opens)


def _lie_detector(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    p = exact_chance("p", given["p"])
    yes = np.array([float(1 - p), 1.0, 0.0])
    shares = np.array([[1.0, 0, 0], [0, 1, 1]])
    opens = {"t": (np.array([0.0, 1, 0]), np.array([0.0, 1, 1]))}
    classes = ("no", "yes, honest", "yes, denies")
    return DeviceLaw({"p": p}, np.array([1 - yes, yes]), YES_NO, None, classes, shares, opens)


def _matrix(given: Mapping[str, Given], answers: tuple[str, ...]) -> DeviceLaw:
    rows = chance_rows(given["rows"], len(answers))
    named = given.get("reports")
    labels = [label.strip() for label in named.split(",")] if isinstance(named, str) else named
    if labels is None and len(rows) != len(answers):
        labels = [str(number) for number in range(len(rows))]
    built = recipes.matrix(rows, labels)
    law = built.build((len(answers),)).matrix
    return DeviceLaw({"rows": rows}, law, tuple(labels or answers), built)


LAWS: dict[str, Callable[[Mapping[str, Given], tuple[str, ...]], DeviceLaw]] = {
    "warner": _warner,
    "unrelated-question": _unrelated_question,
    "forced-response": _forced_response,
    "crosswise": _crosswise,
    "triangular": _triangular,
    "mangat": _mangat,
    "kuk": _kuk,
    "mirrored-question": _mirrored_question,
    "disguised-response": _disguised_response,
    "cheating-detection": _cheating,
    "stochastic-lie-detector": _lie_detector,
    "extended-crosswise": _crosswise,
    "matrix": _matrix,
}
