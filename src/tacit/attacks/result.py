"""What an attack found: how much of the reports a guesser gets right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Basis = Literal["counted", "estimated"]


@dataclass(frozen=True)
class Share:
    """The share guessed right with the reports, and without having seen them."""

    with_reports: float
    without_reports: float


@dataclass(frozen=True)
class CoinShare:
    """How often the guesser knows whether the report of one group shows the truth."""

    attributes: tuple[str, ...]
    questionnaire: str
    share: Share


@dataclass(frozen=True)
class AttackResult:
    """What the best guesser gets who has nothing but the reports (and the answers of `known`).

    Shares are `counted` where the truth was at hand, else `estimated`: what the guesser expects, which is right as far
    as the fitted joint is. Only private answers that are not known anyway count. `coins` is None where no group's report
    looks like a record.
    """

    coins: Share | None
    records: Share
    answers: Share
    per_attribute: dict[str, Share]
    groups: tuple[CoinShare, ...]
    known: tuple[str, ...]
    n_reports: int
    components: int
    basis: Basis
    warnings: tuple[str, ...]

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
            "groups": [
                {
                    "attributes": list(group.attributes),
                    "coins": group.share.with_reports,
                    "coins_without_reports": group.share.without_reports,
                    **({"questionnaire": group.questionnaire} if group.questionnaire else {}),
                }
                for group in self.groups
            ],
            "known": list(self.known),
            "n_reports": self.n_reports,
            "components": self.components,
            "basis": self.basis,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        lines = [f"{'guessed right (' + self.basis + ')':32} reports  without"]
        if self.coins is not None:
            lines.append(_line("coins: does it tell the truth?", self.coins))
        lines.append(_line("whole records", self.records))
        lines.append(_line("single answers", self.answers))
        lines += [_line(f"  {name}", share) for name, share in self.per_attribute.items()]
        return "\n".join(lines)


def _line(what: str, share: Share) -> str:
    return f"{what:32} {share.with_reports:7.1%}  {share.without_reports:7.1%}"
