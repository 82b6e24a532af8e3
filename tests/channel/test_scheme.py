from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import Attribute, Schema, Scheme, channels
from tacit.channel.document import FORMAT, document_hash
from tacit.errors import InvalidInput, SchemeMismatch, UndisguisedColumns, UnknownName
from tacit.randomness import ONE
from tests.conformance.channels import NAMED, invertible_channels

SMOKES = Attribute("smokes", ("no", "yes"))
DRINKS = Attribute("drinks", ("no", "yes"))
AGE = Attribute("age", ("young", "middle", "old"), ordered=True)
ATTRIBUTES = [SMOKES, DRINKS, AGE]


def document(**changes: Any) -> dict[str, Any]:
    return {"format": FORMAT, "attributes": [attribute.to_document() for attribute in ATTRIBUTES], **changes}


def group(*names: str, **channel: Any) -> dict[str, Any]:
    return {"attributes": list(names), "channel": channel or {"kind": "warner", "p": 0.7}}


def questionnaire(name: str, probability: float, *groups: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "probability": probability, "groups": list(groups)}


def scheme_of(channel: Any) -> Scheme:
    attributes = [Attribute(f"q{i}", tuple(f"a{j}" for j in range(size))) for i, size in enumerate(channel.shape)]
    recipe = channels.Recipe(channel.kind, channel.parameters)
    return Scheme.of([*attributes, SMOKES], [([attribute.name for attribute in attributes], recipe)])


