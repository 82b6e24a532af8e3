from __future__ import annotations

import numpy as np
import pytest

from tacit import channels
from tacit.channel import Recipe
from tacit.errors import InvalidInput, UnknownName


@pytest.mark.parametrize("kind", ["warmer", "Warner", "gamma_diagonal"])
def test_an_unknown_kind_is_refused_with_the_nearest_one(kind: str) -> None:
    with pytest.raises(
        UnknownName, match=rf"Channel kind '{kind}' does not exist\. Did you mean '(warner|gamma-diagonal)'\?"
    ):
        Recipe(kind, {}).build((2,))


def test_a_kind_like_no_other_lists_what_there_is() -> None:
    with pytest.raises(UnknownName, match=r"There is: 'warner', 'uniform-perturbation'"):
        Recipe("laplace", {}).build((2,))


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("warner", {}, r"The channel 'warner' lacks 'p'\. It takes: p\."),
        ("warner", {"p": 0.5, "q": 0.5}, r"does not take 'q'\. It takes: p\."),
        ("cut-and-paste", {"K": 3}, "lacks 'rho'. It takes: K, rho"),
        (
            "mixture",
            {"keep": 0.5, "persona": "uniform"},
            r"does not take 'persona'\. It takes: keep, personal \(optional\)",
        ),
        ("warner", {"p": 1.5}, "p, the chance of the truth, must lie between 0 and 1, not 1.5"),
        ("uniform-perturbation", {"q": -1}, "q, the chance to keep the truth, must lie between"),
        ("gamma-diagonal", {"gamma": 0.5}, "gamma, the amplification, must be a finite number of at least 1, not 0.5"),
        ("mixture", {"keep": 2}, "keep, the chance to keep the truth, must lie"),
        ("flip", {"theta": "often"}, "theta, the chance of the true record, must be a number"),
        ("mask", {"p": None}, "p, the chance to keep a bit, must be a number"),
        ("cut-and-paste", {"K": 1, "rho": 7}, "rho, the chance that an item enters, must lie"),
        ("subset", {"size": 1, "gamma": 0}, "gamma, the amplification"),
    ],
)
def test_wrong_parameters_are_refused(kind: str, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Recipe(kind, parameters).build((2,))


@pytest.mark.parametrize("personal", ["normal", [], [[0.5, 0.5], 0.5], 0.5, None, {"a": 1}])
def test_a_personal_that_is_no_distribution_is_refused(personal: object) -> None:
    with pytest.raises(InvalidInput, match="`personal` must be 'uniform', one distribution per attribute, or one over"):
        Recipe("mixture", {"keep": 0.5, "personal": personal}).build((2, 2))


@pytest.mark.parametrize("personal", [[0.5, 0.5], [[0.5, 0.5], [0.5, 0.25, 0.25]], [[0.5, 0.5]], [[0.5, 0.5]] * 3])
def test_a_personal_of_the_wrong_length_is_refused(personal: list[object]) -> None:
    with pytest.raises(InvalidInput, match="its lengths are"):
        channels.mixture(0.5, personal).build((2, 2))


def test_a_personal_that_does_not_sum_to_one_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"`personal` sums to 0\.8; it must sum to 1"):
        channels.mixture(0.5, [0.4, 0.4]).build((2,))


def test_a_personal_may_be_an_array() -> None:
    channel = channels.mixture(0.5, np.array([0.25, 0.75])).build((2,))
    assert channel.parameters["personal"] == [0.25, 0.75]
    np.testing.assert_allclose(channel.matrix, [[0.625, 0.125], [0.375, 0.875]])


@pytest.mark.parametrize("document", [None, "warner", {}, {"kind": 3}])
def test_what_is_no_channel_in_a_document_is_refused(document: object) -> None:
    with pytest.raises(InvalidInput, match="A channel must be an object with a kind, not"):
        Recipe.from_document(document)


def test_every_kind_has_a_function_of_its_name() -> None:
    for kind in channels.KINDS:
        assert callable(getattr(channels, kind.replace("-", "_")))
