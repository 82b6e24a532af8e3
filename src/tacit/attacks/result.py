"""What an attack found: how much of the reports a guesser gets right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.display import Told

Basis = Literal["counted", "estimated"]


@dataclass(frozen=True)
class Share:
    """The share guessed right with the reports, and without having seen them."""

    with_reports: float
    without_reports: float

    def with_floor(self) -> Share:
        """The share of a guesser who may ignore the reports: never below the share without them."""
        return Share(max(self.with_reports, self.without_reports), self.without_reports)


@dataclass(frozen=True)
class CoinShare:
    """How often the guesser knows whether the report of one group shows the truth."""

    attributes: tuple[str, ...]
    questionnaire: str
    share: Share


@dataclass(frozen=True)
class Shares:
    """Shares of coins, whole records and single answers guessed right.

    Only private answers that are not known anyway count. `coins` is None if no group's report looks like a record.
    """

    coins: Share | None
    records: Share
    per_attribute: dict[str, Share]
    groups: tuple[CoinShare, ...]

    @classmethod
    def of(
        cls,
        records: Share,
        per_attribute: dict[str, Share],
        groups: tuple[CoinShare, ...],
        people: NDArray[np.float64],
    ) -> Shares:
        """The shares, with those of all coins together weighed by the people of each group."""
        coins = None
        if groups:
            pairs = np.array([(group.share.with_reports, group.share.without_reports) for group in groups])
            coins = Share(*map(float, people / people.sum() @ pairs))
        return cls(coins, records, per_attribute, groups)

    @property
    def answers(self) -> Share:
        """The mean over all attributes."""
        shares = self.per_attribute.values()
        return Share(
            float(np.mean([share.with_reports for share in shares])),
            float(np.mean([share.without_reports for share in shares])),
        )

    def with_floor(self) -> Shares:
        """The shares of a guesser who may ignore the reports: none is below the share without them."""
        return Shares(
            None if self.coins is None else self.coins.with_floor(),
            self.records.with_floor(),
            {name: share.with_floor() for name, share in self.per_attribute.items()},
            tuple(CoinShare(group.attributes, group.questionnaire, group.share.with_floor()) for group in self.groups),
        )

    def to_document(self) -> dict[str, Any]:
        coins = self.coins
        return {
            "coins": None if coins is None else coins.with_reports,
            "coins_without_reports": None if coins is None else coins.without_reports,
            "records": self.records.with_reports,
            "records_without_reports": self.records.without_reports,
            "answers": self.answers.with_reports,
            "answers_without_reports": self.answers.without_reports,
            "per_attribute": {
                name: {"answers": share.with_reports, "answers_without_reports": share.without_reports}
                for name, share in self.per_attribute.items()
            },
            "groups": [_coin_document(group) for group in self.groups],
        }


def _coin_document(group: CoinShare) -> dict[str, Any]:
    return {
        "attributes": list(group.attributes),
        "coins": group.share.with_reports,
        "coins_without_reports": group.share.without_reports,
        **({"questionnaire": group.questionnaire} if group.questionnaire else {}),
    }


@dataclass(frozen=True)
class Stability:
    """What other models expect that fit about as well: the least and the largest share of each kind."""

    models: tuple[str, ...]
    records: tuple[float, float]
    answers: tuple[float, float]

    def to_document(self) -> dict[str, Any]:
        return {"models": list(self.models), "records": list(self.records), "answers": list(self.answers)}


@dataclass(frozen=True, repr=False)
class AttackResult(Told):
    """Success of the best known guesser, who has only the reports and the answers of `known`.

    `expected` is what the guesser expects, by the posteriors under the fitted model; `counted` is what is right, where
    the truth was at hand. `coins`, `records`, `answers`, `per_attribute` and `groups` are those of `counted` where there
    are any, else those of `expected`; `basis` says which. No share is below that without the reports: the guesser may
    ignore them.
    """

    expected: Shares
    counted: Shares | None
    stability: Stability
    model: str
    known: tuple[str, ...]
    n_reports: int
    warnings: tuple[str, ...]

    @property
    def shares(self) -> Shares:
        return self.expected if self.counted is None else self.counted

    @property
    def basis(self) -> Basis:
        return "estimated" if self.counted is None else "counted"

    @property
    def coins(self) -> Share | None:
        return self.shares.coins

    @property
    def records(self) -> Share:
        return self.shares.records

    @property
    def answers(self) -> Share:
        return self.shares.answers

    @property
    def per_attribute(self) -> dict[str, Share]:
        return self.shares.per_attribute

    @property
    def groups(self) -> tuple[CoinShare, ...]:
        return self.shares.groups

    def to_document(self) -> dict[str, Any]:
        counted = {} if self.counted is None else {"counted": self.counted.to_document()}
        return {
            **self.expected.to_document(),
            **counted,
            "stability": self.stability.to_document(),
            "model": self.model,
            "known": list(self.known),
            "n_reports": self.n_reports,
            "basis": self.basis,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(what) for what, *_ in rows)
        columns = ("expected", "without") if self.counted is None else ("expected", "counted", "without")
        lines = [f"{'guessed right':{width}} " + " ".join(f"{column:>8}" for column in columns)]
        lines += [f"{what:{width}} " + " ".join(f"{share:8.1%}" for share in shares) for what, *shares in rows]
        return "\n".join(lines)

    def __repr__(self) -> str:
        answers = self.answers
        return f"<AttackResult: single answers guessed right {answers.with_reports:.1%}, without {answers.without_reports:.1%}>"

    def rows(self) -> list[tuple[Any, ...]]:
        """What is guessed, the share expected, the share counted if the truth is known, and the share without reports."""
        made: list[tuple[Any, ...]] = []
        both = [self.expected] if self.counted is None else [self.expected, self.counted]
        if self.expected.coins is not None:
            made.append(
                _row("coins: does it tell the truth?", [shares.coins for shares in both if shares.coins is not None])
            )
        made.append(_row("whole records", [shares.records for shares in both]))
        made.append(_row("single answers", [shares.answers for shares in both]))
        for name in self.per_attribute:
            made.append(_row(f"  {name}", [shares.per_attribute[name] for shares in both]))
        return made


def _row(what: str, shares: list[Share]) -> tuple[Any, ...]:
    return (what, *(share.with_reports for share in shares), shares[-1].without_reports)
