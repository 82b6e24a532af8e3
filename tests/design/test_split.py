from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

import tacit
from tacit import Attribute, Schema, channels
from tacit.bundled import census
from tacit.channel.symmetry import best_members, information
from tacit.count import sources
from tacit.design.predict import predicted_errors
from tacit.design.split import best_recipe, over_subsets, over_supersets, split_questionnaire
from tacit.design.targets import Target, class_targets, itemset_targets, table_targets
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.closed_supports import SplitSupports
from tests.mine.itemset_checks import all_itemsets

SCHEMA = Schema(tuple(Attribute(f"q{i}", tuple(f"a{code}" for code in range(d))) for i, d in enumerate((2, 3, 4))))
NAMES = SCHEMA.names


@pytest.mark.parametrize(("gamma", "answers"), [(19, 2000), (19, 10), (3, 50), (1.5, 7), (1e6, 30)])
def test_the_best_number_of_members_is_the_best_of_all(gamma: float, answers: int) -> None:
    told = [information(gamma, answers, members) for members in range(1, answers)]
    assert information(gamma, answers, best_members(gamma, answers)) == max(told)


@pytest.mark.parametrize("recipe", [channels.subset(4, 7), channels.gamma_diagonal(7)])
def test_information_is_that_of_the_channel(recipe: channels.Recipe) -> None:
    channel = recipe.build((12,))
    law = channel.set_law()
    assert law is not None
    assert law.information == pytest.approx(information(7, 12, law.members), rel=1e-6)
    covariance = channel.solve_pairs(channel.apply(np.full(12, 1 / 12)))
    # On differences of answers the covariance has one eigenvalue, and the information is one over it (per answer).
    contrast = np.array([1, -1] + [0] * 10) / math.sqrt(2)
    assert law.information == pytest.approx(1 / (contrast @ covariance @ contrast) / 12, rel=1e-6)


def test_sums_over_the_lattice() -> None:
    values = np.random.default_rng(1).random(16)
    for number in range(16):
        inside = [other for other in range(16) if other & ~number == 0]
        above = [other for other in range(16) if number & ~other == 0]
        assert over_subsets(values)[number] == pytest.approx(values[inside].sum())
        assert over_supersets(values)[number] == pytest.approx(values[above].sum())


