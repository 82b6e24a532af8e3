"""The law of a channel in every form it is told in: program, chances, products, contributions and figures.

Each is compared with the plain matrix of whole reports, which `test_channel.py` holds against everything linear.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit import channels
from tacit.channel import KINDS, extremes
from tacit.channel.base import Channel, Summed
from tacit.channel.dense import Figures, attribute_law, dense_figures
from tacit.channel.program import compile_program, law
from tacit.channel.recipe import for_amplification
from tacit.channel.registry import kind as kind_of
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import SeededRandomness
from tests.conformance import dense
from tests.conformance.channels import NAMED, UNINFORMATIVE, axes_of_marginals, invertible_channels, with_marginals
from tests.statistics import assert_drawn_from

WHOLE = {**NAMED, **{name: channel for name, (channel, _) in UNINFORMATIVE.items()}}
EVERY = with_marginals(NAMED)
every_whole = pytest.mark.parametrize("channel", WHOLE.values(), ids=WHOLE)
every_channel = pytest.mark.parametrize("channel", EVERY.values(), ids=EVERY)
found_by_hypothesis = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Law = dict[tuple[int, ...], tuple[Fraction, ...]]


def is_whole(channel: Channel) -> bool:
    """Whether it is a channel of a scheme, not of some attributes of a group."""
    try:
        channel.program()
    except InvalidInput as refusal:
        if "no program of their own" not in str(refusal):
            raise
        return False
    return True


def program_law(channel: Channel) -> Law:
    return law(channel.program(), channel.shape)


def report_digits(channel: Channel) -> list[tuple[int, ...]]:
    columns = [column.reshape(len(column), -1).astype(int) for column in channel.reports()]
    return [tuple(row) for row in np.concatenate(columns, axis=1).tolist()]


def assert_program_is_the_law(channel: Channel) -> None:
    """Every chance of the matrix is the float nearest to the program's exact one, but for two roundings."""
    rows, written = program_law(channel), channel.matrix
    none = (Fraction(0),) * math.prod(channel.shape)
    exact = [rows.get(report, none) for report in report_digits(channel)]
    assert set(rows) <= set(report_digits(channel))
    for fractions, chances in zip(exact, written, strict=True):
        for fraction, chance in zip(fractions, chances, strict=True):
            assert abs(float(fraction) - chance) <= 4e-16 + 1e-14 * chance
    assert channel.amplification == pytest.approx(float(exact_amplification(rows)), rel=1e-12)


def exact_amplification(rows: Law) -> Fraction | float:
    if any(min(chances) == 0 for chances in rows.values()):
        return math.inf
    return max(max(chances) / min(chances) for chances in rows.values())


@every_whole
def test_the_program_has_the_law_of_the_matrix(channel: Channel) -> None:
    assert_program_is_the_law(channel)


@found_by_hypothesis
@given(invertible_channels())
def test_any_program_has_the_law_of_its_matrix(channel: Channel) -> None:
    if is_whole(channel) and channel.n_reports * channel.size <= 1 << 11:
        assert_program_is_the_law(channel)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(KINDS), st.floats(1.01, 60), st.sampled_from([(2,), (3,), (5,), (2, 3)]))
def test_a_demanded_amplification_is_never_exceeded_and_nearly_used_up(
    kind: str, gamma: float, shape: tuple[int, ...]
) -> None:
    for chosen in kind_of(kind).choices(shape, gamma):
        recipe = for_amplification(kind, shape, gamma, **chosen)
        if recipe is not None:
            channel = recipe.build(shape)
            reached = exact_amplification(program_law(channel))
            assert reached <= Fraction(gamma) * (1 + Fraction(1, 10**12) * (kind in ("mask", "cut-and-paste")))
            assert reached >= gamma * (1 - 1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(2,), (3,), (2, 2)])
def test_a_few_demanded_amplifications_are_kept(kind: str, shape: tuple[int, ...]) -> None:
    for gamma in (2.5, 19.0):
        chosen = kind_of(kind).choices(shape, gamma)
        made = [recipe for some in chosen if (recipe := for_amplification(kind, shape, gamma, **some)) is not None]
        only = {"flip": shape == (2,), "threshold": shape == (3,), "matrix": False}
        assert bool(made) == only.get(kind, True)
        for recipe in made:
            reached = recipe.build(shape).amplification
            assert gamma * (1 - 1e-6) <= reached <= gamma * (1 + 1e-12)


