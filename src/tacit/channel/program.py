"""A sampler as data: a small tree of whole numbers that a respondent's page, the server and the analyst read alike.

The truth is a list of digits with their radices (how many values each can take), the report is a list of digits, and
chances are whole numbers over 2**32. Whoever holds a program can run it, give the exact chance of every report, and
need not know what kind of channel wrote it. The nodes:

=========================================================  ============================================================
``{"same": 1}``                                            the truth
``{"reverse": 1}``                                         every digit counted from the other end (yes for no)
``{"even": "any"}``, ``{"even": "other"}``                 any record, each as likely; any but the true one
``{"toss": c, "heads": P, "tails": P}``                    P with chance c; ``[low, high]`` draws c evenly between
``{"weigh": [w...], "into": [radices]}``                   one of the listed weights, or one list for each truth
``{"each": [[[positions], P], ...]}``                      the digits parted, each part by a program of its own
``{"bits": [own, foreign]}``                               a bit per answer: chance of a one for the true one, for others
``{"some": K, "kept": P, "others": P}``                    w drawn below K; an even set of w digits by one, the rest by other
``{"subset": [k, 1]}``, ``{"subset": [k, 0]}``             an even set of k records with the truth, or without it
``{"half": [K, 0]}``, ``{"half": [K, 1]}``                 an even number below K that shares an even (odd) number of bits
                                                           with truth + 1
``{"hash": {"width": w, "buckets": g}, "then": P}``        the record hashed under a public seed, then P on the bucket
``{"above": [w...], "then": P}``                           a gap between values drawn publicly, then P on "above it?"
``{"fill": [position, code, n], "then": P}``               a digit that shows `code` is drawn among the n others, then P
=========================================================  ============================================================

A weigh node may carry ``"asked": 1``: its draw is then the respondent's own answer to a harmless question, of which
the weights are the known distribution.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from tacit.errors import InvalidInput
from tacit.randomness import ONE

Digits = tuple[int, ...]

DEEPEST = 32  # a program ends because it is finite; no kind of channel nests a fifth as deep
LARGEST_BOUND = ONE  # of a uniform draw
# Beyond this many chances a law is not written out.
LARGEST_LAW = 1 << 20
SEED_WORD = 32


class Draws(Protocol):
    """Where a program's chance comes from."""

    def coin(self, low: int, high: int) -> bool:
        """Heads with a chance over 2**32 that is itself drawn evenly from ``low .. high``."""

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound - 1``, each exactly as likely."""

    def choose(self, weights: Sequence[int]) -> int:
        """Index i with chance ``weights[i] / 2**32``."""


class WordDraws:
    """Draws from uniform 32-bit words, in the order in which the page takes them."""

    def __init__(self, next_word: Callable[[], int]) -> None:
        self._next = next_word

    def coin(self, low: int, high: int) -> bool:
        numerator = low + (self.below(high - low + 1) if high > low else 0)
        return self._next() < numerator

    def below(self, bound: int) -> int:
        if bound == 1:
            return 0
        limit = ONE - ONE % bound
        word = self._next()
        while word >= limit:
            word = self._next()
        return word % bound

    def choose(self, weights: Sequence[int]) -> int:
        rest = self._next()
        for index, weight in enumerate(weights):
            rest -= weight
            if rest < 0:
                return index
        raise InvalidInput("The weights of a choice must sum to 2**32.")


class ProgramNode:
    """One node of a program, read for truths of given radices."""

    fields: ClassVar[frozenset[str]]
    report_radices: Digits

    def __init__(self, document: Mapping[str, Any], radices: Digits, depth: int) -> None:
        self.radices = radices
        self.size = math.prod(radices)
        self.read(document, depth)

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        """Take the node's numbers from its document, refusing what is not allowed; set `report_radices`."""
        raise NotImplementedError

    def run(self, truth: Digits, draws: Draws) -> Digits:
        raise NotImplementedError

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        """The exact chance of a report given a truth, after all draws."""
        raise NotImplementedError

    def reports(self) -> Iterator[Digits]:
        """Every list of digits that could be a report."""
        return itertools.product(*map(range, self.report_radices))

    @property
    def report_count(self) -> int:
        return math.prod(self.report_radices)


