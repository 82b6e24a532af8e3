"""How many respondents a wanted margin of error takes, disguised and asked directly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tacit.channel.dense import wanted_variances
from tacit.channel.scheme import Scheme
from tacit.design.question import PURPOSES, checked_margin, mean_variance
from tacit.display import Shown
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.intervals import checked_level
from tacit.estimation.numbers import answer_numbers
from tacit.measures.cost import report_variance
from tacit.measures.prior import Prior, by_name

if TYPE_CHECKING:
    from tacit.channel.device_parameters import Given
    from tacit.channel.devices import DeviceDesign
    from tacit.design.power import DevicePlan

# Shares beside one half at which a plan is checked: with more than two answers a large share may need more people.
OTHER_SHARES = tuple(np.arange(1, 20) / 20)


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """Respondents needed so that what is wanted of every attribute has at most this margin of error.

    Respondents are drawn from a population; the margin is half the width of the interval at `level`. What is wanted are the
    shares of an attribute's answers, unless `purposes` says its mean (whose margin is in ranges of its numbers) or both. Where
    respondents were given, `margins` says what each attribute gets, and `margin` is the largest of them.
    """

    margin: float
    level: float
    respondents: int
    per_attribute: dict[str, int]
    direct_questioning: int
    per_attribute_direct: dict[str, int]
    prior: str
    warnings: tuple[str, ...]
    margins: dict[str, float]  # with `respondents`
    purposes: dict[str, str]

    plotted = "respondents"

    def headline(self) -> str:
        return (
            f"{self.respondents:,} respondents for a margin of {self.margin:g} at {self.level:.0%} (prior: {self.prior}); "
            f"asked directly {self.direct_questioning:,}"
        )

    def shown_rows(self) -> list[dict[str, Any]]:
        """One row for each attribute."""
        return [
            {
                "attribute": name,
                "for": self.purposes[name],
                "respondents": needed,
                "asked_directly": self.per_attribute_direct[name],
                "margin": self.margins[name],
            }
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
            "margins": self.margins,
            "purposes": self.purposes,
            "warnings": list(self.warnings),
        }


@overload
def plan(
    scheme: Scheme,
    margin: float | None = None,
    prior: Mapping[str, Sequence[float]] | Any = None,
    level: float = 0.95,
    *,
    respondents: int | None = None,
    purposes: Mapping[str, str] | None = None,
) -> Plan: ...


@overload
def plan(
    scheme: None = None,
    margin: float | None = None,
    prior: None = None,
    level: float = 0.95,
    *,
    device: str | DeviceDesign,
    parameters: str | Mapping[str, Given] | None = None,
    answers: Sequence[str] = ("no", "yes"),
    share: float | None = None,
    against: float | None = None,
    difference: float | None = None,
    power: float | None = None,
    respondents: int | None = None,
    one_sided: bool = False,
) -> DevicePlan: ...


def plan(
    scheme: Scheme | None = None,
    margin: float | None = None,
    prior: Mapping[str, Sequence[float]] | Any = None,
    level: float = 0.95,
    *,
    device: str | DeviceDesign | None = None,
    parameters: str | Mapping[str, Given] | None = None,
    answers: Sequence[str] = ("no", "yes"),
    share: float | None = None,
    against: float | None = None,
    difference: float | None = None,
    power: float | None = None,
    respondents: int | None = None,
    one_sided: bool = False,
    purposes: Mapping[str, str] | None = None,
) -> Plan | DevicePlan:
    """The number of respondents for a margin of error or for a test, next to what direct questioning would need.

    For a scheme the error is that of the estimate that will be made, pooled over dealt questionnaires as the reports
    will be. A device of the literature is planned without a scheme, for a margin or for the power of a test.

    Parameters
    ----------
    scheme : Scheme
        How the answers will be disguised; or give a `device`.
    margin : float
        Half the width that the interval of every share may have.
    prior : mapping of str to distribution, or a table of truths, optional
        What to expect; else what the scheme was designed for. An attribute that neither names is planned for each
        answer in turn having the share one half, the others sharing the rest alike.
    level : float
        Of confidence.
    device : str or DeviceDesign, optional
        A name of `tacit.devices` with its `parameters` (such as ``"p=1/4"``) and `answers`, or a device made there.
    parameters : str or mapping, optional
        The chances of the device.
    answers : sequence of str
        The answers, where they are not no and yes.
    share : float, optional
        The share that is expected; one half without it.
    against : float, optional
        The share that a test holds it against.
    difference : float, optional
        The difference a test should see between two groups of one size, the first having `share`.
    power : float, optional
        Wanted power of the test: gives the respondents.
    respondents : int, optional
        Respondents in all: gives the power of the test, or the margins of a scheme.
    purposes : mapping of str to {"shares", "mean", "both"}, optional
        What is wanted of an attribute of a scheme; the shares of its answers if not said.
    one_sided : bool
        Whether the test looks to one side only.

    Returns
    -------
    Plan or DevicePlan
        Respondents needed, for each attribute and for all, and what direct questioning would need. That of a device has
        its `power` too, and draws curves (`draw`).

    Raises
    ------
    InvalidInput
        Where the margin, the level or the test is none.
    NotEstimable
        Where reports under this scheme say nothing of an attribute.

    Examples
    --------
    >>> from tacit import Attribute, Scheme, channels
    >>> scheme = Scheme.of([Attribute("smokes", ("no", "yes"))], [(["smokes"], channels.warner(0.75))])
    >>> needed = plan(scheme, 0.03)
    >>> needed.respondents, needed.direct_questioning
    (4269, 1068)
    >>> round(plan(scheme, respondents=4269).margin, 4)
    0.03
    >>> plan(device="crosswise", parameters="p=.25", margin=0.04).respondents
    2401
    >>> test = {"share": 0.2, "against": 0, "level": 0.99, "one_sided": True}
    >>> asked = plan(device="forced-response", parameters="truth=2/3,yes=1/6", respondents=200, **test)
    >>> round(asked.power, 4), round(asked.power_exact, 3)
    (0.9869, 0.983)
    """
    test = {"against": against, "difference": difference, "power": power, "respondents": respondents}
    if device is not None:
        if scheme is not None or prior is not None:
            raise InvalidInput("A device is planned without a scheme and a prior; give the share that is expected.")
        from tacit.design.power import plan_device

        return plan_device(device, parameters, answers, margin, level, share=share, one_sided=one_sided, test=test)
    if share is not None or any(value is not None for name, value in test.items() if name != "respondents"):
        raise InvalidInput(
            "Tests and shares are planned for a device; a scheme takes a margin (or respondents) and a prior."
        )
    return _of_scheme(scheme, margin, prior, level, respondents, purposes or {})


def _of_scheme(
    scheme: Any, margin: Any, prior: Any, level: float, respondents: int | None, purposes: Mapping[str, str]
) -> Plan:
    is_number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if not hasattr(scheme, "questionnaires") or not (is_number or (margin is None and respondents is not None)):
        raise InvalidInput(
            f"A plan takes a scheme (or device=...), then a margin such as 0.03 or respondents, not {type(scheme).__name__} and "
            f"{type(margin).__name__}."
        )
    if margin is not None and respondents is not None:
        raise InvalidInput("Give a margin, which takes respondents, or respondents, who give a margin; not both.")
    if margin is not None:
        checked_margin(margin)
    if respondents is not None and not (isinstance(respondents, int) and respondents >= 1):
        raise InvalidInput(f"The number of respondents must be a whole number of at least 1, not {respondents!r}.")
    z = checked_level(level)
    stated = prior is not None or scheme.prior is not None
    stated_prior = (
        Prior.of(scheme.schema, by_name(scheme, prior), scheme.prior, scheme.routed_records) if stated else None
    )
    wanted = {name: _checked_purpose(purposes.get(name, "shares")) for name in scheme.schema.names}
    of_shares = [name for name, purpose in wanted.items() if purpose != "mean"]
    unknown = [name for name in of_shares if stated_prior is None or stated_prior.is_uniform([name])]
    halves = {name: _at_half(scheme, name) for name in unknown}
    disguised = {name: variance for name, (variance, _) in halves.items()}
    clear = dict.fromkeys(unknown, 0.25)
    if stated_prior is not None:
        spoken_of = [name for name in of_shares if name not in halves]
        disguised |= {name: float(report_variance(scheme, stated_prior, [name]).max()) for name in spoken_of}
        clear |= {name: _direct_variance(stated_prior, name) for name in spoken_of}
    for name in purposes:
        if wanted[scheme.schema[name].name] != "shares":
            mean, direct = _mean_variances(scheme, name, stated_prior)
            disguised[name], clear[name] = max(mean, disguised.get(name, 0.0)), max(direct, clear.get(name, 0.0))
    if margin is None and respondents is not None:
        margin = max(z * math.sqrt(variance / respondents) for variance in disguised.values())
    people = _People(z / margin)
    per_attribute = {name: people.respondents_for(disguised[name]) for name in scheme.schema.names}
    directly = {name: people.respondents_for(clear[name]) for name in scheme.schema.names}
    total = max(per_attribute.values()) if respondents is None else respondents
    return Plan(
        margin=margin,
        level=level,
        respondents=total,
        per_attribute=per_attribute,
        direct_questioning=max(directly.values()),
        per_attribute_direct=directly,
        prior="share one half" if stated_prior is None else stated_prior.source,
        warnings=tuple(
            _larger_shares(scheme, {name: half for name, half in halves.items() if wanted[name] != "mean"}, people)
        ),
        margins={name: z * math.sqrt(disguised[name] / total) for name in scheme.schema.names},
        purposes=wanted,
    )


def _checked_purpose(purpose: str) -> str:
    if purpose not in PURPOSES:
        raise InvalidInput(f"A plan is for shares, mean or both, not {purpose!r}.")
    return purpose


def _mean_variances(scheme: Scheme, name: str, known: Prior | None) -> tuple[float, float]:
    """Variances of one contribution to an attribute's mean in squared ranges, disguised and asked directly."""
    numbers = answer_numbers(scheme.schema[name])
    values, size = (numbers - numbers.min()) / np.ptp(numbers), len(numbers)
    shares = np.full(size, 1 / size) if known is None or known.is_uniform([name]) else known.joint([name])
    direct = float(shares @ values**2 - (shares @ values) ** 2)
    group = scheme.questionnaires[0].group_of(name)
    if scheme.is_dealt or (group is not None and len(group.names) > 1):
        raise NotEstimable(
            f"The mean of {name!r} is planned where everybody is asked it and it is disguised alone. Plan its shares instead."
        )
    if group is None:
        return direct, direct
    if group.channel.is_small:
        variance = float(wanted_variances(group.channel.matrix, shares, values[None])[0])
    else:
        variance = mean_variance(group.channel, numbers)
    if not math.isfinite(variance):
        raise NotEstimable(f"Reports of {name!r} do not tell its mean. Choose another channel, or plan its shares.")
    return variance, direct