class TestRoundTrip:
    @pytest.mark.parametrize("channel", NAMED.values(), ids=NAMED)
    def test_every_channel_comes_back_from_its_document(self, channel: Any) -> None:
        scheme = scheme_of(channel)
        again = Scheme.from_document(json.loads(json.dumps(scheme.to_document())))
        assert again.hash == scheme.hash
        assert again.to_document() == scheme.to_document()
        assert np.array_equal(again.groups[0].channel.matrix, scheme.groups[0].channel.matrix)

    @settings(max_examples=40)
    @given(invertible_channels().filter(lambda channel: type(channel).__name__ != "MarginalMixture"))
    def test_any_parameters_come_back(self, channel: Any) -> None:
        if getattr(channel, "whole", len(channel.shape)) != len(channel.shape):
            return  # a marginal of cut-and-paste knows the whole record, which a document of its own does not
        scheme = scheme_of(channel)
        assert Scheme.from_document(json.loads(json.dumps(scheme.to_document()))).hash == scheme.hash

    def test_a_file_comes_back(self, tmp_path: Path) -> None:
        scheme = Scheme.of(ATTRIBUTES, [(["smokes", "drinks"], channels.flip(0.8))], prior={"age": [0.5, 0.25, 0.25]})
        path = tmp_path / "scheme.json"
        scheme.write(path)
        assert Scheme.read(path).hash == scheme.hash
        assert [entry.name for entry in tmp_path.iterdir()] == ["scheme.json"]

    def test_a_document_is_what_the_contract_says(self) -> None:
        written = Scheme.of([SMOKES, DRINKS], [(["smokes", "drinks"], channels.flip(0.8))]).to_document()
        bare = {
            "format": "tacit-scheme/1",
            "attributes": [
                {"name": "smokes", "answers": ["no", "yes"], "ordered": False},
                {"name": "drinks", "answers": ["no", "yes"], "ordered": False},
            ],
            "groups": [{"attributes": ["smokes", "drinks"], "channel": {"kind": "flip", "theta": 0.8}}],
        }
        assert written == {**bare, "hash": document_hash(bare)}

    def test_the_hash_of_a_written_document_can_be_computed_with_any_json_library(self, tmp_path: Path) -> None:
        groups = [
            (["smokes"], channels.gamma_diagonal(19.0)),
            (["drinks"], channels.matrix([[1.0, 0.25], [0.0, 0.75]])),
        ]
        Scheme.of(ATTRIBUTES, groups, prior={"smokes": [0.0, 1.0]}).write(tmp_path / "scheme.json")
        written = json.loads((tmp_path / "scheme.json").read_text(encoding="utf-8"))
        stated = written.pop("hash")
        text = json.dumps(written, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert hashlib.sha256(text.encode()).hexdigest() == stated

    def test_two_schemes_with_other_parameters_have_other_hashes(self) -> None:
        hashes = {Scheme.of([SMOKES], [(["smokes"], channels.warner(p))]).hash for p in (0.7, 0.71, 0.7 + 1e-12)}
        assert len(hashes) == 3


class TestGroups:
    def test_attributes_in_no_group_are_public(self) -> None:
        scheme = Scheme.of(ATTRIBUTES, [(["drinks"], channels.warner(0.7))])
        assert scheme.public_names == ("smokes", "age")
        assert scheme.report_schema.names == ("drinks", "smokes", "age")
        part = scheme.questionnaires[0]
        assert part.group_of("drinks") is scheme.groups[0]
        assert part.group_of("age") is None

    def test_a_document_without_groups_is_a_schema_and_the_identity(self) -> None:
        scheme = Scheme.from_document(document())
        assert scheme.is_identity
        assert scheme.public_names == ("smokes", "drinks", "age")
        assert scheme.schema == Schema(tuple(ATTRIBUTES))

    def test_report_columns_are_named_as_the_contract_says(self) -> None:
        groups = [(["smokes", "drinks"], channels.subset(2, 3)), (["age"], channels.mask(0.7))]
        report = Scheme.of(ATTRIBUTES, groups).report_schema
        assert report.names == ("smokes+drinks", "age")
        assert [column.shows for column in report] == ["set", "bits"]
        labelled = Scheme.of([AGE], [(["age"], channels.matrix(np.full((4, 3), 0.25), list("wxyz")))]).report_schema
        assert labelled["age"].answers == ("w", "x", "y", "z")

    def test_an_attribute_in_two_groups_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match=r"'smokes' is in two groups; each attribute is disguised once"):
            Scheme.from_document(document(groups=[group("smokes"), group("drinks", "smokes")]))

    def test_an_attribute_twice_in_one_group_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="'smokes' is in two groups"):
            Scheme.from_document(document(groups=[group("smokes", "smokes")]))

    def test_an_unknown_attribute_is_refused_with_the_nearest_one(self) -> None:
        with pytest.raises(UnknownName, match=r"Attribute 'smoke' does not exist\. Did you mean 'smokes'\?"):
            Scheme.from_document(document(groups=[group("smoke")]))
        with pytest.raises(UnknownName, match="Attribute 'height' does not exist"):
            Scheme.of(ATTRIBUTES).questionnaires[0].group_of("height")

    def test_a_column_that_would_appear_twice_is_refused(self) -> None:
        both = Attribute("smokes+drinks", ("no", "yes"))
        with pytest.raises(InvalidInput, match=r"Two attributes are called 'smokes\+drinks'"):
            Scheme.of([SMOKES, DRINKS, both], [(["smokes", "drinks"], channels.subset(2, 3))])

    @pytest.mark.parametrize("names", ["smokes", [], ()])
    def test_a_group_without_a_list_of_names_is_refused(self, names: Any) -> None:
        with pytest.raises(InvalidInput, match="A group needs a list of attribute names, not"):
            Scheme.of(ATTRIBUTES, [(names, channels.warner(0.7))])

    @pytest.mark.parametrize("wrong", ["smokes", {"attributes": "smokes"}, {"attributes": [1]}, {}, None, 3])
    def test_a_malformed_group_is_refused(self, wrong: Any) -> None:
        with pytest.raises(InvalidInput, match="A group must be an object with a list of attributes and a channel"):
            Scheme.from_document(document(groups=[wrong]))

    @pytest.mark.parametrize("wrong", [{"smokes": "warner"}, "smokes", 3])
    def test_groups_that_are_no_list_are_refused(self, wrong: Any) -> None:
        with pytest.raises(InvalidInput, match="`groups` must be a list, not"):
            Scheme.from_document(document(groups=wrong))

    def test_a_group_without_a_channel_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="A channel must be an object with a kind"):
            Scheme.from_document(document(groups=[{"attributes": ["smokes"]}]))

    def test_an_unknown_kind_is_refused_with_the_nearest_one(self) -> None:
        with pytest.raises(UnknownName, match=r"Channel kind 'warmer' does not exist\. Did you mean 'warner'\?"):
            Scheme.from_document(document(groups=[group("smokes", kind="warmer", p=0.7)]))

    def test_wrong_parameters_are_refused(self) -> None:
        with pytest.raises(InvalidInput, match="lacks 'p'"):
            Scheme.from_document(document(groups=[group("smokes", kind="warner")]))
        with pytest.raises(InvalidInput, match="does not take 'theta'"):
            Scheme.from_document(document(groups=[group("smokes", kind="warner", p=0.7, theta=0.7)]))

    def test_a_flip_of_three_answers_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="needs two answers"):
            Scheme.from_document(document(groups=[group("smokes", "age", kind="flip", theta=0.7)]))