def test_as_many_items_are_kept_as_an_amplification_allows() -> None:
    kept = {gamma: for_amplification("cut-and-paste", (3, 3), gamma) for gamma in (2.0, 2.5, 3.5, 19.0)}
    assert {gamma: None if recipe is None else recipe.parameters["K"] for gamma, recipe in kept.items()} == {
        2.0: None, 2.5: 1, 3.5: 2, 19.0: 2,
    }  # fmt: skip
    assert [some["K"] for some in kind_of("cut-and-paste").choices((3, 3), 19.0)] == [1, 2, 3, 4]
    assert [some["K"] for some in kind_of("cut-and-paste").choices((3, 3), 3.5)] == [1, 2]
    with pytest.raises(InvalidInput, match="an amplification of at least 4, so 3 cannot be kept"):
        for_amplification("cut-and-paste", (3, 3), 3.0, K=3)


def test_half_of_the_largest_alpha_randomizes_a_gamma_diagonal() -> None:
    for size, gamma, most in ((4, 5.0, 3 / 8), (9, 5.0, 5 / 13)):
        recipe = for_amplification("randomized-gamma-diagonal", (size,), gamma)
        assert recipe is not None
        assert recipe.parameters["alpha"] == pytest.approx(most / 2)


def _rising(size: int) -> list[float]:
    return (np.arange(1, size + 1) / math.comb(size + 1, 2)).tolist()


LARGE = {
    "warner": channels.warner(0.3).build((2000,)),
    "uniform-perturbation": channels.uniform_perturbation(0.1).build((10, 20, 30)),
    "gamma-diagonal": channels.gamma_diagonal(19).build((1000, 1000)),
    "mixture": channels.mixture(0.4, [_rising(200), _rising(300)]).build((200, 300)),
    "flip": channels.flip(0.8).build((2,) * 12),
    "mask": channels.mask(0.6).build((2,) * 30),
    "cut-and-paste": channels.cut_and_paste(3, 0.5).build((3,) * 12),
    "randomized-gamma-diagonal": channels.randomized_gamma_diagonal(19, 0.004).build((2000,)),
    "subset": channels.subset(100, 19).build((2000,)),
    "threshold": channels.threshold(19).build((2000,)),
    "hadamard": channels.hadamard(19).build((100, 1000)),
    "local-hashing": channels.local_hashing(19).build((100, 1000)),
}


@pytest.mark.parametrize("channel", LARGE.values(), ids=LARGE)
def test_the_extremes_of_a_large_program_are_the_channels(channel: Channel) -> None:
    stated = extremes.amplification(channel.program(), channel.shape)
    assert channel.amplification == pytest.approx(float(stated), rel=1e-12)


def test_every_kind_but_a_written_matrix_has_a_large_program() -> None:
    assert set(LARGE) == set(KINDS) - {"matrix"}


def test_the_page_and_python_toss_one_integer() -> None:
    assert channels.gamma_diagonal(2.8).build((3,)).program()["toss"] == 1610612735


def test_a_program_off_by_one_part_in_two_to_the_32_is_noticed() -> None:
    class Sloppy(type(NAMED["flip"])):
        def program(self) -> dict[str, object]:
            return {**super().program(), "toss": self.coin + 1}

    with pytest.raises(AssertionError):
        assert_program_is_the_law(Sloppy((2,), 0.75))


@every_whole
def test_report_digits_have_the_radices_of_the_program(channel: Channel) -> None:
    radices = compile_program(channel.program(), channel.shape).report_radices
    for report in report_digits(channel):
        assert len(report) == len(radices)
        assert all(0 <= digit < radix for digit, radix in zip(report, radices, strict=True))


@every_channel
def test_chances_are_rows_of_the_matrix(channel: Channel) -> None:
    columns = channel.reports()
    order = np.random.default_rng(3).permutation(len(columns[0]))
    shuffled = [column[order] for column in columns]
    np.testing.assert_allclose(channel.chances(shuffled), channel.matrix[order], rtol=1e-12, atol=1e-15)
    # The plain way, which looks reports up among all of them.
    np.testing.assert_allclose(Channel.chances(channel, shuffled), channel.matrix[order], rtol=1e-12, atol=1e-15)


