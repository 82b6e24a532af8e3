"""What the guesser gets from whole schemes, on real and on made records."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import Attribute, Dataset, Reports, Schema, Scheme, channels, disguise
from tacit.attacks import AttackResult, attack
from tacit.bundled import binary_adult, binary_votes
from tacit.channel.recipe import Recipe
from tacit.errors import InvalidInput, UnknownName
from tacit.table import Table


def attacked(
    truth: Dataset, groups: list[tuple[list[str], Recipe]], seed: int = 7, known: tuple[str, ...] = ()
) -> AttackResult:
    scheme = Scheme.of(truth.schema, groups)
    return attack(disguise(truth, scheme, seed=seed), truth=truth, known=known)


def dealt(names: tuple[str, ...], groups: int, recipe: Recipe) -> list[tuple[list[str], Recipe]]:
    return [(list(names[start::groups]), recipe) for start in range(groups)]


@pytest.fixture(scope="module")
def adult() -> Dataset:
    return binary_adult(10_000)


@pytest.fixture(scope="module")
def coins_and_dice() -> Dataset:
    """Records without any dependence and evenly spread: nothing but the coin's own chance can be guessed."""
    rng = np.random.default_rng(11)
    schema = Schema(tuple(Attribute(f"a{j}", ("no", "yes")) for j in range(4)))
    return Dataset(Table.from_codes(schema, {name: rng.integers(0, 2, 4000) for name in schema.names}))


@pytest.mark.parametrize("theta", [0.55, 0.6, 0.8])
def test_a_flip_of_all_attributes_of_adult_hides_nothing(adult: Dataset, theta: float) -> None:
    found = attacked(adult, [(list(adult.schema.names), channels.flip(theta))])
    assert found.coins is not None
    assert found.coins.with_reports > 0.999
    assert found.records.with_reports > 0.999
    assert found.answers.with_reports > 0.999
    assert found.answers.without_reports < 0.9
    assert "hides almost nothing" in found.warnings[0]


def test_theta_of_51_hundredths_hides_nothing_on_all_of_adult() -> None:
    adult = binary_adult("all")
    found = attacked(adult, [(list(adult.schema.names), channels.flip(0.51))])
    assert found.coins is not None
    assert found.coins.with_reports > 0.999
    assert found.records.with_reports > 0.999
    assert found.coins.without_reports < 0.52


def test_three_groups_betray_most_of_their_coins(adult: Dataset) -> None:
    found = attacked(adult, dealt(adult.schema.names, 3, channels.flip(0.7)))
    assert found.coins is not None
    assert found.coins.with_reports > 0.95
    assert len(found.groups) == 3


def test_without_the_truth_the_guesser_knows_how_good_he_is(adult: Dataset) -> None:
    scheme = Scheme.of(adult.schema, dealt(adult.schema.names, 3, channels.flip(0.7)))
    reports = disguise(adult, scheme, seed=7)
    counted, expected = attack(reports, truth=adult), attack(reports)
    assert (counted.basis, expected.basis) == ("counted", "estimated")
    assert expected.records.with_reports == pytest.approx(counted.records.with_reports, abs=0.02)
    assert expected.answers.with_reports == pytest.approx(counted.answers.with_reports, abs=0.01)
    assert expected.answers.without_reports == pytest.approx(counted.answers.without_reports, abs=0.01)
    assert "not what was counted" in expected.warnings[-1]


def test_independent_evenly_spread_records_keep_the_published_promise(coins_and_dice: Dataset) -> None:
    found = attacked(coins_and_dice, [(list(coins_and_dice.schema.names), channels.flip(0.7))])
    assert found.coins is not None
    assert found.coins.with_reports == pytest.approx(0.7, abs=0.04)


def test_one_known_answer_reveals_its_whole_group_and_nothing_of_the_other(coins_and_dice: Dataset) -> None:
    groups = [(["a0", "a1"], channels.flip(0.7)), (["a2", "a3"], channels.flip(0.7))]
    found = attacked(coins_and_dice, groups, known=("a0",))
    assert found.per_attribute["a1"].with_reports == 1.0
    assert found.per_attribute["a2"].with_reports == pytest.approx(0.7, abs=0.05)
    assert "a0" not in found.per_attribute
    assert "a0, known to the guesser, shares a group with a1" in found.warnings[0]


def test_an_attribute_that_others_may_know_is_pointed_out() -> None:
    truth = Dataset.from_arrow({"sex": ["m", "f"] * 50, "drinks": ["no", "yes", "no", "no"] * 25})
    found = attacked(truth, [(["sex", "drinks"], channels.mixture(0.5, "uniform"))])
    assert any(sentence.startswith("sex may easily be known") for sentence in found.warnings)


def test_few_reports_near_one_half_leave_the_mirror_image_open() -> None:
    truth = binary_votes()
    found = attacked(truth, [(list(truth.schema.names), channels.flip(0.52))])
    assert any("decided by only 0.8 standard errors" in sentence for sentence in found.warnings)
    sure = attacked(truth, [(list(truth.schema.names), channels.flip(0.9))])
    assert not any("standard errors" in sentence for sentence in sure.warnings)


