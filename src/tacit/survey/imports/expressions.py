"""Conditions as XLSForm and SurveyJS write them, read into alternatives: lists of comparisons that must all hold.

``and`` binds more strongly than ``or``, and what parentheses say goes before both. What is neither a comparison of a question
with answers nor made of such is not read at all: a condition that is carried over means the same as before.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# More alternatives than these are nobody's condition.
MOST_ALTERNATIVES = 64

_TOKEN = re.compile(
    r"""\s*(?:
    \$?\{(?P<name>[^{}]+)\}
    |'(?P<single>[^']*)'|"(?P<double>[^"]*)"
    |(?P<number>-?\d+(?:\.\d+)?)(?![\w.])
    |(?P<sign><=|>=|<>|!=|==|&&|\|\||[=<>!()\[\],])
    |(?P<word>[^\W\d][\w.-]*)
    )""",
    re.VERBOSE,
)
_SIGNS = {"==": "=", "<>": "!=", "&&": "and", "||": "or", "!": "not"}
_WORDS = {
    "equal": "=", "notequal": "!=", "less": "<", "lessorequal": "<=", "greater": ">", "greaterorequal": ">=",
    "contains": "contains", "contain": "contains", "notcontains": "lacks", "notcontain": "lacks", "anyof": "any",
    "noneof": "none", "allof": "all",
}  # fmt: skip
_SAME, _OTHER = ("=", "any"), ("!=", "none")
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_PAIRS = (("=", "!="), ("<", ">="), (">", "<="), ("any", "none"), ("contains", "lacks"))
_OPPOSITE = dict(_PAIRS) | {other: one for one, other in _PAIRS}


@dataclass(frozen=True)
class Comparison:
    """A question compared with values: whether its answer is one of them (`any`, `none`), or compares with the only one.

    `contains` and `lacks` are for questions with several answers; of such `=` would mean all that was chosen.
    """

    name: str
    sign: str
    values: tuple[str, ...]


Alternatives = list[tuple[Comparison, ...]]


class _Unread(Exception):
    """Something else than comparisons of questions with answers."""


def alternatives(text: str) -> Alternatives | None:
    """The alternatives of which one must hold whole; None where the condition says anything that is not read."""
    try:
        reader = _Reader(_tokens(text))
        read = reader.either(is_negated=False)
        reader.expect("end", "")
    except _Unread:
        return None
    return read


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise _Unread
        token_type, value = match.lastgroup, match[match.lastgroup]
        if token_type == "sign":
            value = _SIGNS.get(value, value)
        if token_type == "word" and value.lower() in ("and", "or", "not", *_WORDS):
            token_type, value = "sign", _WORDS.get(value.lower(), value.lower())
        tokens.append((token_type, value.strip() if token_type == "name" else value))
        at = match.end()
    return [*tokens, ("end", "")]


class _Reader:
    """Reads tokens by recursive descent; a negation goes down to the comparisons."""

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self._tokens, self._at = tokens, 0

    def _is(self, token_type: str, value: str) -> bool:
        return self._tokens[self._at] == (token_type, value)

    def expect(self, token_type: str, value: str | None = None) -> str:
        """The next token, which must be of this type, and this one where a value is given."""
        found_type, text = self._tokens[self._at]
        if found_type != token_type or value not in (None, text):
            raise _Unread
        self._at += 1
        return text

    def either(self, *, is_negated: bool) -> Alternatives:
        parts = [self._every(is_negated=is_negated)]
        while self._is("sign", "or"):
            self._at += 1
            parts.append(self._every(is_negated=is_negated))
        return _all(parts) if is_negated else _any(parts)

    def _every(self, *, is_negated: bool) -> Alternatives:
        parts = [self._one(is_negated=is_negated)]
        while self._is("sign", "and"):
            self._at += 1
            parts.append(self._one(is_negated=is_negated))
        return _any(parts) if is_negated else _all(parts)

    def _one(self, *, is_negated: bool) -> Alternatives:
        if self._is("sign", "not"):
            self._at += 1
            return self._one(is_negated=not is_negated)
        if self._is("sign", "("):
            self._at += 1
            inner = self.either(is_negated=is_negated)
            self.expect("sign", ")")
            return inner
        if self._is("word", "selected"):
            return self._read_selection(is_negated=is_negated)
        name, sign = self.expect("name"), self.expect("sign")
        if sign not in (*_OPPOSITE, "all"):
            raise _Unread
        return _read_comparison(name, sign, self._values(), is_negated=is_negated)

    def _read_selection(self, *, is_negated: bool) -> Alternatives:
        """XLSForm's ``selected(${question}, 'answer')``."""
        self._at += 1
        self.expect("sign", "(")
        name = self.expect("name")
        self.expect("sign", ",")
        value = self._value()
        self.expect("sign", ")")
        return _read_comparison(name, "any", [value], is_negated=is_negated)

    def _values(self) -> list[str]:
        if not self._is("sign", "["):
            return [self._value()]
        values: list[str] = []
        while not values or self._is("sign", ","):
            self._at += 1
            values.append(self._value())
        self.expect("sign", "]")
        return values

    def _value(self) -> str:
        token_type, text = self._tokens[self._at]
        if token_type not in ("single", "double", "number", "word"):
            raise _Unread
        self._at += 1
        return text