class Same(ProgramNode):
    fields = frozenset({"same"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        _expect(document, document["same"] == 1, '"same" must be 1')
        self.report_radices = self.radices

    def run(self, truth: Digits, draws: Draws) -> Digits:
        return truth

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        return Fraction(report == truth)


class Reverse(ProgramNode):
    fields = frozenset({"reverse"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        _expect(document, document["reverse"] == 1, '"reverse" must be 1')
        self.report_radices = self.radices

    def run(self, truth: Digits, draws: Draws) -> Digits:
        return tuple(radix - 1 - digit for digit, radix in zip(truth, self.radices, strict=True))

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        opposite = all(t + r + 1 == n for t, r, n in zip(truth, report, self.radices, strict=True))
        return Fraction(opposite)


class Even(ProgramNode):
    fields = frozenset({"even"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        _expect(document, document["even"] in ("any", "other"), '"even" must be "any" or "other"')
        self.other = document["even"] == "other"
        _expect(document, self.size > 1 or not self.other, 'an "other" record needs at least two')
        _expect(document, self.size <= LARGEST_BOUND or not self.other, "at most 2**32 records can be drawn among")
        self.report_radices = self.radices

    def run(self, truth: Digits, draws: Draws) -> Digits:
        if not self.other:
            return tuple(draws.below(radix) for radix in self.radices)
        true_code = joint(truth, self.radices)
        drawn = draws.below(self.size - 1)
        return split(drawn + (drawn >= true_code), self.radices)

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        if not self.other:
            return Fraction(1, self.size)
        return Fraction(report != truth, self.size - 1)


class Toss(ProgramNode):
    fields = frozenset({"toss", "heads", "tails"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        toss = document["toss"]
        bounds = toss if isinstance(toss, list) else [toss, toss]
        in_order = len(bounds) == 2 and all(map(_is_chance, bounds)) and 0 <= bounds[1] - bounds[0] < LARGEST_BOUND
        _expect(document, in_order, '"toss" must be a whole number from 0 to 2**32, or two of them in order')
        self.low, self.high = bounds
        self.heads = compile_program(document["heads"], self.radices, depth + 1)
        self.tails = compile_program(document["tails"], self.radices, depth + 1)
        alike = self.heads.report_radices == self.tails.report_radices
        _expect(document, alike, "heads and tails must make reports of one shape, or the shape would tell the coin")
        self.report_radices = self.heads.report_radices

    @property
    def weight(self) -> Fraction:
        """The chance of heads."""
        return Fraction(self.low + self.high, 2 * ONE)

    def run(self, truth: Digits, draws: Draws) -> Digits:
        chosen = self.heads if draws.coin(self.low, self.high) else self.tails
        return chosen.run(truth, draws)

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        return self.weight * self.heads.chance(truth, report) + (1 - self.weight) * self.tails.chance(truth, report)

    def reports(self) -> Iterator[Digits]:
        return iter(dict.fromkeys(itertools.chain(self.heads.reports(), self.tails.reports())))

    @property
    def report_count(self) -> int:
        return max(self.heads.report_count, self.tails.report_count)


class Weigh(ProgramNode):
    fields = frozenset({"weigh", "into"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        self.report_radices = _radices(document["into"])
        weigh = document["weigh"]
        self.by_truth = isinstance(weigh, list) and bool(weigh) and isinstance(weigh[0], list)
        self.lists: list[list[int]] = weigh if self.by_truth else [weigh]
        _expect(
            document,
            not self.by_truth or len(weigh) == self.size,
            f"there must be a list for each of {self.size} truths",
        )
        total = math.prod(self.report_radices)
        for weights in self.lists:
            whole = isinstance(weights, list) and len(weights) == total and all(map(_is_chance, weights))
            _expect(
                document,
                whole and sum(weights) == ONE,
                f"{total} whole numbers that sum to 2**32 are needed in each list",
            )
        _expect(document, document.get("asked", 1) == 1, '"asked" must be 1')
        self.asked = "asked" in document
        _expect(document, not (self.asked and self.by_truth), "a harmless answer cannot depend on the truth")

    def run(self, truth: Digits, draws: Draws) -> Digits:
        return split(draws.choose(self._weights(truth)), self.report_radices)

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        return Fraction(self._weights(truth)[joint(report, self.report_radices)], ONE)

    def _weights(self, truth: Digits) -> list[int]:
        return self.lists[joint(truth, self.radices)] if self.by_truth else self.lists[0]


class Each(ProgramNode):
    fields = frozenset({"each"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        parts = document["each"]
        are_pairs = isinstance(parts, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in parts)
        _expect(document, are_pairs and bool(parts), '"each" must be a list of [positions, program]')
        positions = [position for pair in parts for position in _positions(document, pair[0])]
        _expect(
            document,
            sorted(positions) == list(range(len(self.radices))),
            f"every one of the {len(self.radices)} digits must belong to exactly one part, and no other digit can be read",
        )
        self.parts = [
            (tuple(where), compile_program(program, tuple(self.radices[at] for at in where), depth + 1))
            for where, program in parts
        ]
        self.report_radices = tuple(radix for _, node in self.parts for radix in node.report_radices)

    def run(self, truth: Digits, draws: Draws) -> Digits:
        reports = [node.run(tuple(truth[at] for at in where), draws) for where, node in self.parts]
        return tuple(itertools.chain(*reports))

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        chance, start = Fraction(1), 0
        for where, node in self.parts:
            stop = start + len(node.report_radices)
            chance *= node.chance(tuple(truth[at] for at in where), report[start:stop])
            start = stop
        return chance

    def reports(self) -> Iterator[Digits]:
        for reports in itertools.product(*(list(node.reports()) for _, node in self.parts)):
            yield tuple(itertools.chain(*reports))

    @property
    def report_count(self) -> int:
        return math.prod(node.report_count for _, node in self.parts)


class Bits(ProgramNode):
    fields = frozenset({"bits"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        bits = document["bits"]
        two = isinstance(bits, list) and len(bits) == 2 and all(map(_is_chance, bits))
        _expect(document, two, '"bits" must be two whole numbers from 0 to 2**32')
        self.own, self.foreign = bits
        self.report_radices = (2,) * sum(self.radices)

    def run(self, truth: Digits, draws: Draws) -> Digits:
        return tuple(int(draws.coin(numerator, numerator)) for numerator in self._numerators(truth))

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        chances = (n if bit else ONE - n for n, bit in zip(self._numerators(truth), report, strict=True))
        return Fraction(math.prod(chances), ONE ** len(report))

    def _numerators(self, truth: Digits) -> Iterator[int]:
        for digit, radix in zip(truth, self.radices, strict=True):
            for answer in range(radix):
                yield self.own if answer == digit else self.foreign


class Some(ProgramNode):
    fields = frozenset({"some", "kept", "others"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        self.bound = document["some"]
        _expect(document, _is_count(self.bound, 1, LARGEST_BOUND), '"some" must be a whole number from 1 to 2**32')
        self.kept = [compile_program(document["kept"], (radix,), depth + 1) for radix in self.radices]
        self.others = [compile_program(document["others"], (radix,), depth + 1) for radix in self.radices]
        alike = all(a.report_radices == b.report_radices for a, b in zip(self.kept, self.others, strict=True))
        _expect(
            document,
            alike,
            "kept and other digits must make reports of one shape, or the shape would tell which is which",
        )
        self.report_radices = tuple(radix for node in self.kept for radix in node.report_radices)

    def sizes(self) -> list[Fraction]:
        """The chance of each number of kept digits."""
        count = len(self.radices)
        chances = [Fraction(int(w < self.bound), self.bound) for w in range(count)]
        return [*chances, 1 - sum(chances, Fraction(0))]

    def run(self, truth: Digits, draws: Draws) -> Digits:
        count = len(self.radices)
        chosen = set(even_set(count, min(draws.below(self.bound), count), draws))
        reports = [(self.kept if at in chosen else self.others)[at].run((truth[at],), draws) for at in range(count)]
        return tuple(itertools.chain(*reports))

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        # The sum over all sets of w digits is a coefficient of a product of one linear factor for each digit.
        sums = [Fraction(1)]
        start = 0
        for digit, if_kept, if_other in zip(truth, self.kept, self.others, strict=True):
            stop = start + len(if_kept.report_radices)
            a, b = if_other.chance((digit,), report[start:stop]), if_kept.chance((digit,), report[start:stop])
            sums = [a * low + b * high for low, high in zip([*sums, Fraction(0)], [Fraction(0), *sums], strict=True)]
            start = stop
        count = len(self.radices)
        return sum((size * sums[w] / math.comb(count, w) for w, size in enumerate(self.sizes())), Fraction(0))


class Subset(ProgramNode):
    fields = frozenset({"subset"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        given = document["subset"]
        two = isinstance(given, list) and len(given) == 2 and given[1] in (0, 1)
        _expect(
            document,
            two and _is_count(given[0], 1, self.size - 1),
            f'"subset" must be [size, 1 or 0], the size from 1 to {self.size - 1}',
        )
        self.members, self.holds = given
        self.report_radices = (self.size,) * self.members

    def run(self, truth: Digits, draws: Draws) -> Digits:
        true_code = joint(truth, self.radices)
        drawn = even_set(self.size - 1, self.members - self.holds, draws)
        others = [index + (index >= true_code) for index in drawn]
        return tuple(sorted([*others, true_code] if self.holds else others))

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        is_member = joint(truth, self.radices) in report
        return Fraction(int(is_member == bool(self.holds)), math.comb(self.size - 1, self.members - self.holds))

    def reports(self) -> Iterator[Digits]:
        return itertools.combinations(range(self.size), self.members)

    @property
    def report_count(self) -> int:
        return math.comb(self.size, self.members)


class Half(ProgramNode):
    fields = frozenset({"half"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        given = document["half"]
        two = isinstance(given, list) and len(given) == 2 and given[1] in (0, 1)
        power = two and _is_count(given[0], 2, LARGEST_BOUND) and given[0] & (given[0] - 1) == 0
        _expect(
            document, power and given[0] > self.size, f'"half" must be [K, 0 or 1], K a power of two above {self.size}'
        )
        self.bound, self.parity = given
        self.report_radices = (self.bound,)

    def run(self, truth: Digits, draws: Draws) -> Digits:
        mask = joint(truth, self.radices) + 1
        drawn = draws.below(self.bound)
        # Turning one bit of the mask over carries one half onto the other, each number onto exactly one.
        return (drawn if _parity(drawn & mask) == self.parity else drawn ^ (mask & -mask),)

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        shared = report[0] & (joint(truth, self.radices) + 1)
        return Fraction(2 * int(_parity(shared) == self.parity), self.bound)


class Hash(ProgramNode):
    fields = frozenset({"hash", "then"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        given = document["hash"]
        named = isinstance(given, dict) and set(given) == {"width", "buckets"}
        _expect(
            document,
            named and _is_count(given["width"], 1, 2 * SEED_WORD),
            '"hash" needs "width" (1 to 64) and "buckets"',
        )
        self.width, self.buckets = given["width"], given["buckets"]
        power = _is_count(self.buckets, 2, LARGEST_BOUND) and self.buckets & (self.buckets - 1) == 0
        _expect(document, power, '"buckets" must be a power of two')
        self.bucket_bits = self.buckets.bit_length() - 1
        least = (self.size - 1).bit_length() + self.bucket_bits - 1
        _expect(
            document,
            self.width >= max(least, self.bucket_bits),
            f'"width" must be at least {least} for a pairwise independent hash',
        )
        self.then = compile_program(document["then"], (self.buckets,), depth + 1)
        high = self.width - SEED_WORD
        number = (1 << high, ONE) if high > 0 else (1 << self.width,)
        self.seed_radices: Digits = number + number
        self.report_radices = self.then.report_radices + self.seed_radices

    def bucket(self, truth: Digits, seed: Digits) -> int:
        """The top bits of a u + b modulo 2**width (Dietzfelbinger 1996)."""
        factor, shift = divmod(joint(seed, self.seed_radices), 1 << self.width)
        hashed = (factor * joint(truth, self.radices) + shift) % (1 << self.width)
        return hashed >> (self.width - self.bucket_bits)

    def run(self, truth: Digits, draws: Draws) -> Digits:
        seed = tuple(draws.below(radix) for radix in self.seed_radices)
        return self.then.run((self.bucket(truth, seed),), draws) + seed

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        seed_start = len(self.then.report_radices)
        bucket = self.bucket(truth, report[seed_start:])
        return self.then.chance((bucket,), report[:seed_start]) / (1 << 2 * self.width)

    def reports(self) -> Iterator[Digits]:
        for seed in itertools.product(*map(range, self.seed_radices)):
            yield from (report + seed for report in self.then.reports())

    @property
    def report_count(self) -> int:
        return self.then.report_count * math.prod(self.seed_radices)


class Above(ProgramNode):
    fields = frozenset({"above", "then"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        given = document["above"]
        _expect(document, len(self.radices) == 1, '"above" is for one digit')
        fits = isinstance(given, list) and len(given) == self.size - 1 and all(_is_count(w, 1, ONE) for w in given)
        _expect(document, fits, f'"above" needs {self.size - 1} weights of at least 1, one for each gap between values')
        _expect(document, sum(given) == ONE, 'the weights of "above" must sum to 2**32')
        self.weights = given
        self.then = compile_program(document["then"], (2,), depth + 1)
        self.report_radices = (len(given), *self.then.report_radices)

    def run(self, truth: Digits, draws: Draws) -> Digits:
        gap = draws.choose(self.weights)
        return (gap, *self.then.run((int(truth[0] > gap),), draws))

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        gap = report[0]
        return Fraction(self.weights[gap], ONE) * self.then.chance((int(truth[0] > gap),), report[1:])

    def reports(self) -> Iterator[Digits]:
        for gap in range(len(self.weights)):
            yield from ((gap, *report) for report in self.then.reports())

    @property
    def report_count(self) -> int:
        return len(self.weights) * self.then.report_count


class Fill(ProgramNode):
    fields = frozenset({"fill", "then"})

    def read(self, document: Mapping[str, Any], depth: int) -> None:
        given = document["fill"]
        three = isinstance(given, list) and len(given) == 3 and _is_count(given[0], 0, len(self.radices) - 1)
        _expect(document, three, f'"fill" must be [position, code, n], the position from 0 to {len(self.radices) - 1}')
        self.position, self.code, self.answers = given
        radix = self.radices[self.position]
        fits = _is_count(self.code, 0, radix - 1) and self.answers == radix - 1 and self.answers >= 1
        _expect(
            document,
            fits,
            f"digit {self.position} has {radix} values: the code must be one of them and n the number of others",
        )
        filled = (*self.radices[: self.position], self.answers, *self.radices[self.position + 1 :])
        self.then = compile_program(document["then"], filled, depth + 1)
        self.report_radices = self.then.report_radices

    def run(self, truth: Digits, draws: Draws) -> Digits:
        digit = truth[self.position]
        drawn = draws.below(self.answers) if digit == self.code else digit - (digit > self.code)
        return self.then.run(self._with(truth, drawn), draws)

    def chance(self, truth: Digits, report: Digits) -> Fraction:
        digit = truth[self.position]
        if digit != self.code:
            return self.then.chance(self._with(truth, digit - (digit > self.code)), report)
        chances = (self.then.chance(self._with(truth, drawn), report) for drawn in range(self.answers))
        return sum(chances, Fraction(0)) / self.answers

    def _with(self, truth: Digits, digit: int) -> Digits:
        return (*truth[: self.position], digit, *truth[self.position + 1 :])

    def reports(self) -> Iterator[Digits]:
        return self.then.reports()

    @property
    def report_count(self) -> int:
        return self.then.report_count


_KINDS = (Same, Reverse, Even, Toss, Weigh, Each, Bits, Some, Subset, Half, Hash, Above, Fill)
_NODES = {kind.fields: kind for kind in _KINDS}


def compile_program(program: Any, radices: Sequence[int], depth: int = 0) -> ProgramNode:
    """The node that runs `program` on truths of these radices; anything that is not a program is refused."""
    _expect(program, isinstance(program, dict), "a node must be an object")
    _expect(program, depth < DEEPEST, f"a program may nest at most {DEEPEST} nodes")
    kind = _NODES.get(frozenset(program) - {"asked"} if "weigh" in program else frozenset(program))
    if kind is None:
        raise InvalidInput(
            f"A program has a node with the fields {', '.join(sorted(program)) or 'none'}; there is no such node. The page "
            "Programs of the reference lists those there are."
        )
    return kind(program, _radices(list(radices)), depth)


def run(program: Any, radices: Sequence[int], truth: Sequence[int], draws: Draws) -> Digits:
    """One report of a truth."""
    return compile_program(program, radices).run(tuple(truth), draws)


def law(program: Any, radices: Sequence[int]) -> dict[Digits, tuple[Fraction, ...]]:
    """The exact chance of every possible report given each truth, in the order of the truths' joint codes."""
    node = compile_program(program, radices)
    if node.report_count * node.size > LARGEST_LAW:
        raise InvalidInput(
            f"The law of this program has {node.size:,} truths and {node.report_count:,} reports: too many to write out."
        )
    truths = list(itertools.product(*map(range, node.radices)))
    rows = ((report, tuple(node.chance(truth, report) for truth in truths)) for report in node.reports())
    return {report: chances for report, chances in rows if any(chances)}


def even_set(count: int, wanted: int, draws: Draws) -> list[int]:
    """An evenly drawn set of `wanted` of ``range(count)``, ascending: each decided after the other."""
    members: list[int] = []
    for index in range(count):
        missing = wanted - len(members)
        if missing and (missing == count - index or draws.below(count - index) < missing):
            members.append(index)
    return members


def joint(digits: Iterable[int], radices: Iterable[int]) -> int:
    """One number for several digits, the last one fastest."""
    number = 0
    for digit, radix in zip(digits, radices, strict=True):
        number = number * radix + digit
    return number


def split(number: int, radices: Sequence[int]) -> Digits:
    """The digits whose joint number this is."""
    digits = []
    for radix in reversed(radices):
        number, digit = divmod(number, radix)
        digits.append(digit)
    return tuple(reversed(digits))


def _parity(number: int) -> int:
    return number.bit_count() & 1


def _is_count(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_chance(value: Any) -> bool:
    return _is_count(value, 0, ONE)


def _radices(given: Any) -> Digits:
    good = isinstance(given, list) and bool(given) and all(_is_count(radix, 1, LARGEST_BOUND) for radix in given)
    if not good:
        raise InvalidInput(f"Radices must be a list of whole numbers from 1 to 2**32, not {given!r}.")
    return tuple(given)


def _positions(document: Any, given: Any) -> list[int]:
    whole = isinstance(given, list) and bool(given) and all(_is_count(position, 0, ONE) for position in given)
    _expect(document, whole, "positions must be lists of whole numbers")
    return list(given)


def _expect(document: Any, holds: bool, rule: str) -> None:
    if not holds:
        text = repr(document)
        raise InvalidInput(f"A program holds {text if len(text) <= 80 else text[:77] + '...'}: {rule}.")
