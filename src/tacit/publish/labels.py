"""Readable names of generalized answers: "30-45", "Private or Self-emp-inc", "*" for anything."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from tacit.schema import Attribute, Cut

ANY = "*"
MOST_NAMED = 3
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")
# "40 to 44", "40 up to 45"; of dates "March 2024", "Q1 2024", "2020s", "2024-03-31", "week from 2024-03-25"
_STEP = re.compile(r"(\S+) (to|up to) (\S+)")
_DATE = re.compile(r"[A-Z][a-z]+ \d{4}|Q[1-4] \d{4}|\d{4}s|\d{4}-\d\d-\d\d|(four )?weeks? from \d{4}-\d\d-\d\d")
_CODE = re.compile(r"\w*\*+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WHOLE_CODE = re.compile(r"(?=.*\d)[\w.-]{3,}")  # letters and digits, such as 01069 or E11.9
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_BRACKETS = re.compile(r"([\[(])([^,\s]+),\s*([^,\s]+)([\])])")
_BELOW, _FROM = re.compile(r"below (\S+)"), re.compile(r"(\S+) and more")
_END = r"(-?\d+(?:\.\d+)?)"
_BOTH_ENDS = re.compile(rf"[\[(]?{_END}(?:\s*[-\u2013,]\s*| to | up to ){_END}[\])]?$")
_NO_LOW_END = re.compile(rf"(?:<=?|\u2264|under |below |less than |up to |at most )\s*{_END}$", re.IGNORECASE)
_NO_HIGH_END = re.compile(
    rf"(?:>=?|\u2265|over |above |more than |from |at least )\s*{_END}$|{_END}(?:\s*\+| and over| or more| and more)$",
    re.IGNORECASE,
)
_OPEN_LOW, _OPEN_HIGH = re.compile(r"<=?\s*-?\d+(?:\.\d+)?"), re.compile(r">=?\s*-?\d+(?:\.\d+)?")


def is_range_like(answers: Sequence[str]) -> bool:
    """Whether all answers are numbers, dates, codes or ranges of them: what lies between two of them goes without saying."""
    forms = (_NUMBER, _RANGE, _STEP, _DATE, _CODE, _BRACKETS, _BELOW, _FROM, _OPEN_LOW, _OPEN_HIGH, _WHOLE_CODE)
    return all(any(form.fullmatch(answer) for form in forms) for answer in answers)


def is_round(answer: str) -> bool:
    """Whether an answer is a step, a range or a period rather than a value, or a round number: 5, 45, 1500, 0.25, not 46.

    Days and whole codes are values; weeks, months and "101**" are not.
    """
    if not _NUMBER.fullmatch(answer):
        return not _DAY.fullmatch(answer) and (is_range_like([answer]) and not _WHOLE_CODE.fullmatch(answer))
    digits = answer.lstrip("-").replace(".", "").strip("0")
    return len(digits) <= 1 or (len(digits) == 2 and digits[1] == "5")


def is_within(answer: str | None, text: str | None) -> bool:
    """Whether a number lies in the range that a label names; True for a label of anything, False for what is no number."""
    if text == ANY:
        return answer is not None
    ends = None if text is None else range_ends(text)
    if ends is None or answer is None or not _NUMBER.fullmatch(answer):
        return False
    number = float(answer)
    is_open = re.search(" up to |^below |^<[^=]", text or "")
    return ends[0] <= number < ends[1] if is_open else ends[0] <= number <= ends[1]


def range_ends(answer: str) -> tuple[float, float] | None:
    """Where a range begins and ends: "5-9", "(25,35]", "under 18", "65+"; nothing for other answers."""
    text = answer.strip()
    if match := _BOTH_ENDS.match(text):
        return float(match[1]), float(match[2])
    if match := _NO_LOW_END.match(text):
        return -math.inf, float(match[1])
    if match := _NO_HIGH_END.match(text):
        return float(match[1] or match[2]), math.inf
    return None


def label(attribute: Attribute, low: int, high: int) -> str:
    """Name of the answers with codes `low` to `high`, both included."""
    if low == high:
        return attribute.answers[low]
    if low == 0 and high == attribute.size - 1:
        return ANY
    if attribute.cut is not None and attribute.answers == attribute.cut.labels():
        return _interval(attribute.cut, low, high)
    answers = attribute.answers[low : high + 1]
    return _common_prefix(attribute.answers, answers) or _span(answers[0], answers[-1]) or _listed_names(answers)


def block_label(attribute: Attribute, members: Sequence[int]) -> str:
    """Name of a block of answers that need not be neighbours, as hierarchies make them."""
    if len(members) == members[-1] - members[0] + 1:
        return label(attribute, members[0], members[-1])
    return _listed_names([attribute.answers[code] for code in members])


def _interval(cut: Cut, low: int, high: int) -> str:
    opening, closing = ("(", "]") if cut.closed == "right" else ("[", ")")
    if low == 0:
        return f"{'<=' if cut.closed == 'right' else '<'}{cut.edges[high]:g}"
    if high == len(cut.edges):
        return f"{'>' if cut.closed == 'right' else '>='}{cut.edges[low - 1]:g}"
    return f"{opening}{cut.edges[low - 1]:g},{cut.edges[high]:g}{closing}"


def _span(first: str, last: str) -> str | None:
    """One range from two, or from two numbers; None where the answers are no numbers."""
    begin, end = _RANGE.fullmatch(first), _RANGE.fullmatch(last)
    if begin and end:
        return _joined_names(begin[1], end[2])
    if _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last):
        return _joined_names(first, last)
    low, high = _STEP.fullmatch(first), _STEP.fullmatch(last)
    if (low or high) and (low or _NUMBER.fullmatch(first)) and (high or _NUMBER.fullmatch(last)):
        between = (low or high or [""] * 3)[2]
        return f"{low[1] if low else first} {between} {high[3] if high else last}"
    if open_end := _open_ended(first, last):
        return open_end
    if all(_DATE.fullmatch(end) for end in (first, last)) or all(_CODE.fullmatch(end) for end in (first, last)):
        return f"{first} to {last}"
    return _bracketed_range(first, last)


def _open_ended(first: str, last: str) -> str | None:
    """One range from "below 30" and "40 to 44", or from "40 to 44" and "90 and more"."""
    step = _STEP.fullmatch(last)
    if _BELOW.fullmatch(first) and (step or _NUMBER.fullmatch(last)):
        is_whole = step is None or step[2] == "to"
        return f"below {float(step[3] if step else last) + is_whole:.10g}"
    if _FROM.fullmatch(last) and (_STEP.fullmatch(first) or _NUMBER.fullmatch(first)):
        return f"{first.split()[0]} and more"
    return None


def _joined_names(first: str, last: str) -> str:
    """Two numbers as a range; a dash beside a minus sign would be hard to read."""
    return f"{first} to {last}" if first.startswith("-") else f"{first}-{last}"


def _bracketed_range(first: str, last: str) -> str | None:
    """One interval from two such as "(25,35]", of which either may be open: "<=25", ">65"."""
    begin, end = _BRACKETS.fullmatch(first), _BRACKETS.fullmatch(last)
    if begin and end:
        return f"{begin[1]}{begin[2]},{end[3]}{end[4]}"
    if end and _OPEN_LOW.fullmatch(first):
        return f"{'<=' if end[4] == ']' else '<'}{end[3]}"
    if begin and _OPEN_HIGH.fullmatch(last):
        return f"{'>' if begin[1] == '(' else '>='}{begin[2]}"
    return None


def _common_prefix(answers: Sequence[str], shown: Sequence[str]) -> str | None:
    """A label such as "10***" where the shown codes are all that begin so; None where they are not, or are no codes."""
    if not all(_CODE.fullmatch(answer) for answer in shown):
        return None
    first, last = shown[0].rstrip("*"), shown[-1].rstrip("*")  # codes are sorted, so what these share, all share
    prefix = first[: next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    if not prefix or sum(answer.startswith(prefix) for answer in answers) > len(shown):
        return None
    return prefix.ljust(len(shown[0]), "*")


def named_answers(answers: Sequence[str]) -> Sequence[str]:
    """Those of its answers that a label names: all of a few, else the first and the last."""
    return answers if len(answers) <= MOST_NAMED else (answers[0], answers[-1])


def _listed_names(answers: Sequence[str]) -> str:
    if len(answers) <= MOST_NAMED:
        return " or ".join(answers)
    return f"{answers[0]} ... {answers[-1]} ({len(answers)} answers)"
