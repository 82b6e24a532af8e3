"""The second round: a frozen classifier, and the share of respondents whose device found it right.

The page applies the classifier to the answers it remembers and sends one bit, disguised by the definition's second program:
undisguised it would tell an answer to whoever chose the classifier. The accuracy is the share of ones, the disguise undone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tacit.errors import InvalidInput
from tacit.randomness import ONE
from tacit.survey.counting import countable
from tacit.survey.store.surveys import Store, StoredSurvey


@dataclass(frozen=True)
class SecondRound:
    """How often an offered classifier was right on the respondents' own answers."""

    target: str
    n_bits: int
    n_ones: int
    keep: float = 1.0  # chance that the bit is sent as it is

    @property
    def accuracy(self) -> float:
        """The unbiased estimate, which may lie outside of 0 to 1."""
        return (self.n_ones / self.n_bits - (1 - self.keep)) / (2 * self.keep - 1) if self.n_bits else math.nan

    @property
    def standard_error(self) -> float:
        if not self.n_bits:
            return math.nan
        share = self.n_ones / self.n_bits
        return math.sqrt(share * (1 - share) / self.n_bits) / abs(2 * self.keep - 1)

    def __str__(self) -> str:
        if not self.n_bits:
            return f"A classifier of {self.target!r} is offered; nobody has tried it yet."
        from tacit.estimation.intervals import share_interval

        low, high = share_interval(self.accuracy, self.standard_error, self.n_bits)
        return (
            f"The classifier of {self.target!r} was right for {self.accuracy:.1%} ± {self.standard_error:.1%} (one standard "
            f"error) of the {self.n_bits} respondents who tried it: between {low:.1%} and {high:.1%} at 95% confidence."
        )


def second_round(store: Store, survey: StoredSurvey) -> SecondRound | None:
    """What the second round has brought so far; None where no classifier is offered."""
    document = store.classifier(survey)
    if document is None:
        return None
    rows = store.database.rows(f'SELECT COUNT(*), COALESCE(SUM("right"), 0) FROM {survey.table("second")}')
    n_bits, n_ones = rows[0]
    program = survey.definition.document.get("second_program")
    return SecondRound(document["target"], int(n_bits), int(n_ones), program["toss"] / ONE if program else 1.0)


def offer_tree(store: Store, survey: StoredSurvey, target: str) -> dict[str, Any]:
    """Mine a tree from the reports, freeze it and offer it to the respondents' devices."""
    from tacit.survey.mined_models import mined

    if not survey.definition.document["second_round"]:
        raise InvalidInput("This survey did not announce a second round (second_round: true), so nobody kept answers.")
    models = mined(countable(store, survey, store.counts(survey).reports), target)
    tree = next((model.tree for model in models if model.tree is not None), None)
    if tree is None:
        raise InvalidInput(f"No tree can be mined for {target!r} from these reports.")
    document = {"format": "tacit-classifier/1", "target": target, "tree": tree}
    store.offer_classifier(survey, document)
    return document
