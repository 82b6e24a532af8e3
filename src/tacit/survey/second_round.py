"""The second round: a frozen classifier, and the share of respondents whose device found it right.

The page applies the classifier to the answers it remembers and sends one bit, disguised by the definition's second program:
undisguised it would tell an answer to whoever chose the classifier. The accuracy is the share of ones, the disguise undone.
Or, as published (Zhan and Matwin), the bit is about personal answers and sent as it is. They are drawn afresh: those that went
into the report would tell, together with it, whether the report was the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tacit.count.sources import ReportSource
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE
from tacit.survey.counting import countable
from tacit.survey.store.surveys import Store, StoredSurvey

About = Literal["true", "personal"]
# What can be mined for a second round; anything else is a file.
MODELS = ("tree", "bayes", "logistic", "best")


@dataclass(frozen=True)
class PublishedAccuracy:
    """The accuracy on true answers by the published way: the share right on reports as they stand, less what is personal.

    Where one group keeps every record whole with a chance and else shows personal answers, the share right on reports is
    that chance times the accuracy plus the rest times the share right on personal answers.
    """

    estimate: float
    standard_error: float
    n_reports: int

    @classmethod
    def of(cls, keep: float, shown: float, n_reports: int, personal: float, n_bits: int) -> PublishedAccuracy:
        variance = shown * (1 - shown) / n_reports + (1 - keep) ** 2 * personal * (1 - personal) / n_bits
        return cls((shown - (1 - keep) * personal) / keep, math.sqrt(variance) / keep, n_reports)

    def to_document(self) -> dict[str, Any]:
        return {"estimate": self.estimate, "standard_error": self.standard_error, "n_reports": self.n_reports}

    def __str__(self) -> str:
        return (
            f"On true answers it is right for {self.estimate:.1%} ± {self.standard_error:.1%} (one standard error), from "
            f"{self.n_reports} reports as they stand; too good by a little where it was learned from the same ones."
        )


@dataclass(frozen=True)
class SecondRound:
    """How often an offered classifier was right on the respondents' own answers."""

    target: str
    n_bits: int
    n_ones: int
    keep: float = 1.0  # chance that the bit is sent as it is
    kind: str = "tree"
    about: About = "true"
    on_reports: PublishedAccuracy | None = None  # of the true answers, from reports and the bits about made-up ones

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

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends within [0, 1] that hold the share with the chance `level`; all of it while nobody has tried."""
        from tacit.estimation.intervals import share_interval

        return share_interval(self.accuracy, self.standard_error, self.n_bits, level) if self.n_bits else (0.0, 1.0)

    def to_document(self) -> dict[str, Any]:
        """What is known of the accuracy, for JSON."""
        low, high = self.interval()
        has_bits = self.n_bits > 0
        return {
            "target": self.target,
            "kind": self.kind,
            "about": self.about,
            "text": str(self),
            "on_reports": None if self.on_reports is None else self.on_reports.to_document(),
            "n_bits": self.n_bits,
            "accuracy": {
                "estimate": self.accuracy if has_bits else None,
                "standard_error": self.standard_error if has_bits else None,
                "low": low,
                "high": high,
            },
        }

    def __str__(self) -> str:
        if not self.n_bits:
            return f"A classifier of {self.target!r} is offered; nobody has tried it yet."
        low, high = self.interval()
        whose = "who tried it" if self.about == "true" else "whose device tried it on answers drawn by lot"
        sentence = (
            f"The classifier of {self.target!r} was right for {self.accuracy:.1%} ± {self.standard_error:.1%} (one standard "
            f"error) of the {self.n_bits} respondents {whose}: between {low:.1%} and {high:.1%} at 95% confidence."
        )
        return sentence if self.on_reports is None else f"{sentence} {self.on_reports}"


def second_round(store: Store, survey: StoredSurvey) -> SecondRound | None:
    """What the second round has brought so far; None where no classifier is offered."""
    document = store.classifier(survey)
    if document is None:
        return None
    rows = store.database.rows(f'SELECT COUNT(*), COALESCE(SUM("right"), 0) FROM {survey.table("second")}')
    n_bits, n_ones = rows[0]
    program = survey.definition.document.get("second_program")
    kind = "scores" if "scores" in document else "tree"
    if "personal" not in document:
        keep = program["toss"] / ONE if program else 1.0
        return SecondRound(document["target"], int(n_bits), int(n_ones), keep, kind)
    published = _publish_document(store, survey, document, int(n_bits), int(n_ones))
    return SecondRound(document["target"], int(n_bits), int(n_ones), 1.0, kind, "personal", published)


def _publish_document(
    store: Store, survey: StoredSurvey, document: dict[str, Any], n_bits: int, n_ones: int
) -> PublishedAccuracy | None:
    """The accuracy on true answers, where one group holds all answers and a chance keeps the whole record."""
    from tacit.mine.exported import predicted_answer

    keep = _whole_keep(survey)
    if keep is None or not n_bits:
        return None
    names = survey.definition.scheme.schema.names
    rows = [dict(zip(names, row, strict=True)) for batch in store.rows(survey) for row in batch]
    if not rows:
        return None
    right = sum(predicted_answer(document, row) == row[document["target"]] for row in rows) / len(rows)
    return PublishedAccuracy.of(keep, right, len(rows), n_ones / n_bits, n_bits)


def _whole_keep(survey: StoredSurvey) -> float | None:
    scheme = survey.definition.scheme
    if scheme.is_dealt or len(scheme.groups) != 1 or scheme.groups[0].records is not None:
        return None
    (group,) = scheme.groups
    keep = group.channel.parameters.get("keep")
    if set(group.names) != set(scheme.schema.names) or not isinstance(keep, float) or keep <= 0:
        return None
    return keep


def _personal(survey: StoredSurvey) -> dict[str, Any]:
    """For each answer the law of its personal one, as a program: the group's, and even where it has none."""
    scheme = survey.definition.scheme
    laws = {}
    for attribute in scheme.schema:
        group = next((group for group in scheme.groups if attribute.name in group.names), None)
        shares = None
        if group is not None and group.channel.has_marginals:
            marginal = group.channel.marginal([group.names.index(attribute.name)])
            shares = marginal.parameters.get("personal")
        laws[attribute.name] = {"answers": list(attribute.answers), "program": _drawing(shares, attribute.size)}
    return laws


