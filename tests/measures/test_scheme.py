"""The measures of groups and schemes, and what is said about them."""

import json
import math

import numpy as np
import pytest

from tacit import Attribute, Dataset, Scheme, channels
from tacit.bundled.binary import binary_adult
from tacit.channel.dense import dense_figures
from tacit.channel.routing import NOT_ASKED
from tacit.channel.scheme import Group
from tacit.errors import InvalidInput
from tacit.measures.exposure import blind
from tacit.measures.scheme import measure
from tacit.schema import Schema
from tacit.table import Table

YES_NO = ("no", "yes")
BINARY = Schema(tuple(Attribute(name, YES_NO) for name in "abcd"))


def said(measures, words):
    return any(words in warning for warning in measures.warnings)


def test_the_amplification_of_a_scheme_is_the_product_over_its_groups():
    scheme = Scheme.of(BINARY, [(["a"], channels.warner(0.9)), (["b", "c"], channels.gamma_diagonal(4))])
    measures = measure(scheme)
    assert measures.gamma == pytest.approx(36)
    assert measures.epsilon == pytest.approx(math.log(36))
    assert [group.gamma for group in measures.groups] == pytest.approx([9, 4])
    assert measures.posterior_bound(0.05) == pytest.approx(0.05 * 36 / (0.05 * 36 + 0.95))
    assert measures.public == ("d",)
    assert said(measures, "d is public")
    assert said(measures, "amplification of the whole record, not of one group")
    assert measures.condition == pytest.approx(1 / 0.8 * 7 / 3)


def test_the_figures_agree_with_the_kronecker_product_of_the_groups():
    scheme = Scheme.of(BINARY, [(["a"], channels.warner(0.9)), (["b", "c"], channels.gamma_diagonal(4))])
    law = np.kron(scheme.groups[0].channel.matrix, scheme.groups[1].channel.matrix)
    ratios = law.max(axis=1) / law.min(axis=1)
    assert measure(scheme).gamma == pytest.approx(ratios.max())
    assert measure(scheme).condition == pytest.approx(np.linalg.cond(law))


def test_dealt_questionnaires_count_by_the_one_that_reveals_most():
    scheme = Scheme.dealt(
        BINARY,
        [
            ("x", 0.5, [(["a"], channels.warner(0.9)), (["b"], channels.warner(0.9))]),
            ("y", 0.5, [(["c"], channels.warner(0.95))]),
        ],
    )
    measures = measure(scheme)
    assert measures.gamma == pytest.approx(81)
    assert [group.questionnaire for group in measures.groups] == ["x", "x", "y"]
    assert measures.condition is None
    assert said(measures, "No estimate of a and c: No questionnaire asks a and c together")


def test_nothing_disguised_is_said_to_be_so():
    measures = measure(Scheme.of(BINARY))
    assert measures.gamma == math.inf
    assert measures.meaning == "Your answers are reported as they are."
    assert said(measures, "Nothing is disguised")
    assert measures.to_document()["gamma"] is None


def test_a_flip_of_a_whole_group_is_said_to_reveal_the_pair():
    scheme = Scheme.of(BINARY, [(["a", "b"], channels.flip(0.8)), (["c", "d"], channels.flip(0.7))])
    measures = measure(scheme)
    assert measures.gamma == math.inf
    first = measures.groups[0]
    assert first.map_privacy == pytest.approx(0.2)  # evenly spread records: only the coin hides them
    assert first.worst_posterior == pytest.approx(0.8)
    assert said(measures, "only two records possible, the report and its opposite")
    assert said(measures, "do not count on theta")
    assert said(measures, "guessed with chance 0.56")
    assert measures.coins_guessed == pytest.approx(0.8 * 0.7)
    assert "no bound" in measures.meaning


def test_on_real_records_a_flip_of_everything_hides_nothing():
    truth = binary_adult("all")
    scheme = Scheme.of(truth.schema, [(truth.schema.names, channels.flip(0.51))])
    assert measure(scheme).groups[0].map_privacy == pytest.approx(0.49)  # as printed, for evenly spread records
    assert measure(scheme, truth).groups[0].map_privacy < 1e-12  # no record of Adult has its opposite in Adult


def test_a_flip_of_a_single_answer_has_a_bound():
    measures = measure(Scheme.of(BINARY, [(["a"], channels.flip(0.8))]))
    assert measures.gamma == pytest.approx(4)
    assert "at most 4 times" in measures.meaning
    assert "20% sure" not in measures.meaning
    assert "17% sure" in measures.meaning  # .05 * 4 / (.05 * 4 + .95)


def test_optrrs_theorem_5_no_report_may_hide_the_prior():
    prior = [0.5, 0.3, 0.2]
    for recipe in (channels.warner(1 / 3), channels.warner(0.8), channels.mask(0.6), channels.subset(2, 5)):
        group = measure(recipe.build((3,)), prior).groups[0]
        assert group.worst_posterior >= max(prior) - 1e-9
        assert group.map_privacy <= 1 - max(prior) + 1e-9
        assert group.map_privacy >= 1 - group.worst_posterior - 1e-9