@every_channel
def test_products_add_up_to_the_chances_and_to_the_contributions(channel: Channel) -> None:
    columns = channel.reports()
    terms = channel.chance_terms(columns)
    if terms is not None:
        total = sum(term.written_out(channel.shape) for term in terms)
        np.testing.assert_allclose(total, channel.chances(columns), rtol=1e-12, atol=1e-15)
    undone = channel.inverse_terms(columns)
    if undone is not None:
        total = sum(term.written_out(channel.shape) for term in undone)
        np.testing.assert_allclose(total, channel.inverse(columns), rtol=1e-9, atol=1e-11)
    assert len(channel.shape) > 1 or terms is not None


@every_channel
def test_contributions_are_what_a_report_adds_to_the_estimate(channel: Channel) -> None:
    columns = channel.reports()
    expected = dense.contributions(channel)
    np.testing.assert_allclose(channel.inverse(columns).T, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(Channel.inverse(channel, columns).T, expected, rtol=1e-9, atol=1e-10)
    # Unbiased: their mean under each truth is that truth.
    np.testing.assert_allclose(expected @ channel.matrix, np.eye(channel.size), atol=1e-9)
    assert channel.sums_to_one == np.allclose(expected.sum(axis=0), 1, rtol=1e-9, atol=1e-10)


@every_channel
def test_the_dense_defaults_agree_with_what_a_kind_knows_better(channel: Channel) -> None:
    generator = np.random.default_rng(5)
    truth = generator.dirichlet(np.ones(channel.size)).reshape(channel.shape)
    tally = channel.apply(truth)
    weights = generator.normal(size=channel.tally_shape)
    np.testing.assert_allclose(Channel.apply(channel, truth), tally, atol=1e-12)
    np.testing.assert_allclose(Channel.adjoint(channel, weights), channel.adjoint(weights), atol=1e-11)
    assert Channel.amplification.fget(channel) == pytest.approx(channel.amplification, rel=1e-7)
    for axis in range(len(channel.shape)):
        assert Channel.answer_amplification(channel, axis) == pytest.approx(
            channel.answer_amplification(axis), rel=1e-7
        )
    known, plain = channel.condition_number(), Channel.condition_number(Dense(channel))
    if plain is not None and plain < 1e8:
        assert known == pytest.approx(plain, rel=1e-6)


class Dense(Channel):
    """A kind that says no more than it must."""

    def __init__(self, channel: Channel) -> None:
        self.whole = channel

    def __getattr__(self, name: str) -> object:
        if name in ("shape", "kind", "parameters", "matrix", "program"):
            return getattr(self.whole, name)
        raise AttributeError(name)

    @property
    def shows(self) -> str:  # type: ignore[override]
        return self.whole.shows

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return self.whole.tally_shape

    def reports(self) -> tuple[np.ndarray, ...]:
        return self.whole.reports()

    def program(self) -> dict[str, object]:
        return self.whole.program()


@pytest.mark.parametrize("channel", NAMED.values(), ids=NAMED)
def test_a_kind_that_says_no_more_than_it_must_is_sampled_by_its_program(channel: Channel) -> None:
    truth = channel.size // 2
    codes = [np.full(50, code) for code in np.unravel_index(truth, channel.shape)]
    columns = Dense(channel).sample(codes, SeededRandomness(4))
    for drawn, listed in zip(columns, channel.reports(), strict=True):
        assert (drawn.dtype, drawn.shape[1:]) == (listed.dtype, listed.shape[1:])
    assert (channel.chances(columns)[:, truth] > 0).all()


@pytest.mark.parametrize(
    "name", ["unrelated joint question", "mask", "subset of two", "hadamard of two attributes", "local hashing of two"]
)
def test_programs_run_one_by_one_draw_the_declared_reports(name: str) -> None:
    channel = NAMED[name]
    codes = [np.full(30_000, code) for code in np.unravel_index(1, channel.shape)]
    columns = Dense(channel).sample(codes, SeededRandomness(4))
    assert_drawn_from(dense.report_counts(channel, columns), channel.matrix[:, 1])
    with pytest.raises(AssertionError):
        assert_drawn_from(
            dense.report_counts(channel, columns), 0.85 * channel.matrix[:, 1] + 0.15 * channel.matrix[:, 0]
        )


@pytest.mark.parametrize("channel", NAMED.values(), ids=NAMED)
def test_a_kind_that_says_no_more_than_it_must_estimates_all_the_same(channel: Channel) -> None:
    plain, generator = Dense(channel), np.random.default_rng(6)
    truth = generator.dirichlet(np.ones(channel.size)).reshape(channel.shape)
    tally, chances = plain.apply(truth), channel.matrix @ truth.reshape(-1)
    np.testing.assert_allclose(plain.solve(tally), truth, atol=1e-9)
    parts = plain.inverse(plain.reports()).T
    pairs = (parts * chances) @ parts.T
    np.testing.assert_allclose(plain.solve_pairs(tally), pairs, atol=1e-8 * max(1, np.abs(pairs).max()))
    squares = np.diagonal(pairs).reshape(channel.shape)
    np.testing.assert_allclose(plain.solve_squares(tally), squares, atol=1e-8 * max(1, np.abs(pairs).max()))
    for axes in axes_of_marginals(channel):
        margin = plain.margin(axes)
        assert isinstance(margin, Summed)
        others = tuple(axis for axis in range(len(channel.shape)) if axis not in axes)
        np.testing.assert_allclose(margin.solve(tally), truth.sum(axis=others), atol=1e-9)


def agree(found: Figures, expected: Figures, tolerance: float = 1e-12) -> None:
    for name in ("map_privacy", "worst_posterior", "pse"):
        if getattr(found, name) is not None:
            assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=tolerance), name