def _drawing(shares: Any, size: int) -> dict[str, Any]:
    if not isinstance(shares, list) or len(shares) != size or not all(isinstance(share, float) for share in shares):
        return {"even": "any"}
    whole = [int(share * ONE) for share in shares]
    whole[whole.index(max(whole))] += ONE - sum(whole)
    return {"weigh": whole, "into": [size]}


def offer_classifier(
    store: Store, survey: StoredSurvey, target: str | None, model: str = "tree", about: About = "true"
) -> dict[str, Any]:
    """Mine a classifier from the reports, or read one from a file, freeze it and offer it to the respondents' devices.

    They try it on the true answers they kept and send a disguised bit; or, as published, on personal answers, which are drawn
    by lot, and send the bit as it is.
    """
    from tacit.mine.exported import read_classifier

    if not survey.definition.document["second_round"]:
        raise InvalidInput("This survey did not announce a second round (second_round: true), so nobody kept answers.")
    if model not in MODELS:
        if not Path(model).exists():
            raise InvalidInput(f"{model!r} is neither a file nor one of {', '.join(MODELS)}.")
        document = read_classifier(model, survey.definition.scheme.schema)
        if target not in (None, document["target"]):
            raise InvalidInput(
                f"{model!r} predicts {document['target']!r}, not {target!r}. Leave --class out, or give another file."
            )
    elif target is None:
        raise InvalidInput("Say which question the classifier predicts: --class NAME.")
    else:
        document = _mine_classifier(countable(store, survey, store.counts(survey).reports), target, model)
    if about == "personal":
        document = {**document, "personal": _personal(survey)}
    store.offer_classifier(survey, document)
    return document


def _mine_classifier(reports: ReportSource, target: str, model: str) -> dict[str, Any]:
    from tacit.mine import LogisticClassifier, MajorityClassifier, NaiveBayesClassifier, TreeClassifier, choose_model
    from tacit.mine.exported import classifier_document
    from tacit.survey.mined_models import DEEPEST_TREE

    classifiers: dict[str, Any] = {
        "tree": TreeClassifier(target, max_depth=DEEPEST_TREE),
        "bayes": NaiveBayesClassifier(target),
        "logistic": LogisticClassifier(target),
    }
    try:
        if model == "best":
            fitted = choose_model({"majority": MajorityClassifier(target), **classifiers}, reports).model
        else:
            fitted = classifiers[model].fit(reports)
    except NotEstimable as problem:
        raise InvalidInput(f"No {model} can be mined for {target!r} from these reports. {problem}") from None
    return classifier_document(fitted)
