"""Frequent answers of an open question: found with their shares, no others, by simulation; each refusal."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.errors import InvalidInput
from tacit.mine.heavy_hitters import LETTERS, OpenQuestion

QUESTION = OpenQuestion(gamma=math.exp(2), length=6, step=2)
COMMON = {"oslo": 0.3, "berlin": 0.2, "os": 0.12}


def answers(n: int, seed: int) -> list[str]:
    """Three common answers; everybody else gives a word of their own."""
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list(LETTERS), 6)) for _ in range(n)]
    which = rng.choice(4, n, p=[*COMMON.values(), 1 - sum(COMMON.values())])
    return [word if kind == 3 else list(COMMON)[kind] for word, kind in zip(words, which.tolist(), strict=True)]


def test_what_many_answer_is_found_with_its_share_and_nothing_else() -> None:
    hitters = QUESTION.find(QUESTION.disguise(answers(24_000, seed=1), seed=2), certainty=0.99)
    assert [hitter.answer for hitter in hitters] == list(COMMON)
    for hitter in hitters:
        assert abs(hitter.share - COMMON[hitter.answer]) < 5 * hitter.standard_error
        assert hitter.standard_error < 0.02
        assert hitter.certainty > 0.99


def test_where_all_answers_differ_hardly_ever_is_one_found() -> None:
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice(list(LETTERS), 6)) for _ in range(6000)]
    assert [QUESTION.find(QUESTION.disguise(words, seed=seed), certainty=0.999) for seed in range(4)] == [[]] * 4


def test_a_report_shows_a_level_a_bucket_and_a_seed_and_is_the_same_for_every_answer_once_in_gamma() -> None:
    reports = QUESTION.disguise(["oslo"] * 3000, seed=4)
    assert set(reports) == {"level", "bucket", "seed"}
    assert QUESTION.levels == (2, 4, 6)
    assert set(reports["level"]) == {0, 1, 2}
    assert QUESTION.channel.amplification <= math.exp(2)


def test_the_errors_are_those_of_many_rounds() -> None:
    question = OpenQuestion(gamma=20, length=2, step=2)
    shares, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = ["ab" if one < 0.4 else "xy" for one in rng.random(1500)]
        (first,) = [hitter for hitter in question.find(question.disguise(truth, seed=seed)) if hitter.answer == "ab"]
        shares.append(first.share)
        errors.append(first.standard_error)
    assert np.mean(shares) == pytest.approx(0.4, abs=5 * np.mean(errors) / math.sqrt(60))
    assert np.std(shares, ddof=1) == pytest.approx(np.mean(errors), rel=0.5)


def test_answers_are_cut_and_compared_in_small_letters() -> None:
    question = OpenQuestion(gamma=50, length=4, step=4, characters="abc")
    hitters = question.find(question.disguise(["ABcabc"] * 2000, seed=5))
    assert [hitter.answer for hitter in hitters] == ["abca"]


def test_what_is_wrong_is_refused() -> None:
    for wrong, message in [
        ({"gamma": 0.5}, "gamma, the amplification"),
        ({"gamma": 5, "length": 0}, "length of an open question"),
        ({"gamma": 5, "step": 0}, "step of an open question"),
        ({"gamma": 5, "step": 5}, "Choose a smaller step"),
        ({"gamma": 5, "characters": "aab"}, "each once"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            OpenQuestion(**wrong)
    with pytest.raises(InvalidInput, match=r"holds '\?'"):
        QUESTION.disguise(["what?"])
    good = QUESTION.disguise(["oslo"] * 10, seed=6)
    with pytest.raises(InvalidInput, match="need the column 'seed'"):
        QUESTION.find({"level": [0], "bucket": [0]})
    with pytest.raises(InvalidInput, match="'level' must hold whole numbers from 0 to 2"):
        QUESTION.find({**good, "level": np.full(10, 3)})
    with pytest.raises(InvalidInput, match="lies between 0 and 1"):
        QUESTION.find(good, certainty=1.0)


def test_of_few_people_who_all_agree_the_share_has_an_interval_within_its_range() -> None:
    """Where every report happens to hold the answer, the share exceeds 1; its error is not 0."""
    question = OpenQuestion(gamma=50, length=1, step=1)
    ends = []
    for seed in range(20):
        for hitter in question.find(question.disguise(["a"] * 30, seed=seed)):
            assert hitter.standard_error > 0
            assert 0 <= hitter.low < hitter.high <= 1
            ends.append((hitter.share, hitter.low))
    assert max(share for share, _ in ends) > 1
    assert np.mean([low for _, low in ends]) > 0.6
