"""Legal records: what routing leaves possible, the even prior on it, and which records differ in one answer."""

import numpy as np
import pytest

from tacit.channel.routing import NOT_ASKED, Asked, Records, Routing, Ways
from tacit.errors import InvalidInput
from tacit.schema import Attribute

YES_NO = Ways((("no", "yes"),))
DECLINES = "prefer not to say"


def attribute(name, *special):
    return Attribute(name, ("no", "yes", *special))


def after(name, *answers):
    return ((name, frozenset(answers)),)


def asked(name, when=(), *, ways=YES_NO, is_public=False):
    return Asked(name, (name,), ways, when, is_public)


FILTER = asked("filter")
FIVE = Routing((FILTER, *(asked(f"f{n}", after("filter", "yes")) for n in range(5))))


def five():
    (block,) = FIVE.blocks()
    return FIVE.records(block, [attribute("filter"), *(attribute(f"f{n}", NOT_ASKED) for n in range(5))])


def test_a_filter_with_five_follow_ups_has_33_legal_records():
    records = five()
    assert len(records) == 33
    assert records.to_document()[0] == ["no", None, None, None, None, None]
    assert Records.from_document(records.attributes, records.to_document()).codes.tolist() == records.codes.tolist()


def test_the_even_prior_leaves_the_filter_even():
    records = five()
    weights = records.even()
    assert weights.sum() == pytest.approx(1)
    assert weights[0] == 0.5  # not 1/33, which would make everybody say yes beforehand
    assert weights[1:] == pytest.approx(1 / 64)
    assert len(records.situations) == 1


def test_an_answer_is_compared_with_the_records_that_differ_in_it_and_in_what_it_forces():
    records = five()
    everyone = records.situations[0]
    first, second = records.differing(0, everyone)
    assert len(first) == 2 * 32  # no against every way of yes, both ways round
    first, second = records.differing(1, everyone)
    assert len(first) == 32  # only those who were asked, the other follow-ups equal
    assert (records.codes[first][:, 2:] == records.codes[second][:, 2:]).all()
    assert (records.codes[first, 0] == 1).all()


def test_nested_filters_and_two_filters_of_one_follow_up():
    nested = Routing((FILTER, asked("b", after("filter", "yes")), asked("c", after("b", "yes"))))
    (block,) = nested.blocks()
    attributes = [attribute("filter"), attribute("b", NOT_ASKED), attribute("c", NOT_ASKED)]
    assert nested.records(block, attributes).to_document() == [
        ["no", None, None], ["yes", "no", None], ["yes", "yes", "no"], ["yes", "yes", "yes"],
    ]  # fmt: skip
    both = Routing((FILTER, asked("b"), asked("c", after("filter", "yes") + after("b", "yes"))))
    (block,) = both.blocks()
    attributes = [attribute("filter"), attribute("b"), attribute("c", NOT_ASKED)]
    assert len(both.records(block, attributes)) == 5


def test_declining_a_question_with_several_answers_declines_all_of_them():
    ways = Ways((("no", "yes"),) * 3, (DECLINES,))
    question = Asked("s", ("s_a", "s_b", "s_c"), ways)
    (block,) = Routing((question,)).blocks()
    records = Routing((question,)).records(block, [attribute(f"s_{n}", DECLINES) for n in "abc"])
    assert len(records) == 9
    assert records.even()[-1] == pytest.approx(1 / 3)  # each option alike: no, yes or declined
    first, _ = records.differing(0, records.situations[0])
    # No and yes against each other with the other two equal (8), and each of the eight against declining, both ways.
    assert len(first) == 8 + 2 * 8


def test_sensitive_questions_are_connected_by_routing_and_public_ones_are_not():
    age = Asked("age", ("age",), Ways((("young", "old"),)), is_public=True)
    routing = Routing((age, FILTER, asked("x", after("age", "old")), asked("y", after("filter", "yes"))))
    assert [[one.name for one in block] for block in routing.blocks()] == [["filter", "y"], ["x"]]


def test_what_a_public_answer_decides_is_known_in_each_situation():
    age = Asked("age", ("age",), Ways((("young", "old"),)), is_public=True)
    follow = asked("f", after("filter", "yes") + after("age", "old"))
    routing = Routing((age, FILTER, follow))
    (block,) = routing.blocks()
    records = routing.records(block, [attribute("filter"), attribute("f", NOT_ASKED)])
    assert records.to_document() == [["no", None], ["yes", "no"], ["yes", "yes"], ["yes", None]]
    young, old = (routing.possible(block, known, records) for known in routing.public_situations(block))
    assert young.tolist() == [True, False, False, True]
    assert old.tolist() == [True, True, True, False]
    # From the records alone the same two situations are found.
    assert {tuple(mask) for mask in records.situations} == {tuple(young), tuple(old)}
    assert records.even(old).tolist() == [0.5, 0.25, 0.25, 0.0]


def test_even_is_uniform_where_nothing_is_routed():
    every = Records.every([attribute("a"), Attribute("b", ("x", "y", "z"))])
    assert every.even() == pytest.approx(np.full(6, 1 / 6))


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([["no", None]], "at least two records"),
        ("all", "at least two records"),
        ([["no", None], ["no", None]], "name one of them twice"),
        ([["no", None], ["yes"]], "one entry for each attribute"),
        ([["no", None], ["maybe", "no"]], "maybe"),
        ([[None, None], ["yes", "no"]], "'filter' has no answer 'not asked'. Add it"),
    ],
)
def test_wrong_records_are_refused(listed, message):
    with pytest.raises(InvalidInput, match=message):
        Records.from_document([attribute("filter"), attribute("f", NOT_ASKED)], listed)


def test_too_many_legal_records_are_refused():
    long = Routing(tuple(asked(f"q{n}", () if n == 0 else after("q0", "yes")) for n in range(18)))
    (block,) = long.blocks()
    with pytest.raises(InvalidInput, match="in more than 65,536 ways"):
        long.records(block, [attribute(one.name, NOT_ASKED) for one in block])
