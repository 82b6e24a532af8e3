from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput, UnknownAnswer, UnknownName
from tacit.schema import Attribute, Cut, Schema, numeric

edges = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6, unique=True).map(sorted).map(tuple)


class TestCut:
    @pytest.mark.parametrize(("closed", "at_edge"), [("right", [0, 1]), ("left", [1, 2])])
    def test_a_number_on_an_edge_belongs_to_the_closed_side(self, closed: Any, at_edge: list[int]) -> None:
        cut = Cut((35.0, 55.0), closed)
        assert np.searchsorted(cut.edges, [35, 55], side=cut.side).tolist() == at_edge

    def test_labels_say_which_side_is_closed(self) -> None:
        assert Cut((35, 55)).labels() == ("<=35", "(35,55]", ">55")
        assert Cut((35, 55), "left").labels() == ("<35", "[35,55)", ">=55")

    @given(edges, st.sampled_from(["left", "right"]))
    def test_there_is_one_label_of_its_own_for_each_interval(self, given_edges: tuple[float, ...], closed: Any) -> None:
        labels = Cut(given_edges, closed).labels()
        assert len(set(labels)) == len(given_edges) + 1

    @pytest.mark.parametrize("wrong", [(), (1.0, math.nan), (math.inf,)])
    def test_edges_must_be_finite_and_there(self, wrong: tuple[float, ...]) -> None:
        with pytest.raises(InvalidInput, match="A cut needs at least one finite edge, not"):
            Cut(wrong)

    @pytest.mark.parametrize("wrong", [(2.0, 1.0), (1.0, 1.0)])
    def test_edges_must_ascend(self, wrong: tuple[float, ...]) -> None:
        with pytest.raises(InvalidInput, match=r"must ascend, not .* Sort them, drop repeats"):
            Cut(wrong)

    def test_the_closed_side_must_be_left_or_right(self) -> None:
        with pytest.raises(InvalidInput, match="closed on the 'left' or the 'right', not 'both'"):
            Cut((1.0,), "both")

    @pytest.mark.parametrize("wrong", [3, [1, 2], {}, {"edges": 5}, {"edges": ["a"]}])
    def test_a_malformed_cut_in_a_document_is_refused(self, wrong: Any) -> None:
        with pytest.raises(InvalidInput, match="A cut must be an object with a list of edges, not"):
            Attribute.from_document({"name": "age", "answers": ["young", "old"], "cut": wrong})