def test_pse_is_the_least_of_the_entries():
    channel = channels.mixture(0.5, [[0.5, 0.5], [0.2, 0.8]]).build((2, 2))
    group = measure(channel, {"attribute 1": [0.4, 0.6], "attribute 2": [0.9, 0.1]}).groups[0]
    assert group.pse == min(entry.pse for entry in group.entries)
    assert said(measure(channel), "PSE is an average")
    assert said(measure(channel), "harmless draw can often be told")


def test_the_randomized_matrix_is_shown_with_the_honest_sentence():
    alpha = 19 / (2000 + 18) / 2
    measures = measure(channels.randomized_gamma_diagonal(19, alpha).build((2000,)))
    assert measures.gamma == pytest.approx(19, rel=1e-5)
    assert said(measures, "33% to 60%")
    assert said(measures, "the true posterior is 50%")
    assert said(measures, "amplification 28.6")
    assert measures.to_document()["groups"][0]["determinable"]["high"] == pytest.approx(0.6, abs=0.005)


def test_a_matrix_with_zeros_names_one():
    channel = channels.matrix([[0.5, 0, 0.5], [0.5, 0.5, 0], [0, 0.5, 0.5]]).build((3,))
    measures = measure(channel, [0.2, 0.3, 0.5])
    assert measures.gamma == math.inf
    assert said(measures, "the report '0' rules out the answer '1'")
    assert said(measures, "holds only if the truth is distributed as assumed")
    document = measures.to_document()
    assert document["gamma"] is None
    assert document["groups"][0]["gamma"] is None


def test_a_report_that_never_occurs_rules_nothing_out():
    channel = channels.matrix([[0, 0, 0], [1, 0.5, 0.5], [0, 0.5, 0.5]]).build((3,))
    assert said(measure(channel, [0.2, 0.3, 0.5]), "the report '2' rules out the answer '0'")


def test_without_a_report_an_answer_is_guessed_among_those_who_were_asked():
    alone = blind(np.array([0.3, 0.2, 0.5]), Attribute("x", ("no", "yes", NOT_ASKED)))
    assert (alone.map_privacy, alone.worst_posterior) == pytest.approx((0.4, 0.6))
    assert alone.pse == pytest.approx(1 - 0.6**2 - 0.4**2)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (channels.flip(0.97), "hardly a disguise"),
        (channels.flip(0.02), "shows the truth 98.0%"),
        (channels.flip(1.0), "nothing is disguised"),
        (channels.uniform_perturbation(0.99), "hardly a disguise"),
        (channels.mixture(0.5, [1.0, 0.0]), "impossible under some answers"),
        (channels.warner(0.5), "cannot be turned back"),
    ],
)
def test_weak_disguises_are_named(recipe, words):
    assert said(measure(recipe.build((2,))), words)


def test_without_a_prior_the_uniform_one_is_named():
    channel = channels.warner(0.7).build((3,))
    assert said(measure(channel), "No prior was given")
    assert not said(measure(channel, [0.5, 0.3, 0.2]), "No prior was given")
    assert measure(channel).prior == "uniform"


def test_the_prior_of_a_scheme_is_used_unless_another_is_given():
    recipes = [(["a"], channels.warner(0.7))]
    scheme = Scheme.of(BINARY, recipes, prior={"a": [0.9, 0.1]})
    assert measure(scheme).prior == "design"
    assert measure(scheme).groups[0].blind_privacy == pytest.approx(0.1)
    assert measure(scheme, {"a": [0.6, 0.4]}).groups[0].blind_privacy == pytest.approx(0.4)


def test_data_give_the_joint_prior():
    codes = {"a": [0, 0, 0, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1], "d": [0, 0, 0, 0]}
    table = Table.from_codes(BINARY, {name: np.array(column) for name, column in codes.items()})
    group = measure(Scheme.of(BINARY, [(["a", "b"], channels.mask(0.8))]), table)
    channel = channels.mask(0.8).build((2, 2))
    expected = dense_figures(channel.matrix, np.array([0.5, 0.25, 0, 0.25]))
    assert group.prior == "data"
    assert group.groups[0].map_privacy == pytest.approx(expected.map_privacy)
    assert group.groups[0].worst_posterior == pytest.approx(expected.worst_posterior)


