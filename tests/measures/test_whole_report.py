"""What a whole report tells of each answer, held against the enumeration of every record and every report."""

import itertools
import math
import time

import numpy as np
import pytest

from tacit import Attribute, Scheme, channels, load_adult, measure
from tacit.channel.routing import NOT_ASKED, Asked, Routing, Ways
from tacit.measures.whole_report import WholeReport
from tacit.table import Table

YES_NO = ("no", "yes")
STRONG = 7 / 3


def questions(names, *special):
    return [Attribute(name, (*YES_NO, *special)) for name in names]


def by_name(answers):
    return {answer.attribute: answer for answer in answers}


def test_an_answer_is_told_by_the_rest_of_its_groups_report():
    """The attack: from its own column sex looks safe (.742); the group's report shows the husbands (.960)."""
    names = ["marital-status", "relationship", "sex"]
    truth = load_adult()
    scheme = Scheme.of(truth.schema.select(names), [(names, channels.gamma_diagonal(19))])
    table = Table(scheme.schema, {name: truth.table[name] for name in names})
    measures = measure(scheme, table)
    sex = by_name(measures.answers)["sex"]
    own_column = channels.gamma_diagonal(19).build(scheme.schema.shape()).marginal([2])
    share = np.bincount(table["sex"], minlength=2) / table.n_rows
    seen = own_column.matrix * share
    assert (seen / seen.sum(axis=1, keepdims=True)).max() == pytest.approx(0.742, abs=5e-4)
    assert sex.worst_posterior == pytest.approx(0.960, abs=5e-4)
    assert sex.scope == "whole report"
    document = measures.to_document()
    assert document["answers"][2]["worst_posterior"] == sex.worst_posterior
    assert set(document["answers"][2]) >= {"attribute", "gamma", "map_privacy", "worst_posterior", "pse"}


def test_twelve_questions_at_seventy_percent_have_an_amplification_of_26045():
    asked = questions(f"q{n}" for n in range(12))
    measures = measure(Scheme.of(asked, [([one.name], channels.warner(0.7)) for one in asked]))
    assert measures.gamma == pytest.approx(26045, abs=1)
    assert all(answer.gamma == pytest.approx(STRONG) for answer in measures.answers)


def enumerated(scheme, joint):
    """Figures of every disguised answer by writing out the law of the whole report."""
    names = [name for group in scheme.groups for name in group.names] + list(scheme.public_names)
    laws = [group.channel.matrix for group in scheme.groups] + [
        np.eye(scheme.schema[n].size) for n in scheme.public_names
    ]
    law = np.ones((1, 1))
    for one in laws:
        law = np.kron(law, one)
    shape = scheme.schema.shape(names)
    seen = (law * joint.reshape(-1)).reshape(-1, *shape)
    found = {}
    for axis, name in enumerate(names):
        told = seen.sum(axis=tuple(other + 1 for other in range(len(shape)) if other != axis))
        occurs = told.sum(axis=1) > 0
        told = told[occurs]
        found[name] = (
            1 - told.max(axis=1).sum(),
            (told / told.sum(axis=1, keepdims=True)).max(),
            1 - (told**2 / told.sum(axis=1, keepdims=True)).sum(),
        )
    return found


RECIPES = [
    [channels.gamma_diagonal(4), channels.warner(0.8)],
    [channels.subset(2, 5), channels.mixture(0.5, [0.3, 0.7])],
    [channels.mask(0.7), channels.flip(0.9)],
]