class TestDocument:
    def test_a_tampered_file_is_refused_by_its_name(self, tmp_path: Path) -> None:
        path = tmp_path / "scheme.json"
        Scheme.of(ATTRIBUTES, [(["smokes"], channels.warner(0.7))]).write(path)
        path.write_text(path.read_text().replace("0.7", "0.9"))
        with pytest.raises(SchemeMismatch, match=r"scheme\.json' was changed after its hash was computed"):
            Scheme.read(path)

    def test_without_its_hash_a_changed_document_is_another_scheme(self) -> None:
        scheme = Scheme.of(ATTRIBUTES, [(["smokes"], channels.warner(0.7))])
        changed = scheme.to_document()
        del changed["hash"]
        changed["groups"][0]["channel"]["p"] = 0.9
        assert Scheme.from_document(changed).hash != scheme.hash

    def test_an_unknown_version_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="reads 'tacit-scheme/1'"):
            Scheme.from_document({**document(), "format": "tacit-scheme/9"})

    def test_groups_and_questionnaires_together_are_refused(self) -> None:
        both = document(questionnaires=[questionnaire("a", 1.0, group("drinks"))], groups=[group("smokes")])
        with pytest.raises(InvalidInput, match="has both `groups` and `questionnaires`"):
            Scheme.from_document(both)

    def test_an_interrupted_write_leaves_nothing_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(Path, "write_text", fail)
        with pytest.raises(KeyboardInterrupt):
            Scheme.of(ATTRIBUTES).write(tmp_path / "scheme.json")
        assert list(tmp_path.iterdir()) == []


class TestPrior:
    def test_a_prior_per_attribute_or_group_is_kept_in_the_document(self) -> None:
        prior = {"age": [0.5, 0.25, 0.25], "smokes+drinks": [0.5, 0.25, 0.125, 0.125]}
        scheme = Scheme.of(ATTRIBUTES, [(["smokes", "drinks"], channels.flip(0.7))], prior=prior)
        assert scheme.to_document()["prior"] == prior
        again = Scheme.from_document(scheme.to_document())
        assert again.prior == {name: tuple(chances) for name, chances in prior.items()}

    @pytest.mark.parametrize(
        ("prior", "message"),
        [
            ({"age": [0.5, 0.5]}, "The prior of 'age' has 2 entries; 3 are needed"),
            ({"age": [0.5, 0.5, 0.5]}, r"The prior of 'age' sums to 1\.5"),
            ({"age": [0.5, 1.0, -0.5]}, r"The prior of 'age' holds -0\.5"),
            ({"agee": [0.5, 0.25, 0.25]}, "Attribute 'agee' does not exist. Did you mean 'age'"),
            ({"smokes+age": [0.5, 0.5]}, "has 2 entries; 6 are needed"),
            ([0.5, 0.25, 0.25], "`prior` must give a distribution for each name"),
        ],
    )
    def test_a_wrong_prior_is_refused(self, prior: Any, message: str) -> None:
        with pytest.raises(InvalidInput, match=message):
            Scheme.from_document(document(prior=prior))


class TestDealt:
    DEALT = (
        ("habits", 0.75, [(["smokes", "drinks"], channels.flip(0.8))]),
        ("person", 0.25, [(["smokes"], channels.warner(0.7))]),
    )

    def test_each_questionnaire_asks_its_groups_and_what_is_public(self) -> None:
        scheme = Scheme.dealt(ATTRIBUTES, self.DEALT)
        assert scheme.is_dealt
        assert scheme.public_names == ("age",)
        assert scheme.questionnaire("habits").attributes == ("smokes", "drinks", "age")
        assert scheme.questionnaire("person").attributes == ("smokes", "age")
        assert scheme.questionnaire("person").report_schema.names == ("smokes", "age")
        with pytest.raises(UnknownName, match="Attribute 'drinks' does not exist"):
            scheme.questionnaire("person").group_of("drinks")

    def test_it_comes_back_from_its_document(self) -> None:
        scheme = Scheme.dealt(ATTRIBUTES, self.DEALT, prior={"age": [0.5, 0.25, 0.25]})
        again = Scheme.from_document(json.loads(json.dumps(scheme.to_document())))
        assert again.hash == scheme.hash
        assert [part.name for part in again.questionnaires] == ["habits", "person"]

    @given(st.lists(st.integers(1, 1000), min_size=1, max_size=6))
    def test_dealing_chances_are_integers_that_sum_exactly(self, parts: list[int]) -> None:
        # Printed with seven digits they sum to one only nearly.
        chances = [round(part / sum(parts), 7) for part in parts]
        dealt = [(f"part {i}", chance, [(["smokes"], channels.warner(0.7))]) for i, chance in enumerate(chances)]
        weights = Scheme.dealt(ATTRIBUTES, dealt).dealing_weights
        assert int(weights.sum()) == ONE
        np.testing.assert_allclose(weights / ONE, chances, atol=1e-6)

    def test_it_has_no_single_list_of_groups_or_report_schema(self) -> None:
        scheme = Scheme.dealt(ATTRIBUTES, self.DEALT)
        with pytest.raises(InvalidInput, match="each with groups of its own"):
            _ = scheme.groups
        with pytest.raises(InvalidInput, match="each with a report schema of its own"):
            _ = scheme.report_schema

    def test_an_unknown_questionnaire_is_refused_with_the_nearest_one(self) -> None:
        with pytest.raises(UnknownName, match=r"Questionnaire 'habit' does not exist\. Did you mean 'habits'\?"):
            Scheme.dealt(ATTRIBUTES, self.DEALT).questionnaire("habit")

    @pytest.mark.parametrize(
        ("questionnaires", "message"),
        [
            ([questionnaire("a", 0.5, group("smokes"))], r"The probabilities of the questionnaires sums to 0\.5"),
            ([questionnaire("a", 0.5), questionnaire("a", 0.5)], r"a name of its own, not \['a', 'a'\]"),
            ([questionnaire("", 1.0)], "a name of its own"),
            ([questionnaire("a", 1.0, group("smokes"), group("smokes"))], "'smokes' is in two groups"),
            ([questionnaire("a", "often", group("smokes"))], "must be a list of numbers"),
            ([{"name": "a", "groups": []}], "an object with a name, a probability and groups"),
            (["a"], "an object with a name, a probability and groups"),
            ({}, "`questionnaires` must be a list of at least one"),
            ([], "`questionnaires` must be a list of at least one"),
        ],
    )
    def test_wrong_questionnaires_are_refused(self, questionnaires: Any, message: str) -> None:
        with pytest.raises(InvalidInput, match=message):
            Scheme.from_document(document(questionnaires=questionnaires))