@dataclass(frozen=True)
class _People:
    """Turns the variance of one respondent's contribution into a number of respondents."""

    precision: float  # standard errors that one margin of error holds, over the margin

    def respondents_for(self, variance: float) -> int:
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
    groups = [arm.group_of(name) for arm in scheme.questionnaires if name in arm.attributes]
    alike = all(group is None or group.channel.treats_answers_alike for group in groups)
    return [0] if alike else range(scheme.schema[name].size)


def _variance_at(scheme: Scheme, name: str, code: int, share: float) -> float:
    """Variance of one contribution to an answer of this share, all other answers sharing the rest alike."""
    size = scheme.schema[name].size
    distribution = np.full(size, (1 - share) / (size - 1))
    distribution[code] = share
    prior = Prior.of(scheme.schema, {name: distribution}, routed=scheme.routed_records)
    return float(report_variance(scheme, prior, [name])[code])


def _larger_shares(scheme: Scheme, halves: Mapping[str, tuple[float, int]], people: _People) -> Iterator[str]:
    """A sentence for each attribute of which some other share needs noticeably more people than one half."""
    for name, (half, code) in halves.items():
        worst = max(_variance_at(scheme, name, code, share) for share in OTHER_SHARES)
        if worst > 1.01 * half:
            yield (
                f"{name}: {people.respondents_for(half):,} respondents are for a share of one half; answers that nearly everyone "
                f"gives can need up to {people.respondents_for(worst):,}. Give a prior if you expect one."
            )