@every_channel
def test_figures_are_those_of_whole_reports(channel: Channel) -> None:
    generator = np.random.default_rng(7)
    uneven = generator.dirichlet(np.full(channel.size, 0.7)).reshape(channel.shape)
    for prior in (np.full(channel.shape, 1 / channel.size), uneven):
        agree(channel.figures(prior), dense_figures(channel.matrix, prior.reshape(-1)))
        for axis in range(len(channel.shape)):
            others = tuple(other for other in range(len(channel.shape)) if other != axis)
            through = attribute_law(channel.matrix, channel.shape, axis, prior)
            agree(channel.answer_figures(axis, prior), dense_figures(through, prior.sum(axis=others)))


CERTAIN = {
    "every bit kept": channels.mask(1.0).build((3,)),
    "every bit reversed": channels.mask(0.0).build((3,)),
    "no foreign items": channels.cut_and_paste(1, 0.0).build((3,)),
    "every foreign item": channels.cut_and_paste(1, 1.0).build((3,)),
}


@pytest.mark.parametrize("channel", CERTAIN.values(), ids=CERTAIN)
def test_figures_of_bits_without_doubt_are_those_of_whole_reports(channel: Channel) -> None:
    prior = np.array([0.5, 0.3, 0.2])
    agree(channel.figures(prior), dense_figures(channel.matrix, prior))


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("K", [1, 2, 3, 5])
def test_what_cut_and_paste_shows_of_an_itemset_is_that_of_whole_reports(K: int, length: int) -> None:
    """An item of each of the first attributes: how many are shown, by how many the record holds."""
    channel = channels.cut_and_paste(K, 0.25).build((2, 2, 2))
    shown = sum(np.asarray(bits)[:, 1].astype(int) for bits in channel.reports()[:length])
    held = sum(np.indices(channel.shape).reshape(3, -1)[:length])
    for record in range(channel.size):
        law = np.bincount(shown, channel.matrix[:, record], length + 1)
        np.testing.assert_allclose(channel.itemset_law(length)[:, held[record]], law, atol=1e-12)
    singular = np.linalg.svd(channel.itemset_law(length), compute_uv=False)
    expected = singular[0] / singular[-1] if length <= K else math.inf
    assert channel.itemset_condition(length) == pytest.approx(expected, rel=1e-6)


def test_conditions_of_itemsets_grow_with_their_length() -> None:
    assert channels.mask(0.75).build((2, 2, 3)).itemset_condition(3) == pytest.approx(8)
    assert channels.mask(0.5).build((2, 2)).itemset_condition(1) == math.inf
    mixed = channels.gamma_diagonal(19).build((3, 4))
    assert mixed.itemset_condition(1) == pytest.approx(1 / mixed.keep)


