from __future__ import annotations

import numpy as np
import pytest

from tacit import channels
from tacit.channel.kinds.matrix import MatrixChannel
from tacit.errors import InvalidInput
from tacit.randomness import ONE
from tacit.schema import Attribute
from tests.channel.playback import Playback

WIDE = np.array([[0.6, 0.1, 0.1], [0.1, 0.5, 0.2], [0.1, 0.1, 0.4], [0.2, 0.3, 0.3]])


def test_thresholds_are_met_to_the_word() -> None:
    channel = MatrixChannel((2,), np.array([[1, 0], [ONE - 2, 5], [0, 0], [1, ONE - 5]]), tuple("abcd"))
    words = [0, 1, ONE - 2, ONE - 1]
    (reports,) = channel.sample([np.zeros(4, dtype=np.uint8)], Playback(words))
    assert reports.tolist() == [0, 1, 1, 3]
    (reports,) = channel.sample([np.ones(4, dtype=np.uint8)], Playback([0, 4, 5, ONE - 1]))
    assert reports.tolist() == [1, 1, 3, 3]


def test_columns_are_rounded_to_sum_exactly() -> None:
    channel = channels.matrix(np.full((3, 3), 1 / 3)).build((3,))
    assert channel.weights.sum(axis=0).tolist() == [ONE] * 3
    assert (channel.matrix * ONE == channel.weights).all()


def test_what_is_rounded_is_not_rounded_again() -> None:
    once = channels.matrix(np.random.default_rng(1).dirichlet(np.ones(5), size=4).T, list("abcde")).build((4,))
    again = channels.Recipe("matrix", once.parameters).build((4,))
    assert np.array_equal(once.weights, again.weights)


@pytest.mark.parametrize("guess", [None, np.array([0.7, 0.2, 0.1])], ids=["uniform", "guess"])
def test_the_left_inverse_is_unbiased_and_keeps_sums_whatever_the_guess(guess: np.ndarray | None) -> None:
    channel = channels.matrix(WIDE, list("abcd")).build((3,))
    left = channel.left_inverse(guess)
    np.testing.assert_allclose(left @ channel.matrix, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(left.sum(axis=0), np.ones(4), atol=1e-12)


def test_no_unbiased_estimator_is_better_where_the_guess_is_right() -> None:
    truth = np.array([0.7, 0.2, 0.1])
    channel = channels.matrix(WIDE, list("abcd")).build((3,))
    q = channel.matrix @ truth
    best = channel.solve_squares(q, guess=truth).sum()
    rivals = [np.linalg.pinv(channel.matrix), channel.left_inverse()]
    rivals += [channel.left_inverse(np.random.default_rng(seed).dirichlet(np.ones(3))) for seed in range(20)]
    for rival in rivals:
        assert (rival**2 @ q).sum() >= best - 1e-12


def test_a_guess_without_some_answers_still_inverts() -> None:
    channel = channels.matrix([[1, 0.5, 0], [0, 0.5, 0.5], [0, 0, 0.25], [0, 0, 0.25]], list("abcd")).build((3,))
    left = channel.left_inverse(np.array([0.4, 0.3, 0.3]))
    np.testing.assert_allclose(left @ channel.matrix, np.eye(3), atol=1e-12)


def test_reports_that_nobody_sends_carry_no_weight() -> None:
    channel = channels.matrix([[0.75, 0.25], [0.25, 0.75], [0, 0]], list("abc")).build((2,))
    assert channel.amplification == 3
    np.testing.assert_allclose(channel.solve(np.array([0.5, 0.5, 0.0])), [0.5, 0.5])


def test_labels_name_the_reports() -> None:
    attribute = Attribute("colour", ("red", "blue"))
    (column,) = (
        channels.matrix([[0.5, 0.5], [0.5, 0.25], [0, 0.25]], ["r", "b", "?"])
        .build((2,))
        .report_attributes([attribute])
    )
    assert (column.name, column.answers) == ("colour", ("r", "b", "?"))


@pytest.mark.parametrize(
    ("chances", "reports", "message"),
    [
        ([[0.5, 0.5], [0.4, 0.5]], None, r"Column 0 of the matrix sums to 0\.9; .* Are rows and columns swapped\?"),
        ([[1.5, 0.5], [-0.5, 0.5]], None, r"matrix\[1\]\[0\] is -0\.5; chances must be numbers of at least 0"),
        ([[float("nan"), 0.5], [0.5, 0.5]], None, r"matrix\[0\]\[0\] is nan"),
        ([[1, 1, 1]], ["a"], r"one column per truth, 2 here .* its shape is \(1, 3\)"),
        ([0.5, 0.5], None, "one column per truth"),
        ([[0.5, 0.5], [0.5]], None, "a list of rows of numbers, all of one length"),
        ([["a", "b"], ["c", "d"]], None, "a list of rows of numbers"),
        ([[0.5, 0.5], [0.25, 0.25], [0.25, 0.25]], None, "3 reports for 2 truths needs a label for each"),
        ([[0.5, 0.5], [0.5, 0.5]], ["a"], "names 1 reports, but the matrix has 2 rows"),
    ],
)
def test_what_is_no_channel_is_refused(chances: object, reports: list[str] | None, message: str) -> None:
    parameters = {"matrix": chances} | ({} if reports is None else {"reports": reports})
    with pytest.raises(InvalidInput, match=message):
        channels.Recipe("matrix", parameters).build((2,))


def test_a_repeated_label_is_refused() -> None:
    channel = channels.matrix([[0.5, 0.5], [0.5, 0.5]], ["a", "a"]).build((2,))
    with pytest.raises(InvalidInput, match="lists the answer 'a' twice"):
        channel.report_attributes([Attribute("q", ("x", "y"))])
