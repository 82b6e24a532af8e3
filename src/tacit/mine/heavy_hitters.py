"""Answers that many people give to an open question: words, codes, addresses that nobody listed beforehand.

Nobody can estimate the share of every possible text. But the beginning of a frequent answer is frequent, too. So every
respondent is dealt one *level* at random, a number of leading characters, and reports the beginning of their answer through
local hashing. The analyst starts with the shortest beginnings, keeps those whose estimate stands out, and extends only them.
A respondent reports once, so the amplification of the report is that of the whole.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from tacit.channel.holding import HoldingLaw
from tacit.channel.recipe import Recipe
from tacit.count.hashed import support_of
from tacit.errors import InvalidInput
from tacit.estimation.intervals import ShareLaw
from tacit.randomness import Randomness, randomness_from, uniform_below
from tacit.table.columns import as_arrow
from tacit.table.hashed import Hashing, whole_numbers

# Beginnings are numbered by a public fingerprint of so many bits: two of them share a number once in 2**24 pairs.
FINGERPRINT_BITS = 24
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PAD = "\0"  # ends an answer that is shorter than the level
# Candidates of one level whose support is counted together.
MOST_CANDIDATES = 1 << 20


@dataclass(frozen=True)
class HeavyHitter:
    """An answer that stands out: its share, the share's standard error, and how sure it is that anybody gives it.

    Parameters
    ----------
    answer : str
        The text.
    share : float
        The estimated share of people who give it; unbiased, so it may exceed 1.
    standard_error : float
        Of the share.
    certainty : float
        One less the chance, over all candidates that were looked at, that an answer which nobody gives stands out as far.
    low, high : float
        Ends of an interval of 95% for the share, within [0, 1].

    Examples
    --------
    >>> from tacit.mine import HeavyHitter
    >>> HeavyHitter("oslo", 0.2, 0.03, 0.999).answer
    'oslo'
    """

    answer: str
    share: float
    standard_error: float
    certainty: float
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class OpenQuestion:
    """An open question: how long its answers may be, of which characters, and how they are disguised.

    Parameters
    ----------
    gamma : float
        The amplification of a report.
    length : int
        How many characters of an answer count.
    step : int
        How many characters each level adds.
    characters : str
        What an answer is written with; capital letters count as small ones.
    attribute : str
        What the question is called: the column of a file that holds its answers.

    Raises
    ------
    InvalidInput
        Where length and step are no positive numbers, or a character is listed twice.

    Examples
    --------
    >>> from tacit import OpenQuestion
    >>> question = OpenQuestion(gamma=20, length=4, step=2)
    >>> reports = question.disguise(["oslo"] * 4000 + ["rome"] * 2000, seed=1)
    >>> [hitter.answer for hitter in question.find(reports, certainty=0.999)]
    ['oslo', 'rome']
    """

    gamma: float
    length: int = 8
    step: int = 2
    characters: str = LETTERS
    attribute: str = "answer"

    def __post_init__(self) -> None:
        for name, value in (("length", self.length), ("step", self.step)):
            if not (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
                raise InvalidInput(f"The {name} of an open question is a whole number of at least 1, not {value!r}.")
        if not self.characters or len(set(self.characters)) < len(self.characters):
            raise InvalidInput("The characters of an open question must be listed, each once.")
        if (len(self.characters) + 1) ** min(self.step, self.length) > MOST_CANDIDATES:
            raise InvalidInput(
                f"Answers are read {self.step} characters at a time; {len(self.characters)} different characters make too "
                f"many combinations ({MOST_CANDIDATES:,} at most). Choose a smaller step."
            )
        self.channel  # noqa: B018 - refuses a gamma that is none

    @cached_property
    def channel(self) -> HoldingLaw:
        """Local hashing of the fingerprint of a beginning."""
        built = Recipe("local-hashing", {"gamma": self.gamma}).build((1 << FINGERPRINT_BITS,))
        assert isinstance(built, HoldingLaw), "reports of local hashing hold some answers"
        return built

    @property
    def levels(self) -> tuple[int, ...]:
        """How many characters each level looks at."""
        return tuple(min(end, self.length) for end in range(self.step, self.length + self.step, self.step))

    def disguise(self, answers: Iterable[str], *, seed: int | None = None) -> dict[str, NDArray[Any]]:
        """One report for each answer: a level, a bucket and a seed.

        Parameters
        ----------
        answers : iterable of str
            What people answered.
        seed : int, optional
            Makes a repeatable simulation.

        Returns
        -------
        dict of arrays
            The columns `level`, `bucket` and `seed`: all that leaves a person's hands.
        """
        return self.draw_reports(list(answers), randomness_from(seed))

    def draw_reports(self, answers: Sequence[str], randomness: Randomness) -> dict[str, NDArray[Any]]:
        """The columns that `disguise` gives, drawn from one source of randomness."""
        different = {text: place for place, text in enumerate(dict.fromkeys(answers))}
        number_of = np.array([self._fingerprints(text) for text in different], dtype=np.uint32)
        dealt = uniform_below(randomness, len(self.levels), len(answers))
        which = np.fromiter(map(different.__getitem__, answers), dtype=np.intp, count=len(answers))
        numbers = number_of[which, dealt] if len(answers) else np.zeros(0, dtype=np.uint32)
        (digits,) = self.channel.sample([numbers], randomness)
        return {
            "level": dealt.astype(np.uint8),
            "bucket": digits[:, 0].astype(np.int32),
            "seed": self._hashing.seeds(digits),
        }

    def _fingerprints(self, answer: str) -> list[int]:
        """The fingerprints of an answer's beginnings, one for each level."""
        text = self._spell_answer(answer)
        return [fingerprint(text[:end]) for end in self.levels]

    def least_share(self, respondents: int, certainty: float = 0.95) -> float:
        """The share from which on an answer stands out, as often as not, among so many respondents.

        Parameters
        ----------
        respondents : int
            How many people report.
        certainty : float
            As for `find`.

        Returns
        -------
        float
            At most 1: then nothing stands out.
        """
        if not (isinstance(respondents, int) and respondents >= 1):
            raise InvalidInput(f"The number of respondents is a whole number of at least 1, not {respondents!r}.")
        holds, background = self.channel.holds, self.channel.background
        candidates = (len(self.characters) + 1) ** min(self.step, self.length)
        error = math.sqrt(background * (1 - background) * len(self.levels) / respondents) / (holds - background)
        return min(1.0, NormalDist().inv_cdf(1 - (1 - _check_certainty(certainty)) / candidates) * error)

    @cached_property
    def _hashing(self) -> Hashing:
        return Hashing(1 << FINGERPRINT_BITS, self.channel.program()["hash"]["buckets"])

    def _spell_answer(self, answer: str) -> str:
        """The answer as it counts: small letters, cut to the length, filled up."""
        text = answer.lower()[: self.length]
        wrong = next((character for character in text if character not in self.characters), None)
        if wrong is not None:
            raise InvalidInput(
                f"The answer {answer!r} holds {wrong!r}; this open question takes only the characters "
                f"{self.characters!r}."
            )
        return text.ljust(self.length, PAD)

    def find(self, reports: Any, *, certainty: float = 0.95) -> list[HeavyHitter]:
        """The answers that stand out, the most frequent first.

        Parameters
        ----------
        reports : mapping of arrays, or data frame
            The columns `level`, `bucket` and `seed`.
        certainty : float
            How sure a level must be of a beginning to extend it, over all that it looks at.

        Returns
        -------
        list of HeavyHitter

        Raises
        ------
        InvalidInput
            Where a column is missing or holds what no report shows, or the certainty is no chance.
        """
        _check_certainty(certainty)
        level_of, digits = self._read(reports)
        beginnings = [""]
        hitters: list[HeavyHitter] = []
        for place, end in enumerate(self.levels):
            candidates = [text + more for text in beginnings for more in self._extensions(text, end - len(text))]
            if not candidates:
                return []
            if len(candidates) > MOST_CANDIDATES:
                raise InvalidInput(
                    f"{len(candidates):,} beginnings of frequent answers would have to be tried; {MOST_CANDIDATES:,} is "
                    "the most. Ask for a higher certainty, or choose a smaller step."
                )
            hitters = self._standing_out(candidates, digits[level_of == place], certainty)
            beginnings = [hitter.answer for hitter in hitters]
        named = [replace(hitter, answer=hitter.answer.rstrip(PAD)) for hitter in hitters]
        return sorted(named, key=lambda hitter: -hitter.share)

    def _extensions(self, text: str, more: int) -> list[str]:
        """Every continuation by `more` characters; an answer that has ended is only padded."""
        if text.endswith(PAD):
            return [PAD * more]
        grown = [""]
        for _ in range(more):
            grown = [word + c for word in grown for c in (PAD if word.endswith(PAD) else self.characters + PAD)]
        return grown

    def _standing_out(
        self, candidates: Sequence[str], digits: NDArray[np.uint32], certainty: float
    ) -> list[HeavyHitter]:
        """The candidates that more reports hold than chance would give any of those that nobody has."""
        if not len(digits):
            return []
        holds, background = self.channel.holds, self.channel.background
        counts = support_of(digits, self._hashing, np.array([fingerprint(text) for text in candidates], np.uint32))
        # A report holds an answer that nobody has with chance `background`, whatever is true: the tail is a binomial's.
        tails = bdtrc(counts - 1, len(digits), background) * len(candidates)
        places = np.flatnonzero(tails <= 1 - certainty)
        contrast, people = holds - background, len(digits)
        shares = (counts[places] / people - background) / contrast
        # The variance of a share p, in the order 1, p, p^2: a report holds the answer with chance background + contrast p.
        law = ShareLaw(
            np.full(len(places), background * (1 - background) / (people * contrast**2)),
            np.full(len(places), (1 - 2 * background) / (people * contrast)),
            np.full(len(places), 1 / people),
        )
        errors, ends = np.sqrt(law.variance(np.clip(shares, 0, 1))), law.interval(shares)
        numbers = np.column_stack([shares, errors, 1 - tails[places], ends.low, ends.high])
        return [
            HeavyHitter(candidates[place], *figures)
            for place, figures in zip(places.tolist(), numbers.tolist(), strict=True)
        ]

    def _read(self, reports: Any) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:

        table = as_arrow(reports)
        bounds = {"level": len(self.levels), "bucket": self._hashing.buckets, "seed": 1 << 2 * self._hashing.width}
        for name in bounds:
            if name not in table.column_names:
                raise InvalidInput(f"Reports of an open question need the column {name!r}.")
        level, bucket, seed = (whole_numbers(table.column(name), name, bound) for name, bound in bounds.items())
        return level, self._hashing.digits(bucket, seed)


def _check_certainty(certainty: float) -> float:
    if not 0 < certainty < 1:
        raise InvalidInput(f"A certainty lies between 0 and 1, such as 0.95; it cannot be {certainty!r}.")
    return certainty


def fingerprint(text: str) -> int:
    """The public number of a beginning, the same for everybody."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> (64 - FINGERPRINT_BITS)