def test_a_mask_of_many_attributes_is_the_product_of_its_attributes():
    channel = channels.mask(0.7).build((2, 3))
    figures = measure(channel, {"attribute 1": [0.4, 0.6], "attribute 2": [0.2, 0.3, 0.5]}).groups[0]
    expected = dense_figures(channel.matrix, np.outer([0.4, 0.6], [0.2, 0.3, 0.5]).reshape(-1))
    assert figures.map_privacy == pytest.approx(expected.map_privacy)
    assert figures.worst_posterior == pytest.approx(expected.worst_posterior)
    # 2**66 reports: no list could hold them
    assert measure(channels.mask(0.9).build((2,) * 33)).groups[0].map_privacy > 0.9


def test_what_is_too_large_is_unknown_and_said_so():
    large = channels.flip(0.8).build((2,) * 40)
    measures = measure(large, {"attribute 1": [0.3, 0.7]})
    group = measures.groups[0]
    assert (group.map_privacy, group.worst_posterior) == (None, None)
    assert group.pse is not None  # of a column, which is seen on its own
    assert group.blind_privacy == pytest.approx(1)
    assert said(measures, "too many possible reports to compute MAP privacy, worst posterior")
    even = measure(large).groups[0]  # records that are all alike need no list
    assert (even.map_privacy, even.worst_posterior, even.pse) == pytest.approx((0.2, 0.8, 0.32))
    json.dumps(measures.to_document(), allow_nan=False)


def test_an_even_mixture_on_a_large_domain_is_known():
    group = measure(channels.gamma_diagonal(1e12).build((2,) * 40)).groups[0]
    assert group.gamma == pytest.approx(1e12, rel=1e-3)
    assert group.worst_posterior == pytest.approx(1e12 / (1e12 + 2**40 - 1), rel=1e-3)
    assert group.map_privacy == pytest.approx(1 - group.worst_posterior)
    assert group.condition == pytest.approx((1e12 + 2**40 - 1) / (1e12 - 1), rel=1e-3)


def test_a_group_is_measured_on_its_own():
    group = Group(BINARY.attributes[:1], channels.warner(0.95).build((2,)))
    measures = measure(group, [0.3, 0.7])
    assert measures.gamma == pytest.approx(19)
    assert measures.groups[0].attributes == ("a",)


def test_each_known_figure_has_its_sentence():
    document = measure(channels.warner(0.95).build((2,)), [0.5, 0.5]).to_document()
    (group,) = document["groups"]
    assert set(group["meaning"]) == {"gamma", "map_privacy", "worst_posterior", "pse", "condition"}
    assert "wrong 5.0% of the time (without any report: 50.0%)" in group["meaning"]["map_privacy"]
    assert "more than 95.0% sure" in group["meaning"]["worst_posterior"]
    assert "at most 19 times" in document["meaning"]
    assert "50% sure, no more" in document["meaning"]


def test_certainty_is_called_by_its_name():
    group = measure(channels.flip(0.8).build((2, 2)), [0.5, 0.5, 0, 0]).to_document()["groups"][0]
    assert (
        group["meaning"]["worst_posterior"] == "Some report leaves such a guesser no doubt about your answers together."
    )


def test_the_names_of_the_json_answer():
    document = measure(Scheme.of(BINARY, [(["a"], channels.warner(0.8))]), respondents=500).to_document()
    assert {"gamma", "epsilon", "groups", "warnings"} <= set(document)
    assert {"attributes", "gamma", "map_privacy", "worst_posterior", "pse"} <= set(document["groups"][0])
    assert document["respondents"] == 500
    assert document["errors"][0]["attributes"] == ["a"]


@pytest.mark.parametrize("respondents", [0, -3, 2.5])
def test_a_number_of_respondents_must_be_whole(respondents):
    with pytest.raises(InvalidInput, match="whole number of at least 1"):
        measure(channels.warner(0.8).build((2,)), respondents=respondents)


def test_a_recipe_is_no_channel_yet():
    with pytest.raises(InvalidInput, match=r"not Recipe.*recipe\.build\(shape\)"):
        measure(channels.warner(0.8))


def test_one_distribution_for_several_groups_is_refused():
    scheme = Scheme.of(BINARY, [(["a"], channels.warner(0.8)), (["b"], channels.warner(0.8))])
    with pytest.raises(InvalidInput, match="not enough for 2 groups"):
        measure(scheme, [0.5, 0.5])


def test_a_guess_that_is_sure_without_any_report_is_explained():
    """Of public answers that one person alone shows, whoever holds the data knows the rest."""
    mixed = {"cheated": ["no", "yes", "yes", "no"] * 10, "age": ["20", "21"] * 20}
    alone = Dataset({"cheated": [*mixed["cheated"], "yes"], "age": [*mixed["age"], "67"]})
    for data, is_explained in ((alone, True), (Dataset(mixed), False)):
        measured = measure(Scheme.of(data.schema, [(["cheated"], channels.warner(0.7))]), data)
        assert (measured.answers[0].worst_posterior == pytest.approx(1)) == is_explained
        told = "certain answers to age give the same answer to cheated"
        assert any(told in warning for warning in measured.warnings) == is_explained
