"""Local hashing: independent buckets, published variances, files, intervals; the rest is in the conformance suites."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit import Attribute, Dataset, Reports, Scheme, channels, disguise, estimate
from tacit.channel.kinds.hashing import best_buckets, rare_variance
from tacit.count import MemoryEngine, StoredReports
from tacit.errors import InvalidInput
from tacit.table import Table
from tacit.table.files import table_writer
from tacit.table.hashed import Hashing
from tests.channel.playback import assert_samples_exactly
from tests.statistics import assert_drawn_from


def codes(size: int) -> Attribute:
    return Attribute("code", tuple(f"c{code}" for code in range(size)))


def asked(size: int, gamma: float, *others: Attribute) -> Scheme:
    return Scheme.of([codes(size), *others], [(["code"], channels.local_hashing(gamma))])


def falling(size: int) -> np.ndarray:
    shares = 1 / np.arange(1, size + 1)
    return shares / shares.sum()


@pytest.mark.parametrize(("answers", "buckets"), [(2, 2), (3, 4), (4, 4), (5, 2), (7, 8), (9, 4)])
def test_two_answers_fall_into_any_two_buckets_equally_often(answers: int, buckets: int) -> None:
    hashing = Hashing(answers, buckets)
    word = np.arange(1 << hashing.width)
    factors, shifts = np.meshgrid(word, word)
    of = [hashing.bucket(answer, factors, shifts).reshape(-1) for answer in range(answers)]
    for one, other in itertools.combinations(of, 2):
        together = np.bincount(one * buckets + other, minlength=buckets**2)
        assert set(together) == {len(one) // buckets**2}


def test_a_width_less_by_one_would_not_be_independent() -> None:
    hashing = Hashing(4, 4)
    narrow = hashing.width - 1
    word = np.arange(1 << narrow)
    factors, shifts = np.meshgrid(word, word)
    one, other = (((factors * answer + shifts) % (1 << narrow) >> (narrow - 2)).reshape(-1) for answer in (0, 2))
    assert len(set(np.bincount(one * 4 + other, minlength=16))) > 1


def test_every_draw_followed_gives_the_declared_law() -> None:
    assert_samples_exactly(channels.local_hashing(3).build((2,)), 8)


@pytest.mark.parametrize(("epsilon", "variance"), [(1.0, 3.69), (2.0, 0.72)])
@pytest.mark.parametrize("answers", [1_000, 1_000_000])
def test_a_rare_answer_has_the_published_variance_whatever_the_number_of_answers(
    answers: int, epsilon: float, variance: float
) -> None:
    channel = channels.local_hashing(math.exp(epsilon)).build((answers,))
    truth = np.eye(1, answers).reshape(-1)
    assert channel.solve_squares(channel.apply(truth))[-1] == pytest.approx(variance, rel=0.03)
    assert channel.amplification <= math.exp(epsilon)
    assert channel.amplification == pytest.approx(math.exp(epsilon), rel=1e-8)


def test_the_buckets_are_those_of_least_variance() -> None:
    for gamma in (1.5, math.e, 7.0, 20.0, 150.0):
        chosen = best_buckets(gamma, 100_000)
        assert rare_variance(gamma, chosen) <= rare_variance(gamma, chosen * 2)
        assert chosen == 2 or rare_variance(gamma, chosen) <= rare_variance(gamma, chosen // 2)
        # The best real number of buckets is gamma + 1.
        assert 0.5 <= chosen / (gamma + 1) <= 2


@pytest.mark.slow
def test_a_report_is_a_bucket_and_a_seed(tmp_path: Path) -> None:
    scheme = asked(1000, 7.4, Attribute("sex", ("f", "m")))
    rows = {"code": [f"c{code % 1000}" for code in range(3000)], "sex": ["f", "m", "m"] * 1000}
    reports = disguise(rows, scheme, seed=2)
    table = reports.to_arrow()
    assert table.column_names == ["code", "code:seed", "sex"]
    width = Hashing(1000, 8).width
    assert (max(table["code"].to_pylist()), max(table["code:seed"].to_pylist())) < (8, 1 << 2 * width)
    for name in ("reports.parquet", "reports.csv"):
        reports.write(tmp_path / name)
        again = Reports.read(tmp_path / name, scheme)
        np.testing.assert_array_equal(again.table["code"], reports.table["code"])
        counted = StoredReports.open(tmp_path / name, scheme)
        for names in ("code", ["sex", "code"]):
            np.testing.assert_array_equal(
                estimate(counted, names).probabilities, estimate(reports, names).probabilities
            )
    assert "3,000 simulated reports of code, code:seed, sex" in repr(reports)
    assert [row["answer"] for row in reports.shown_rows()][:2] == ["bucket 0", "bucket 1"]


def test_reports_take_at_most_sixteen_bytes_each(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    scheme = asked(1_000_000, math.e)
    truth = Table(scheme.schema, {"code": rng.integers(0, 1_000_000, 100_000).astype(np.uint32)})
    with table_writer(tmp_path / "reports.parquet", {}) as writer:
        writer.write(disguise(Dataset(truth), scheme).to_arrow())
    held = pq.ParquetFile(tmp_path / "reports.parquet").metadata.row_group(0)
    assert sum(held.column(at).total_compressed_size for at in range(held.num_columns)) <= 16 * 100_000


def test_reports_that_no_page_sends_are_refused() -> None:
    scheme = asked(1000, 7.4)
    good = {"code": [0, 7], "code:seed": [0, 5]}
    assert Reports.from_arrow(good, scheme).n_reports == 2
    largest = (1 << 2 * Hashing(1000, 8).width) - 1
    for wrong, message in [
        ({**good, "code": [0, 8]}, r"'code' must hold whole numbers from 0 to 7, not 8"),
        ({**good, "code": [-1, 0]}, r"'code' must hold whole numbers from 0 to 7, not -1"),
        ({**good, "code:seed": [0, largest + 1]}, r"'code:seed' must hold whole numbers from 0 to"),
        ({**good, "code": ["0", "c12"]}, r"'code' must hold whole numbers from 0 to 7"),
        ({**good, "code": [0, None]}, r"'code' has 1 missing value"),
        ({"code": [0, 7]}, r"The column 'code:seed' is missing"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            Reports.from_arrow(pa.table(wrong), scheme)


def test_more_answers_than_a_seed_can_tell_apart_are_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"takes at most 1,073,741,824 joint answers; 65536 x 65536 are 4,294,967,296"
    ):
        channels.local_hashing(3).build((65536, 65536))


def test_intervals_hold_for_a_thousand_answers() -> None:
    shares = falling(1000)
    scheme = asked(1000, math.exp(2))
    rng = np.random.default_rng(4)
    inside, n = 0, 4000
    rounds = 6
    for seed in range(rounds):
        truth = Table(scheme.schema, {"code": rng.choice(1000, n, p=shares).astype(np.uint16)})
        interval = estimate(disguise(Dataset(truth), scheme, seed=seed), "code").interval(0.95)
        inside += int(((interval.low <= shares) & (shares <= interval.high)).sum())
    assert 0.93 <= inside / (rounds * 1000) <= 0.995


def test_estimates_have_the_stated_spread() -> None:
    """Standardized errors of many answers over many rounds have variance one; an error of 5% in it would be seen."""
    shares, scheme, n = falling(200), asked(200, math.e), 3000
    rng = np.random.default_rng(5)
    squares = []
    for seed in range(40):
        truth = Table(scheme.schema, {"code": rng.choice(200, n, p=shares).astype(np.uint8)})
        found = estimate(disguise(Dataset(truth), scheme, seed=100 + seed), "code")
        errors = np.sqrt(scheme.groups[0].channel.solve_squares(scheme.groups[0].channel.apply(shares)) - shares**2)
        squares.append((((found.probabilities - shares) / errors) ** 2 * n).mean())
        np.testing.assert_allclose(found.standard_errors, errors / math.sqrt(n), rtol=0.1)
    mean, spread = np.mean(squares), np.std(squares, ddof=1) / math.sqrt(len(squares))
    assert abs(mean - 1) < 5 * spread
    assert 5 * spread < 0.1


def test_sums_over_neighbours_take_their_error_from_the_hash_itself() -> None:
    """Neighbouring answers share a bucket more often than independent ones would, so an ideal formula is too small."""
    region, place = Attribute("region", ("a", "b")), Attribute("place", tuple(f"p{i}" for i in range(100)))
    scheme = Scheme.of([region, place], [(["region", "place"], channels.local_hashing(math.e))])
    channel, n = scheme.groups[0].channel, 2000
    shares = np.outer([0.9, 0.1], falling(100))
    margin = channel.margin([0])
    stated = margin.solve_squares(channel.apply(shares)) - shares.sum(axis=1) ** 2
    errors = []
    rng = np.random.default_rng(6)
    for seed in range(300):
        flat = rng.choice(200, n, p=shares.reshape(-1))
        truth = Table(scheme.schema, {"region": (flat // 100).astype(np.uint8), "place": (flat % 100).astype(np.uint8)})
        tally = MemoryEngine(disguise(Dataset(truth), scheme, seed=seed).table).tally(["region+place"])
        errors.append(margin.solve(tally / n) - shares.sum(axis=1))
    counted = np.mean(np.square(errors), axis=0) * n
    np.testing.assert_allclose(counted, stated, rtol=0.4)
    ideal = 100 * channel.background * (1 - channel.background) / channel.contrast**2
    assert (stated > 1.15 * ideal).any()


def test_figures_of_many_answers_are_those_of_the_hash() -> None:
    channel = channels.local_hashing(7).build((300,))
    prior = falling(300)
    found = channel.figures(prior)
    rng = np.random.default_rng(7)
    guessed = squares = 0.0
    for seed in rng.integers(0, 1 << 2 * channel.hashing.width, 400):
        chances = channel.chances([channel._reports_of(np.array([seed]))]) * prior * 4.0**channel.hashing.width
        guessed += chances.max(axis=1).sum() / 400
        squares += (chances**2).sum(axis=1) @ (1 / chances.sum(axis=1)) / 400
        assert (chances.max(axis=1) / chances.sum(axis=1)).max() <= found.worst_posterior
    assert found.map_privacy == pytest.approx(1 - guessed, abs=0.003)
    assert found.pse == pytest.approx(1 - squares, abs=0.003)


def test_shares_tallies_and_parts_of_hashed_reports(tmp_path: Path) -> None:
    scheme = asked(50, 19)
    rows = {"code": ["c1"] * 600 + ["c2"] * 300 + ["c40"] * 100}
    reports = disguise(rows, scheme, seed=8)
    table = estimate(reports, "code")
    one = estimate(reports, {"code": "c1"})
    assert one.probability == pytest.approx(table.probabilities[1], rel=1e-12)
    assert one.standard_error == pytest.approx(table.standard_errors[1], rel=0.02)
    several = estimate(reports, {"code": ["c1", "c2"]})
    assert several.probability == pytest.approx(table.probabilities[1:3].sum(), rel=1e-12)
    for tally in (tacit.Tally.of(reports, order=1), tacit.Tally.of(reports)):
        tally.write(tmp_path / "tally.parquet")
        again = tacit.Tally.read(tmp_path / "tally.parquet", scheme)
        np.testing.assert_array_equal(estimate(again, "code").probabilities, table.probabilities)
        np.testing.assert_array_equal(estimate(tally, "code").probabilities, table.probabilities)
    halves = [reports.rows(slice(0, 500)), reports.rows(slice(500, None))]
    np.testing.assert_array_equal(estimate(halves, "code").probabilities, table.probabilities)
    likely = estimate(reports, "code", method="likelihood")
    assert likely.probabilities.sum() == pytest.approx(1)
    assert abs(likely.probabilities[1] - 0.6) < 0.15


def test_compiled_and_numpy_loops_count_alike() -> None:
    from tacit.count import hashed

    rng = np.random.default_rng(9)
    for answers, buckets in ((1001, 2), (5000, 64), (3, 2), (70_000, 4)):
        hashing = Hashing(answers, buckets)
        word = 1 << hashing.width
        digits = np.stack([rng.integers(0, bound, 5000) for bound in (buckets, word, word)], axis=1).astype(np.uint32)
        few = digits[:200]
        np.testing.assert_array_equal(hashed._compiled_support(few, hashing), hashing.holding(few).sum(axis=0))
    assert_drawn_from(np.bincount(digits[:, 0], minlength=buckets), np.full(buckets, float(Fraction(1, buckets))))