def _shows(column: np.ndarray, code: int) -> np.ndarray:
    return column[:, code].astype(bool) if column.ndim > 1 else column == code


SHOWING = {name: channel for name, channel in NAMED.items() if channel.counts_by_shown}


@pytest.mark.parametrize("channel", SHOWING.values(), ids=SHOWING)
def test_contributions_by_what_is_shown_are_those_of_the_inverse(channel: Channel) -> None:
    """One answer for each attribute is true: what a report that shows just some of these answers contributes."""
    codes = np.indices(channel.shape).reshape(len(channel.shape), -1).T
    reports = [np.asarray(column) for column in channel.reports()]
    inverse = channel.inverse(reports)
    for truth, answers in enumerate(codes):
        shown = np.stack([_shows(column, code) for column, code in zip(reports, answers, strict=True)], axis=1)
        found = channel.shown_contributions(answers[None, :], shown)
        np.testing.assert_allclose(found[0], inverse[:, truth], atol=1e-9)


def test_attributes_of_a_mixture_have_no_program_of_their_own() -> None:
    for name in ("uniform perturbation of three attributes", "unrelated questions per attribute"):
        with pytest.raises(InvalidInput, match="no program of their own"):
            NAMED[name].marginal([0]).program()


@pytest.mark.parametrize("channel", [channel for channel, _ in UNINFORMATIVE.values()], ids=UNINFORMATIVE)
def test_an_inverse_that_does_not_exist_is_refused(channel: Channel) -> None:
    with pytest.raises(NotEstimable):
        channel.inverse(channel.reports())
    with pytest.raises(NotEstimable):
        channel.left_inverse()


@every_channel
def test_figures_of_independent_answers_are_those_of_their_product(channel: Channel) -> None:
    generator = np.random.default_rng(8)
    parts = [generator.dirichlet(np.ones(size)) for size in channel.shape]
    joint = np.ones(())
    for part in parts:
        joint = np.multiply.outer(joint, part)
    known = channel.figures(joint)
    agree(channel.independent_figures(parts), known)
    assert (channel.independent_figures(parts).map_privacy is None) == (known.map_privacy is None)
    for axis in range(len(channel.shape)):
        agree(channel.independent_answer_figures(axis, parts), channel.answer_figures(axis, joint))


@every_channel
def test_nobody_can_be_surer_of_a_record_than_of_each_of_its_answers(channel: Channel) -> None:
    prior = np.random.default_rng(9).dirichlet(np.full(channel.size, 0.7)).reshape(channel.shape)
    whole = channel.figures(prior)
    for axis in range(len(channel.shape)):
        part = channel.answer_figures(axis, prior)
        assert part.worst_posterior >= whole.worst_posterior - 1e-12
        assert part.map_privacy <= whole.map_privacy + 1e-12


@every_channel
def test_the_most_likely_truth_is_likelier_than_any_near_it(channel: Channel) -> None:
    generator = np.random.default_rng(10)
    counts = generator.multinomial(40, generator.dirichlet(np.ones(channel.size))).reshape(channel.shape) / 40
    best = channel.most_likely(counts) if channel.shows == "one" and channel.n_reports == channel.size else None
    if best is None:
        return
    assert best.sum() == pytest.approx(1)
    assert (best >= 0).all()

    def likelihood(truth: np.ndarray) -> float:
        expected = channel.apply(truth)
        seen = counts > 0
        with np.errstate(divide="ignore"):
            return float((counts[seen] * np.log(expected[seen])).sum())

    for _ in range(50):
        other = generator.dirichlet(np.full(channel.size, 0.5)).reshape(channel.shape)
        for step in (1e-3, 0.1, 1.0):
            assert likelihood(best) >= likelihood((1 - step) * best + step * other) - 1e-12


@every_channel
def test_orbits_hold_everything_that_a_report_can_come_from(channel: Channel) -> None:
    orbits = channel.orbits()
    if orbits is None:
        return
    assert np.array_equal(np.sort(orbits.places, axis=None), np.arange(channel.size))
    written = np.zeros((channel.size, channel.size))
    for members in orbits.places:
        written[np.ix_(members, members)] = orbits.law
    np.testing.assert_allclose(written, channel.matrix, atol=1e-15)
