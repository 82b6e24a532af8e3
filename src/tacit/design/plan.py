"""How many respondents a wanted margin of error takes, disguised and asked directly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.channel.scheme import Scheme
from tacit.display import Shown
from tacit.errors import InvalidInput
from tacit.estimation.intervals import checked_level
from tacit.measures.cost import report_variance
from tacit.measures.prior import Prior, by_name

# Shares beside one half at which a plan is checked: with more than two answers a large share may need more people.
OTHER_SHARES = tuple(np.arange(1, 20) / 20)


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """Respondents needed so that every estimated share of every attribute has at most this margin of error.

    Respondents are drawn from a population; the margin is half the width of the interval at `level`.
    """

    margin: float
    level: float
    respondents: int
    per_attribute: dict[str, int]
    direct_questioning: int
    per_attribute_direct: dict[str, int]
    prior: str
    warnings: tuple[str, ...]

    plotted = "respondents"

    def headline(self) -> str:
        return (
            f"{self.respondents:,} respondents for a margin of {self.margin:g} at {self.level:.0%} (prior: {self.prior}); "
            f"asked directly {self.direct_questioning:,}"
        )

    def shown_rows(self) -> list[dict[str, Any]]:
        """One row for each attribute."""
        return [
            {"attribute": name, "respondents": needed, "asked_directly": self.per_attribute_direct[name]}
            for name, needed in self.per_attribute.items()
        ]

    def to_document(self) -> dict[str, Any]:
        return {
            "margin": self.margin,
            "level": self.level,
            "respondents": self.respondents,
            "per_attribute": self.per_attribute,
            "direct_questioning": self.direct_questioning,
            "per_attribute_direct": self.per_attribute_direct,
            "prior": self.prior,
            "warnings": list(self.warnings),
        }


def plan(
    scheme: Scheme,
    margin: float,
    prior: Mapping[str, Sequence[float]] | Any = None,
    level: float = 0.95,
) -> Plan:
    """The number of respondents for a margin of error, the most over all answers.

    The error is that of the very estimate that will be made, pooled over dealt questionnaires as the reports will be.

    Parameters
    ----------
    scheme : Scheme
        How the answers will be disguised.
    margin : float
        Half the width that the interval of every share may have.
    prior : mapping of str to distribution, or a table of truths, optional
        What to expect; else what the scheme was designed for. An attribute that neither names is planned for each
        answer in turn having the share one half, the others sharing the rest alike.
    level : float
        Of confidence.

    Returns
    -------
    Plan
        Respondents needed, for each attribute and for all, and what direct questioning would need.

    Raises
    ------
    InvalidInput
        Where the margin or the level is none.
    NotEstimable
        Where reports under this scheme say nothing of an attribute.

    Examples
    --------
    >>> from tacit import Attribute, Scheme, channels
    >>> scheme = Scheme.of([Attribute("smokes", ("no", "yes"))], [(["smokes"], channels.warner(0.75))])
    >>> needed = plan(scheme, 0.03)
    >>> needed.respondents, needed.direct_questioning
    (4269, 1068)
    """
    if not hasattr(scheme, "questionnaires") or isinstance(margin, bool) or not isinstance(margin, int | float):
        raise InvalidInput(
            f"A plan takes a scheme, then a margin such as 0.03, not {type(scheme).__name__} and {type(margin).__name__}."
        )
    if not 0 < margin < 1:
        raise InvalidInput(f"The margin of error must lie strictly between 0 and 1, not {margin!r}.")
    people = _People(checked_level(level) / margin)
    stated = prior is not None or scheme.prior is not None
    known = Prior.of(scheme.schema, by_name(scheme, prior), scheme.prior, scheme.routed) if stated else None
    unknown = [name for name in scheme.schema.names if known is None or known.is_uniform([name])]
    halves = {name: _at_half(scheme, name) for name in unknown}
    disguised = {name: variance for name, (variance, _) in halves.items()}
    clear = dict.fromkeys(unknown, 0.25)
    if known is not None:
        spoken_of = [name for name in scheme.schema.names if name not in halves]
        disguised |= {name: float(report_variance(scheme, known, [name]).max()) for name in spoken_of}
        clear |= {name: _direct_variance(known, name) for name in spoken_of}
    per_attribute = {name: people.needed(disguised[name]) for name in scheme.schema.names}
    direct = {name: people.needed(clear[name]) for name in scheme.schema.names}
    return Plan(
        margin=margin,
        level=level,
        respondents=max(per_attribute.values()),
        per_attribute=per_attribute,
        direct_questioning=max(direct.values()),
        per_attribute_direct=direct,
        prior="share one half" if known is None else known.source,
        warnings=tuple(_larger_shares(scheme, halves, people)),
    )


@dataclass(frozen=True)
class _People:
    """Turns the variance of one respondent's contribution into a number of respondents."""

    precision: float  # standard errors that one margin of error holds, over the margin

    def needed(self, variance: float) -> int:
        # A number that is whole but for rounding is meant to be whole.
        return max(1, math.ceil(variance * self.precision**2 - 1e-9))


def _direct_variance(prior: Prior, name: str) -> float:
    share = prior.joint([name])
    return float((share * (1 - share)).max())


def _at_half(scheme: Scheme, name: str) -> tuple[float, int]:
    """The largest variance of one contribution at a share of one half, and the code of the answer that has it."""
    return max((_variance_at(scheme, name, code, 0.5), code) for code in _different_codes(scheme, name))


def _different_codes(scheme: Scheme, name: str) -> Sequence[int]:
    """Codes of answers that may differ in their variance: the first stands for all where the channels treat all alike."""
    groups = [part.group_of(name) for part in scheme.questionnaires if name in part.attributes]
    alike = all(group is None or group.channel.treats_answers_alike for group in groups)
    return [0] if alike else range(scheme.schema[name].size)


def _variance_at(scheme: Scheme, name: str, code: int, share: float) -> float:
    """Variance of one contribution to an answer of this share, all other answers sharing the rest alike."""
    size = scheme.schema[name].size
    distribution = np.full(size, (1 - share) / (size - 1))
    distribution[code] = share
    prior = Prior.of(scheme.schema, {name: distribution}, routed=scheme.routed)
    return float(report_variance(scheme, prior, [name])[code])


def _larger_shares(scheme: Scheme, halves: Mapping[str, tuple[float, int]], people: _People) -> Iterator[str]:
    """A sentence for each attribute of which some other share needs noticeably more people than one half."""
    for name, (half, code) in halves.items():
        worst = max(_variance_at(scheme, name, code, share) for share in OTHER_SHARES)
        if worst > 1.01 * half:
            yield (
                f"{name}: {people.needed(half):,} respondents are for a share of one half; answers that nearly everyone "
                f"gives can need up to {people.needed(worst):,}. Give a prior if you expect one."
            )