def _read_comparison(name: str, sign: str, values: Sequence[str], *, is_negated: bool) -> Alternatives:
    if sign == "all":
        each = [_read_comparison(name, "contains", [value], is_negated=is_negated) for value in values]
        return _any(each) if is_negated else _all(each)
    return [(Comparison(name, _OPPOSITE[sign] if is_negated else sign, tuple(values)),)]


def _any(parts: Sequence[Alternatives]) -> Alternatives:
    return _few([one for operand in parts for one in operand])


def _all(parts: Sequence[Alternatives]) -> Alternatives:
    together: Alternatives = [()]
    for operand in parts:
        together = _few([(*one, *other) for one, other in itertools.product(together, operand)])
    return together


def _few(listed: Alternatives) -> Alternatives:
    if len(listed) > MOST_ALTERNATIVES:
        raise _Unread
    return listed


# What the comparisons mean for questions whose answers are known.

# Of each question: the other tool's values, and the answers here.
Answers = Mapping[str, Mapping[str, str]]
Way = dict[str, list[str]]


def answers_after(text: str, answers: Answers, options: Answers) -> list[Way] | None:
    """Alternatives, each with the answers to some questions after which a condition holds; None where it cannot be said so.

    `options` are those of questions with several answers: one of those that are named must be chosen.
    """
    ways = []
    for alternative in alternatives(text) or [()]:
        way = _meet_conditions(alternative, answers, options)
        if not way:
            return None
        if all(way.values()):  # an alternative that leaves some question no answer never holds
            ways.append(way)
    return _join_ways(ways)


def asks_for_other_answers(text: str) -> bool:
    """Whether a condition says "not this answer", which other tools take to hold also where there was no answer at all."""
    return any(comparison.sign in _OTHER for way in alternatives(text) or [] for comparison in way)


def _meet_conditions(alternative: Sequence[Comparison], answers: Answers, options: Answers) -> Way | None:
    """The answers to each question after which all of these comparisons hold; None where one cannot be carried over."""
    way: Way = {}
    for condition in alternative:
        holding = (
            _chosen_answers(condition, options[condition.name])
            if condition.name in options
            else _holding(condition, answers.get(condition.name, {}))
        )
        # Two options of one question together have no short form.
        if holding is None or (condition.name in options and condition.name in way):
            return None
        way[condition.name] = [answer for answer in way.get(condition.name, holding) if answer in holding]
    return way


def _chosen_answers(one: Comparison, options: Mapping[str, str]) -> list[str] | None:
    """Options of which one is chosen."""
    if one.sign not in ("any", "contains") or not set(one.values) <= options.keys():
        return None
    return [options[value] for value in one.values]


def _holding(one: Comparison, answers: Mapping[str, str]) -> list[str] | None:
    """The answers for which a comparison holds."""
    if one.sign in (*_SAME, *_OTHER) and answers and set(one.values) <= answers.keys():
        return [name for value, name in answers.items() if (value in one.values) == (one.sign in _SAME)]
    numbers, bound = {name: as_number(value) for value, name in answers.items()}, as_number(one.values[0])
    if one.sign not in _ORDERS or bound is None or not numbers or None in numbers.values():
        return None
    return [name for name, number in numbers.items() if number is not None and _ORDERS[one.sign](number, bound)]


def as_number(given: Any) -> float | None:
    """A finite number; None for anything else."""
    try:
        number = float(given)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _join_ways(ways: Sequence[Way]) -> list[Way]:
    """Alternatives that differ in the answers to one question only are one alternative with all these answers."""
    joined: list[Way] = []
    for way in ways:
        for other in joined:
            apart = [name for name in way if way[name] != other.get(name)]
            if way.keys() == other.keys() and len(apart) <= 1:
                for name in apart:
                    other[name] = list(dict.fromkeys([*other[name], *way[name]]))
                break
        else:
            joined.append(way)
    return joined