@pytest.mark.parametrize("recipes", RECIPES)
def test_across_groups_and_public_answers_the_figures_are_those_of_the_enumerated_law(recipes):
    attributes = [Attribute("a", ("x", "y", "z")), *questions("bcd")]
    scheme = Scheme.of(attributes, [(["a", "b"], recipes[0]), (["c"], recipes[1])])
    joint = np.random.default_rng(7).dirichlet(np.full(24, 0.3)).reshape(3, 2, 2, 2)
    measures = measure(scheme, {"a+b+c+d": joint.reshape(-1)})
    expected = enumerated(scheme, joint)
    for answer in measures.answers:
        figures = (answer.map_privacy, answer.worst_posterior, answer.pse)
        assert figures == pytest.approx(expected[answer.attribute], abs=1e-12)
        assert answer.scope == "whole report"
    # A group alone would have promised more: the public d and the other group tell of it as well.
    alone = measure(scheme, {"a+b": joint.sum(axis=(2, 3)).reshape(-1), "c": joint.sum(axis=(0, 1, 3))})
    assert all(told.pse < less.pse for told, less in zip(measures.answers, alone.answers, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_nobody_is_surer_of_a_record_than_of_each_of_its_answers(seed):
    random = np.random.default_rng(seed)
    attributes = [
        Attribute(name, tuple("abcd"[:size])) for name, size in zip("uvw", random.integers(2, 5, 3), strict=True)
    ]
    recipe = [
        channels.gamma_diagonal(6),
        channels.subset(2, 4),
        channels.mask(0.75),
        channels.uniform_perturbation(0.4),
    ]
    scheme = Scheme.of(attributes, [(["u", "v"], recipe[seed % 4]), (["w"], channels.gamma_diagonal(3))])
    cells = math.prod(scheme.schema.shape())
    measures = measure(scheme, {"u+v+w": random.dirichlet(np.full(cells, 0.4))})
    answers = by_name(measures.answers)
    for group in measures.groups:
        for name in group.attributes:
            assert answers[name].worst_posterior >= group.worst_posterior - 1e-12
            assert answers[name].map_privacy <= group.map_privacy + 1e-12
            assert answers[name].gamma <= group.gamma * (1 + 1e-12)


def routed_prior():
    """A filter with five follow-ups, every answer to each asked question equally likely, as a joint distribution."""
    joint = np.zeros((2, *(3,) * 5))
    joint[(0, *(2,) * 5)] = 0.5
    for follow_ups in itertools.product((0, 1), repeat=5):
        joint[(1, *follow_ups)] = 1 / 64
    return joint


def test_follow_ups_that_are_disguised_one_by_one_tell_the_filter_again():
    """The attack: each part alone says 70%; the whole report says 99.4% (no) and 96.8% (yes)."""
    names = ["filter", *(f"f{n}" for n in range(5))]
    attributes = [*questions(["filter"]), *questions(names[1:], NOT_ASKED)]
    scheme = Scheme.of(attributes, [([name], channels.gamma_diagonal(STRONG)) for name in names])
    joint = routed_prior()
    answers = by_name(measure(scheme, {"+".join(names): joint.reshape(-1)}).answers)
    assert answers["filter"].worst_posterior == pytest.approx(0.994, abs=5e-4)
    assert 1 - answers["filter"].map_privacy == pytest.approx(0.807, abs=5e-4)
    # The surest report of a yes: told yes, and every follow-up as if it had been asked.
    law = scheme.groups[0].channel.matrix
    follow = scheme.groups[1].channel.matrix
    yes = law[1, 1] * follow[1, :2].mean() ** 5
    assert yes / (yes + law[1, 0] * follow[1, 2] ** 5) == pytest.approx(0.968, abs=5e-4)


def test_sixteen_questions_are_enumerated_exactly():
    asked = questions(f"q{n}" for n in range(16))
    scheme = Scheme.of(asked, [([one.name], channels.warner(0.6)) for one in asked])
    # Everybody says yes to all or no to all, so the whole report counts sixteen times.
    codes = np.repeat([0, 1], [30, 70])
    truth = Table(scheme.schema, {one.name: codes for one in asked})
    started = time.perf_counter()
    answers = WholeReport(scheme).answers(truth)
    assert time.perf_counter() - started < 20
    odds = 0.7 / 0.3 * 1.5**16
    assert answers[0].worst_posterior == pytest.approx(odds / (1 + odds), rel=1e-6)
    ways = np.array([math.comb(16, k) for k in range(17)])
    yes = 0.7 * ways * 0.6 ** np.arange(17) * 0.4 ** (16 - np.arange(17))
    no = 0.3 * ways * 0.4 ** np.arange(17) * 0.6 ** (16 - np.arange(17))
    assert answers[5].map_privacy == pytest.approx(np.minimum(yes, no).sum(), rel=1e-6)
    assert {answer.scope for answer in answers} == {"whole report"}


def test_beyond_enumeration_a_joint_model_of_the_data_judges_whole_reports():
    asked = questions(f"q{n}" for n in range(24))
    scheme = Scheme.of(asked, [([one.name], channels.warner(0.7)) for one in asked])
    truth = Table(scheme.schema, {one.name: np.arange(1000) % 2 for one in asked})
    measures = measure(scheme, truth)
    assert measures.answers[0].scope == "joint model"
    # Everybody says the same throughout, so 24 answers tell each of them; its own column alone says 70%.
    ways = np.array([math.comb(24, k) for k in range(25)]) / 2
    yes, no = (
        ways * 0.7 ** np.arange(25) * 0.3 ** np.arange(24, -1, -1),
        ways * 0.3 ** np.arange(25) * 0.7 ** np.arange(24, -1, -1),
    )
    assert measures.answers[0].map_privacy == pytest.approx(np.minimum(yes, no).sum(), abs=0.015)
    assert measures.answers[0].worst_posterior > 0.999
    assert any("people drawn from a joint model" in warning for warning in measures.warnings)


def test_what_is_too_large_to_enumerate_says_that_groups_count_as_independent():
    asked = questions(f"q{n}" for n in range(21))
    scheme = Scheme.of(asked, [([one.name], channels.warner(0.7)) for one in asked])
    joint = np.zeros(2**21)
    joint[[0, -1]] = 0.5
    answer = WholeReport(scheme).answers({"+".join(scheme.schema.names): joint})[0]
    assert answer.scope == "group"
    assert answer.worst_posterior == pytest.approx(0.7)


def test_large_groups_have_the_closed_forms_of_their_kind():
    attributes = questions(f"q{n}" for n in range(40))
    scheme = Scheme.of(attributes, [([one.name for one in attributes], channels.gamma_diagonal(19))])
    answer = WholeReport(scheme).answers()[0]
    keep = 18 / (19 + 2**40 - 1)
    assert answer.worst_posterior == pytest.approx((1 + keep) / 2, rel=1e-6)
    assert answer.even.worst_posterior == answer.worst_posterior


def test_a_dealt_answer_is_averaged_over_the_dealing_and_judged_by_the_worst():
    attributes = questions("ab")
    scheme = Scheme.dealt(
        attributes, [("x", 0.25, [(["a"], channels.warner(0.9))]), ("y", 0.75, [(["b"], channels.warner(0.8))])]
    )
    answers = by_name(measure(scheme, {"a": [0.6, 0.4], "b": [0.5, 0.5]}).answers)
    assert answers["a"].worst_posterior == pytest.approx(0.9 * 0.6 / (0.9 * 0.6 + 0.1 * 0.4))
    assert answers["a"].map_privacy == pytest.approx(0.25 * 0.1 + 0.75 * 0.4)
    assert answers["b"].pse == pytest.approx(0.75 * 2 * 0.8 * 0.2 + 0.25 * 0.5)
    assert answers["a"].gamma == pytest.approx(9)


def test_a_question_that_public_answers_route_is_judged_among_those_who_were_asked():
    """Everybody sees from the public answer who was asked, so "not asked" hides nobody."""
    scheme = Scheme.of(
        [Attribute("age", ("young", "old")), *questions(["f"], NOT_ASKED)], [(["f"], channels.gamma_diagonal(STRONG))]
    )
    (answer,) = measure(scheme).answers
    assert answer.even.worst_posterior == pytest.approx(0.7, abs=1e-6)
    age = Asked("age", ("age",), Ways((("young", "old"),)), is_public=True)
    follow = Asked("f", ("f",), Ways((YES_NO,)), (("age", frozenset({"old"})),))
    (told,) = WholeReport(scheme, Routing((age, follow))).answers()
    assert told.even == answer.even


def test_branches_that_public_answers_choose_do_not_multiply():
    attributes = [Attribute("age", ("young", "old")), *questions(["x", "y"], NOT_ASKED)]
    scheme = Scheme.of(attributes, [([name], channels.gamma_diagonal(4)) for name in "xy"])
    age = Asked("age", ("age",), Ways((("young", "old"),)), is_public=True)
    branches = [
        Asked(name, (name,), Ways((YES_NO,)), (("age", frozenset({answer})),))
        for name, answer in (("x", "young"), ("y", "old"))
    ]
    assert WholeReport(scheme).gamma == pytest.approx(16)
    assert WholeReport(scheme, Routing((age, *branches))).gamma == pytest.approx(4)


@pytest.mark.parametrize("count", [6, 30])
def test_many_questions_that_may_not_be_asked_are_measured_in_one_group(count):
    attributes = questions([f"q{n}" for n in range(count)], NOT_ASKED)
    scheme = Scheme.of(attributes, [([one.name for one in attributes], channels.gamma_diagonal(9))])
    whole = WholeReport(scheme)
    assert whole.gamma <= 9
    assert whole.answers()[0].gamma <= 9
