"""What a guesser gets from two disguises of the same people that cost the analyst the same."""

from __future__ import annotations

from tacit.attacks import AttackResult
from tacit.attacks import attack as attacked
from tacit.bundled import binary_adult
from tacit.channel import flip
from tacit.channel.scheme import Scheme
from tacit.dataset import Dataset
from tacit.disguising import disguise
from tacit.joint import fit_joint
from tacit.report.demo_data import DemoData
from tacit.report.page import Bars, Chapter, Text, WrittenTable
from tacit.reports import Reports

THETA = 0.7
PEOPLE = 4_000
OWN, FLIPPED = "a coin for each answer", "one coin for the whole record"


def attack(data: DemoData) -> Chapter:
    truth = binary_adult(PEOPLE)
    names = truth.schema.names
    schemes = {
        OWN: Scheme.from_groups(truth.schema, [([name], flip(THETA)) for name in names]),
        FLIPPED: Scheme.from_groups(truth.schema, [(names, flip(THETA))]),
    }
    attacked = {
        name: _attack_reports(disguise(truth, scheme, seed=data.seed), truth) for name, scheme in schemes.items()
    }
    return Chapter(
        "What an attacker gets",
        (
            Text(
                f"An attacker who has nothing but the reports estimates how answers are related, then guesses every person's "
                f"answers. Two disguises are attacked, on the same {PEOPLE:,} people and the same {len(names)} yes/no answers "
                f"(the census records, each answer halved). Both tell the truth with chance {THETA:g}, and the share of any "
                "single answer is estimated from both with the same error. One tosses a coin for each answer; the other reports "
                "the whole record, or all of it reversed."
            ),
            Bars(_bars(attacked), "Guessed right.", ("with the reports", "without any report")),
            WrittenTable(("disguise", "guessed", "right with the reports", "right without"), _rows(attacked)),
            Text(
                f'With one coin for the whole record, "nobody can be surer than {THETA:.0%}" sounds right and is wrong: '
                f"{attacked[FLIPPED].records.with_reports:.1%} of whole records are guessed. A record and its opposite are not "
                "equally likely, so the report itself tells which of the two is true. Trust amplification, not a coin.",
                "warning",
            ),
        ),
    )


def _attack_reports(reports: Reports, truth: Dataset) -> AttackResult:
    # Latent classes alone: trees guess no better here, and compiling them would take a third of the first run.
    return attacked(reports, truth=truth, joint=fit_joint(reports, models=("classes",), starts=2))


def _shares(attacked: dict[str, AttackResult]) -> list[tuple[str, str, float, float]]:
    return [
        (name, what, share.with_reports, share.without_reports)
        for name, result in attacked.items()
        for what, share in (("single answers", result.answers), ("whole records", result.records))
    ]


def _rows(attacked: dict[str, AttackResult]) -> list[tuple[str, ...]]:
    return [(name, what, f"{guessed:.1%}", f"{without:.1%}") for name, what, guessed, without in _shares(attacked)]


def _bars(attacked: dict[str, AttackResult]) -> list[tuple[str, float, float | str]]:
    return [(f"{what}, {name}", guessed, without) for name, what, guessed, without in _shares(attacked)]