def test_a_questionnaire_that_asks_nothing_is_refused() -> None:
    smokes = Attribute("smokes", ("no", "yes"))
    with pytest.raises(InvalidInput, match="'b' asks nothing"):
        Scheme.dealt([smokes], [("a", 0.5, [(["smokes"], channels.warner(0.7))]), ("b", 0.5, [])])


def test_a_column_must_show_the_same_in_every_questionnaire() -> None:
    age = Attribute("age", ("young", "middle", "old"))
    with pytest.raises(InvalidInput, match="'age' shows one answer in one questionnaire and a set in another"):
        Scheme.dealt(
            [age], [("a", 0.5, [(["age"], channels.warner(0.7))]), ("b", 0.5, [(["age"], channels.subset(2, 9))])]
        )


def test_a_document_keeps_its_own_hash() -> None:
    bare = {"format": "tacit-scheme/1", "attributes": [{"name": "smokes", "answers": ["no", "yes"]}]}
    document = {**bare, "hash": document_hash(bare)}
    assert Scheme.from_document(document).hash == document["hash"]
    assert Scheme.from_document(document).to_document() == document


@pytest.mark.parametrize(
    ("attributes", "groups", "column"),
    [
        ([Attribute("a", ("x", "y")), Attribute("a=x", ("no", "yes"))], [(["a"], channels.mask(0.8))], "a=x"),
        (
            [Attribute("a", ("x", "y")), Attribute("a:seed", ("no", "yes"))],
            [(["a"], channels.local_hashing(3))],
            "a:seed",
        ),
        (
            [Attribute("a", ("b=x", "y")), Attribute("a=b", ("x", "z"))],
            [(["a"], channels.mask(0.8)), (["a=b"], channels.mask(0.8))],
            "a=b=x",
        ),
    ],
)
def test_two_attributes_that_would_share_a_column_of_a_report_file_are_refused(attributes, groups, column):
    with pytest.raises(InvalidInput, match=f"would both be called '{column}' in a file"):
        Scheme.of(attributes, groups)


def test_a_scheme_asks_for_the_columns_that_go_out_undisguised() -> None:
    groups = [(["smokes"], channels.warner(0.7))]
    with pytest.warns(UndisguisedColumns, match=r"undisguised: drinks, age\..*public=\['drinks', 'age'\]"):
        asked = Scheme.of(ATTRIBUTES, groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Scheme.of(ATTRIBUTES, groups, public=["age", "drinks"]).hash == asked.hash
        assert Scheme.of([SMOKES], groups, public=[]).public_names == ()
        assert Scheme.of(ATTRIBUTES).public_names == ("smokes", "drinks", "age")  # nothing is disguised, as was written
        assert Scheme.from_document(asked.to_document()).public_names == ("drinks", "age")


@pytest.mark.parametrize(
    ("public", "message"),
    [
        (["age"], "drinks would go out undisguised"),
        (["age", "drinks", "smokes"], "'smokes' is public and in a group"),
        (["age", "drinking"], "Public attribute 'drinking' does not exist. Did you mean 'drinks'"),
    ],
)
def test_public_names_that_contradict_the_groups_are_refused(public: list[str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Scheme.of(ATTRIBUTES, [(["smokes"], channels.warner(0.7))], public=public)