class TestAttribute:
    def test_codes_are_positions_of_answers(self) -> None:
        attribute = Attribute("age", ("young", "old"))
        assert [attribute.encode(answer) for answer in attribute.answers] == [0, 1]

    def test_an_unknown_answer_is_refused_with_the_nearest_one(self) -> None:
        with pytest.raises(UnknownAnswer, match=r"'age' has no answer 'yuong'\. Did you mean 'young'\?"):
            Attribute("age", ("young", "old")).encode("yuong")

    def test_an_answer_like_no_other_lists_what_there_is(self) -> None:
        with pytest.raises(UnknownAnswer, match=r"There is: 'young', 'old'\."):
            Attribute("age", ("young", "old")).encode("7")

    def test_a_long_list_of_answers_is_cut_short(self) -> None:
        with pytest.raises(UnknownAnswer, match=r"'a11' and 88 more\."):
            Attribute("q", tuple(f"a{i}" for i in range(100))).encode("?")

    def test_answers_compare_as_text(self) -> None:
        assert Attribute.from_document({"name": "year", "answers": [1, 2.5, True]}).answers == ("1", "2.5", "True")

    @pytest.mark.parametrize(("shows", "slots"), [("one", 3), ("set", 4), ("bits", 4)])
    def test_sets_and_bits_have_a_slot_that_counts_every_report(self, shows: Any, slots: int) -> None:
        assert Attribute("q", ("a", "b", "c"), shows=shows).tally_size == slots

    def test_a_name_is_needed(self) -> None:
        with pytest.raises(InvalidInput, match="An attribute needs a name"):
            Attribute("", ("no", "yes"))

    @pytest.mark.parametrize("answers", [(), ("only",)])
    def test_two_answers_are_needed(self, answers: tuple[str, ...]) -> None:
        with pytest.raises(InvalidInput, match=rf"'q' has {len(answers)} answer\(s\): there is nothing to hide"):
            Attribute("q", answers)

    def test_a_repeated_answer_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="'q' lists the answer 'b' twice"):
            Attribute("q", ("a", "b", "b"))

    def test_a_cut_must_make_as_many_intervals_as_answers(self) -> None:
        with pytest.raises(InvalidInput, match="'age' has 2 answers but its cut makes 3 intervals"):
            Attribute("age", ("young", "old"), cut=Cut((30.0, 60.0)))

    def test_missing_must_be_one_of_the_answers(self) -> None:
        with pytest.raises(UnknownAnswer, match="'q' has no answer 'unknown'"):
            Attribute("q", ("no", "yes"), missing="unknown")

    @pytest.mark.parametrize("document", [None, "q", {}, {"name": 3, "answers": ["a", "b"]}])
    def test_what_is_no_attribute_is_refused(self, document: Any) -> None:
        with pytest.raises(InvalidInput, match="An attribute must be an object with a name and answers, not"):
            Attribute.from_document(document)

    @pytest.mark.parametrize("answers", [None, "no yes", {"no": 0}])
    def test_answers_that_are_no_list_are_refused(self, answers: Any) -> None:
        with pytest.raises(InvalidInput, match="The answers of 'q' must be a list of texts, not"):
            Attribute.from_document({"name": "q", "answers": answers})

    @pytest.mark.parametrize(
        "attribute",
        [
            Attribute("q", ("no", "yes")),
            Attribute("q", ("low", "high"), ordered=True, missing="low"),
            numeric("age", [30, 60], closed="left"),
            numeric("age", [30], labels=["young", "old"]),
        ],
        ids=["plain", "missing", "cut", "labelled cut"],
    )
    def test_documents_round_trip(self, attribute: Attribute) -> None:
        assert Attribute.from_document(attribute.to_document()) == attribute


def test_numeric_attributes_are_ordered_and_named_by_their_intervals() -> None:
    age = numeric("age", [35, 55])
    assert age.ordered
    assert age.answers == ("<=35", "(35,55]", ">55")


class TestSchema:
    SCHEMA = Schema((Attribute("smokes", ("no", "yes")), Attribute("age", ("young", "middle", "old"))))

    def test_attributes_are_found_by_name_and_order_is_kept(self) -> None:
        assert self.SCHEMA.names == ("smokes", "age")
        assert [attribute.name for attribute in self.SCHEMA] == ["smokes", "age"]
        assert len(self.SCHEMA) == 2
        assert "age" in self.SCHEMA
        assert "height" not in self.SCHEMA
        assert self.SCHEMA.shape() == (2, 3)
        assert self.SCHEMA.shape(["age", "smokes"]) == (3, 2)
        assert self.SCHEMA.select(["age"]).names == ("age",)

    def test_an_unknown_name_is_refused_with_the_nearest_one(self) -> None:
        for ask in (
            self.SCHEMA.__getitem__,
            lambda name: self.SCHEMA.shape([name]),
            lambda name: self.SCHEMA.select([name]),
        ):
            with pytest.raises(UnknownName, match=r"Attribute 'smoke' does not exist\. Did you mean 'smokes'\?"):
                ask("smoke")

    def test_a_repeated_name_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="Two attributes are called 'q'"):
            Schema((Attribute("q", ("a", "b")), Attribute("q", ("c", "d"))))

    def test_the_column_of_report_files_is_reserved(self) -> None:
        with pytest.raises(InvalidInput, match="No attribute may be called 'questionnaire'"):
            Schema((Attribute("questionnaire", ("a", "b")),))