def test_the_dealing_is_the_optimum_a_general_solver_finds() -> None:
    targets = [Target(("q0", "q1"), 1.0), Target(("q1", "q2"), 3.0), Target(("q0",), 2.0)]
    design = split_questionnaire(SCHEMA, targets, 19, tolerance=1e-7)
    sets = [s for size in (1, 2, 3) for s in itertools.combinations(NAMES, size)]
    cells = {s: math.prod(SCHEMA.shape(s)) for s in sets}
    tells = np.array([information(19, cells[s], best_members(19, cells[s])) for s in sets])

    def cost(dealing: np.ndarray) -> float:
        total = 0.0
        for target in targets:
            for size in range(1, len(target.attributes) + 1):
                for inside in itertools.combinations(target.attributes, size):
                    known = sum(p * g for p, g, s in zip(dealing, tells, sets, strict=True) if set(inside) <= set(s))
                    sizes = {name: SCHEMA[name].size for name in target.attributes}
                    factors = [(1 - 1 / d) / d if name in inside else 1 / d**2 for name, d in sizes.items()]
                    total += target.weight * math.prod(factors) / known
        return total

    start = np.full(len(sets), 1 / len(sets))
    bounds, simplex = [(0, 1)] * len(sets), {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = minimize(cost, start, bounds=bounds, constraints=[simplex], method="SLSQP", options={"ftol": 1e-12}).fun
    assert design.cost == pytest.approx(best, rel=1e-3)
    assert design.lower_bound <= best * (1 + 1e-6)
    assert design.cost <= design.lower_bound * 1.012
    mine = np.array([design.dealing.get(s, 0.0) for s in sets])
    assert cost(mine) == pytest.approx(design.cost, rel=1e-6)


def test_every_respondent_keeps_the_whole_amplification() -> None:
    design = split_questionnaire(census().schema, itemset_targets(census().schema, census().schema.names, 6), 19)
    assert sum(design.dealing.values()) == pytest.approx(1)
    assert all(part.groups[0].channel.amplification <= 19 for part in design.scheme.questionnaires)
    assert design.cost <= 1.012 * design.lower_bound


def test_one_questionnaire_that_holds_everything_is_a_plain_scheme() -> None:
    design = split_questionnaire(SCHEMA.select(["q0"]), [Target(("q0",), 1.0)], 19)
    assert not design.scheme.is_dealt


@pytest.mark.slow
def test_predictions_agree_with_simulation() -> None:
    """Root mean squares over all itemsets of a length: within ten in a hundred, as the chance of twelve surveys allows."""
    truth = census()
    design = split_questionnaire(truth.schema, itemset_targets(truth.schema, truth.schema.names, 6), 19)
    predicted = predicted_errors(design.scheme, truth.n_rows)
    squares, cells = np.zeros(6), np.zeros(6)
    for seed in range(12):
        found = SplitSupports(sources(tacit.disguise(truth, design.scheme, seed=seed)))
        for length in range(1, 7):
            for names, table in all_itemsets(truth, length).items():
                squares[length - 1] += ((found.table(names) - table) ** 2).sum()
                cells[length - 1] += table.size
    np.testing.assert_allclose(np.sqrt(squares / cells), predicted.by_length, rtol=0.1)


def test_predictions_of_published_mechanisms_are_those_of_their_channels() -> None:
    from tacit.design.recommend import best_recipe

    for kind in ("gamma-diagonal", "randomized-gamma-diagonal", "mask", "cut-and-paste"):
        scheme = tacit.Scheme.of(SCHEMA, [(NAMES, best_recipe(kind, SCHEMA.shape(), 19, 3))])
        channel = scheme.groups[0].channel.marginal([0, 2])
        uniform = np.full((2, 4), 1 / 8)
        variances = channel.solve_squares(channel.apply(uniform)) - uniform**2
        tables = [variances.sum()]
        for pair in ([0, 1], [1, 2]):
            other = scheme.groups[0].channel.marginal(pair)
            even = np.full(other.shape, 1 / math.prod(other.shape))
            tables.append((other.solve_squares(other.apply(even)) - even**2).sum())
        expected = math.sqrt(sum(tables) / (6 + 8 + 12) / 500)
        assert predicted_errors(scheme, 500).at(2) == pytest.approx(expected, rel=1e-6)


def test_what_cannot_be_estimated_has_no_prediction() -> None:
    scheme = tacit.Scheme.of(SCHEMA, [(NAMES, channels.cut_and_paste(2, 0.3))])
    assert predicted_errors(scheme, 100).at(3) is None
    dealt = tacit.Scheme.dealt(SCHEMA, [(n, 1 / 3, [([n], channels.gamma_diagonal(19))]) for n in NAMES])
    assert predicted_errors(dealt, 100).by_length[1:] == (None, None)


def test_only_what_is_needed_is_asked() -> None:
    design = split_questionnaire(SCHEMA, table_targets(SCHEMA, [["q0", "q1"]]), 19)
    assert design.scheme.schema.names == ("q0", "q1")
    shown = split_questionnaire(SCHEMA, table_targets(SCHEMA, [["q0", "q1"]]), 19, public=["q2"])
    assert shown.scheme.public_names == ("q2",)


def test_pairs_with_the_class() -> None:
    targets = class_targets(SCHEMA, NAMES, "q1")
    assert [target.attributes for target in targets] == [("q0", "q1"), ("q2", "q1")]
    assert all("q1" in asked for asked in split_questionnaire(SCHEMA, targets, 19).dealing)


def test_a_channel_of_one_member_is_gamma_diagonal() -> None:
    assert best_recipe(19, 5).kind == "gamma-diagonal"
    assert best_recipe(19, 2000).parameters == {"size": 100, "gamma": 19}


WIDE = Schema(tuple(Attribute(f"w{i}", tuple(map(str, range(40)))) for i in range(25)))


@pytest.mark.parametrize(
    ("targets", "gamma", "message"),
    [
        ([Target(("q0",), 1.0)], 0.5, "at least 1, not 0.5"),
        ([Target(("q0",), 1.0)], 1, "gamma = 1 reports say nothing"),
        ([Target(("q0",), 0.0)], 19, "must be above 0, not 0.0"),
        ([], 19, "nothing to design for"),
    ],
)
def test_impossible_designs_are_refused(targets: list[Target], gamma: float, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        split_questionnaire(SCHEMA, targets, gamma)


def test_what_is_too_large_to_ask_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 24 attributes, not 25"):
        split_questionnaire(WIDE, itemset_targets(WIDE, WIDE.names, 1), 19)
    with pytest.raises(InvalidInput, match=r"joint domain of w0, w1, w2 has 64,000 answers.*shorter itemsets"):
        split_questionnaire(WIDE, [Target(("w0", "w1", "w2"), 1.0)], 19)


def test_many_attributes_cannot_be_asked_for_long_itemsets() -> None:
    with pytest.raises(InvalidInput, match=r"sets of up to 6, too many to design for\. Ask for shorter itemsets"):
        split_questionnaire(BITS, itemset_targets(BITS, BITS.names, 6), 19)


BITS = Schema(tuple(Attribute(f"b{i}", ("no", "yes")) for i in range(24)))


def test_the_sets_of_few_attributes_give_what_all_sets_give(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema(tuple(Attribute(f"c{i}", tuple(map(str, range(2 + i % 2)))) for i in range(7)))
    targets = itemset_targets(schema, schema.names, 2)
    full = split_questionnaire(schema, targets, 19)
    monkeypatch.setattr("tacit.design.split.MOST_IN_FULL", 3)
    monkeypatch.setattr("tacit.design.split.MOST_SETS", 70)  # up to three attributes
    few = split_questionnaire(schema, targets, 19)
    assert max(map(len, few.dealing)) <= 3
    assert few.cost == pytest.approx(full.cost, rel=0.01)
    assert few.lower_bound <= full.cost


def test_house_votes_are_split_for_pairs() -> None:
    from tacit.bundled import load_votes

    schema = load_votes().schema
    assert len(schema.names) == 17
    design = split_questionnaire(schema, itemset_targets(schema, schema.names, 2), 19)
    assert design.cost <= 1.012 * design.lower_bound
    pairs = {pair for asked in design.dealing for pair in itertools.combinations(sorted(asked), 2)}
    assert len(pairs) == 17 * 16 // 2
    assert all(part.groups[0].channel.amplification <= 19 for part in design.scheme.questionnaires)


def test_impossible_purposes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="from 1 to 3, the number of attributes, not 4"):
        itemset_targets(SCHEMA, NAMES, 4)
    with pytest.raises(InvalidInput, match="The class 'q1' is public"):
        class_targets(SCHEMA, ["q0"], "q1")
    with pytest.raises(InvalidInput, match="no attribute besides the class"):
        class_targets(SCHEMA, ["q1"], "q1")
    with pytest.raises(InvalidInput, match="Name the tables"):
        table_targets(SCHEMA, [])
    with pytest.raises(InvalidInput, match="twice: q0, q0"):
        table_targets(SCHEMA, [["q0", "q0"]])
    with pytest.raises(UnknownName, match="'age' does not exist"):
        table_targets(SCHEMA, [["age"]])
    with pytest.raises(InvalidInput, match="'q2' is public, so no table"):
        split_questionnaire(SCHEMA, [Target(("q2",), 1.0)], 19, public=["q2"])
    with pytest.raises(InvalidInput, match="respondents must be a whole number"):
        predicted_errors(tacit.Scheme.of(SCHEMA), 0)