def test_the_source_of_unrelated_question_records_is_betrayed(adult: Dataset) -> None:
    found = attacked(adult, [(list(adult.schema.names), channels.mixture(0.4, "uniform"))])
    assert found.coins is not None
    assert found.coins.without_reports == pytest.approx(0.6, abs=0.02)
    assert found.coins.with_reports > 0.95
    assert found.records.with_reports > 0.4


def test_answers_disguised_one_by_one_give_little_away(adult: Dataset) -> None:
    found = attacked(adult, [([name], channels.warner(0.6)) for name in adult.schema.names])
    assert found.answers.with_reports < found.answers.without_reports + 0.02
    assert found.records.with_reports < 0.2


def test_no_group_looks_like_a_record() -> None:
    truth = binary_votes()
    found = attacked(truth, [(list(truth.schema.names), channels.mask(0.8))])
    assert found.coins is None
    assert found.to_document()["coins"] is None
    assert any("no coins to guess" in sentence for sentence in found.warnings)
    assert found.answers.with_reports > found.answers.without_reports + 0.1


@pytest.mark.parametrize(
    "recipe",
    [
        channels.subset(3, 20),
        channels.cut_and_paste(3, 0.2),
        channels.gamma_diagonal(50),
        channels.matrix(0.9 * np.eye(8) + 0.0125),
    ],
)
def test_every_kind_of_channel_can_be_attacked(recipe: Recipe) -> None:
    truth = binary_votes().select(binary_votes().schema.names[3:6])
    found = attacked(truth, [(list(truth.schema.names), recipe)])
    assert found.answers.with_reports > found.answers.without_reports


def test_public_answers_help_and_are_not_counted() -> None:
    truth = binary_votes()
    private = [name for name in truth.schema.names if name != "Class"]
    scheme = Scheme.of(truth.schema, [([name], channels.warner(0.6)) for name in private[:8]])
    found = attack(disguise(truth, scheme, seed=1), truth=truth)
    assert set(found.per_attribute) == set(private[:8])
    assert found.answers.without_reports > 0.6


def test_dealt_questionnaires_are_attacked_together() -> None:
    truth = binary_votes().select(binary_votes().schema.names[3:6])
    names = truth.schema.names
    scheme = Scheme.dealt(
        truth.schema,
        [
            ("first", 0.5, [(list(names[:2]), channels.flip(0.9))]),
            ("second", 0.5, [(list(names[1:]), channels.flip(0.9))]),
        ],
    )
    found = attack(disguise(truth, scheme, seed=2))
    assert [group.questionnaire for group in found.groups] == ["first", "second"]
    assert found.answers.with_reports > found.answers.without_reports + 0.1
    with pytest.raises(InvalidInput, match="not in the order of the people"):
        attack(disguise(truth, scheme, seed=2), truth=truth)


def test_a_document_has_the_names_that_others_rely_on(coins_and_dice: Dataset) -> None:
    found = attacked(coins_and_dice, [(list(coins_and_dice.schema.names), channels.flip(0.7))])
    assert {"coins", "records", "answers", "answers_without_reports"} <= set(found.to_document())
    assert "whole records" in str(found)


def test_what_cannot_be_attacked_is_refused(coins_and_dice: Dataset) -> None:
    names = list(coins_and_dice.schema.names)
    reports = disguise(coins_and_dice, Scheme.of(coins_and_dice.schema, [(names, channels.flip(0.7))]), seed=1)
    with pytest.raises(InvalidInput, match="3,999 rows for 4,000 reports"):
        attack(reports, truth=coins_and_dice.table.rows(slice(0, 3999)))
    with pytest.raises(InvalidInput, match="must have 'a0'"):
        attack(reports, truth=coins_and_dice.select(names[1:]))
    with pytest.raises(InvalidInput, match="give the truth"):
        attack(reports, known=("a0",))
    with pytest.raises(UnknownName, match="'b0' does not exist"):
        attack(reports, truth=coins_and_dice, known=["b0"])
    with pytest.raises(InvalidInput, match="nothing is left to guess"):
        attack(reports, truth=coins_and_dice, known=names)
    with pytest.raises(InvalidInput, match="at least one component, not 0"):
        attack(reports, components=0)
    with pytest.raises(InvalidInput, match="no reports to attack"):
        attack(reports.rows(slice(0, 0)))
    with pytest.raises(InvalidInput, match="nothing is left to guess"):
        attack(Reports.from_truth(coins_and_dice))


def test_a_group_too_large_to_weigh_cell_by_cell_is_refused() -> None:
    schema = Schema(tuple(Attribute(f"a{j}", ("no", "yes")) for j in range(14)))
    truth = Dataset(Table.from_codes(schema, {name: np.zeros(20, dtype=int) for name in schema.names}))
    with pytest.raises(InvalidInput, match="16,384 of them, more than 8,192"):
        attacked(truth, [(list(schema.names), channels.cut_and_paste(3, 0.4))])
