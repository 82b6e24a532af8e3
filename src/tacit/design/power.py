"""How many respondents a device takes: for a margin of error, and for telling a share or a difference from chance.

The test compares the unbiased estimate with what it is held against, in standard errors under that hypothesis (a score
test with the normal approximation): its power is ``Phi((|effect| - z s0) / s1)``, s0 the error under the hypothesis and s1
the error under the share that is expected. Where a device has two reports and one sample, the power is counted as well:
for a share that of the exact binomial test, for a difference that of the score test over all outcomes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

from tacit.channel import devices
from tacit.design.question import checked_margin
from tacit.display import Shown, new_figure
from tacit.errors import InvalidInput
from tacit.estimation.sample_laws import SampleLaws

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tacit.channel.devices import DeviceDesign

MOST_RESPONDENTS = 10**9
# Of two groups together: beyond it the normal approximation is as good, and outcomes are too many to be counted.
MOST_COUNTED = 4000


def one_respondent(device: DeviceDesign | None, share: float) -> float:
    """Variance of one respondent's worth of the estimated share; None asks directly.

    A device that estimates more than the shares is planned for what it is hoped to find: nobody cheats or denies, and
    half say yes to an unrelated question. With more than two answers the share is each answer's in turn, the others
    sharing the rest alike, and the largest variance counts. Samples are of one size.
    """
    if device is None:
        return share * (1 - share)

    laws = SampleLaws.even([sample.matrix for sample in device.samples])
    return max(_variance(laws, row, _classes(device, answer, share)) for answer, row in _planned_answers(device))


def _planned_answers(device: DeviceDesign) -> list[tuple[int, Any]]:
    """The answers whose share is planned for: of yes and no the yes."""
    answers = [1] if len(device.answers) == 2 else range(len(device.answers))
    return [(answer, device.shares[answer]) for answer in answers]


def _classes(device: DeviceDesign, answer: int, share: float) -> Any:
    shares = np.full(len(device.answers), (1 - share) / (len(device.answers) - 1))
    shares[answer] = share
    classes = np.zeros(len(device.classes))
    for row, answer_share in zip(device.shares, shares, strict=True):
        held = np.flatnonzero(row)
        # Four classes of the unrelated question share evenly; those who deny come last and are none.
        if device.name == "unrelated-question" and len(held) > 1:
            classes[held] += answer_share / len(held)
        else:
            classes[held[0]] += answer_share
    return classes


def _variance(laws: Any, row: Any, classes: Any) -> float:
    # The least-variance weights at the very edge of the simplex would divide by chances of zero.
    inside = (classes + 1e-9) / (1 + 1e-9 * len(classes))
    weights = laws.weights(row[None, :], inside)
    return float(laws.covariance(weights, classes)[0, 0])


@dataclass(frozen=True, repr=False)
class DevicePlan(Shown):
    """Respondents that a device needs, next to what direct questioning would need.

    `power` is that of the score test with the normal approximation; `power_exact` is counted, where it can be.
    """

    device: DeviceDesign
    respondents: int
    per_attribute: dict[str, int]
    direct_questioning: int
    wanted: str  # in words
    power: float | None = None
    power_direct: float | None = None
    power_exact: float | None = None
    question: PowerQuestion | None = None
    margin: float | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether the power is that of the normal approximation alone."""
        reason = None if self.question is None else self.question.why_not_counted(self.device, self.respondents)
        if reason is None:
            return ()
        return (f"The power is that of the normal approximation; it is not counted over all outcomes, as {reason}.",)

    def headline(self) -> str:
        reached = "" if self.power is None else f", power {self.power:.4f}"
        return (
            f"{self.respondents:,} respondents with {self.device.name}{reached}; asked directly "
            f"{self.direct_questioning:,}; for {self.wanted}"
        )

    def shown_rows(self) -> list[dict[str, Any]]:
        """The device, and asking directly."""
        rows: list[dict[str, Any]] = [
            {"asked by": self.device.name, "respondents": self.respondents},
            {"asked by": "direct", "respondents": self.direct_questioning},
        ]
        return rows

    plotted = "respondents"

    @property
    def _share(self) -> float:
        return 0.5 if self.question is None else self.question.share

    def compare(self, beside: Sequence[DeviceDesign]) -> list[dict[str, Any]]:
        """The device, others and asking directly, each with its error and power for the respondents and share of this plan."""
        return [
            {
                "asked by": "direct" if device is None else device.label,
                "standard_error": math.sqrt(one_respondent(device, self._share) / self.respondents),
                "power": None if self.question is None else self.question.power(device, self.respondents),
                "gamma": math.inf if device is None else device.amplification,
            }
            for device in (self.device, *beside, None)
        ]

    def with_dishonesty(self, honesty: float) -> dict[str, float | int | None]:
        """What direct questions cost if only this share of carriers admit the trait: bias, error, and when the device wins.

        The device wins, by mean squared error, from ``(v_device - v_direct) / bias**2`` respondents on.
        """
        if not 0 <= honesty <= 1:
            raise InvalidInput(f"The honesty of carriers lies between 0 and 1; it cannot be {honesty!r}.")
        bias = -(1 - honesty) * self._share
        device, direct = one_respondent(self.device, self._share), one_respondent(None, honesty * self._share)
        return {
            "honesty": honesty,
            "bias": bias,
            "error_device": math.sqrt(device / self.respondents),
            "error_direct": math.sqrt(bias**2 + direct / self.respondents),
            "device_wins_from": _whole(max((device - direct) / bias**2, 1)) if bias else None,
        }

    def draw(self, beside: Sequence[DeviceDesign] = ()) -> Figure:
        """The power of the device, of others `beside` it and of asking directly, against the respondents."""
        if self.question is None:
            raise InvalidInput(
                "The plot shows the power of a test, and this plan is of an estimate. Give share with against or "
                "difference (--share, --against, --difference)."
            )
        most = 2 * max(self.respondents, 50)
        people = sorted({max(2, most * step // 100) for step in range(1, 101)})
        figure, axes = new_figure(7, 4)
        for name, power in power_curves([self.device, *beside], self.question, people).items():
            axes.plot(people, power, label=name, linestyle="--" if name == "direct" else "-")
        axes.set(xlabel="respondents", ylabel="power", ylim=(0, 1.02))
        axes.set_title(self.question.in_words(), fontsize=8)
        axes.legend(frameon=False)
        return figure

    def to_document(self) -> dict[str, Any]:
        return {
            "respondents": self.respondents,
            "per_attribute": self.per_attribute,
            "direct_questioning": self.direct_questioning,
            "power": self.power,
            "power_direct": self.power_direct,
            "power_exact": self.power_exact,
            "wanted": self.wanted,
            "margin": self.margin,
            "warnings": list(self.warnings),
        }


def plan_margin(device: DeviceDesign, margin: float, level: float = 0.95, share: float = 0.5) -> DevicePlan:
    """Respondents for a margin of error of a share: half the width of its interval at `level`.

    >>> from tacit import devices
    >>> plan_margin(devices.crosswise(".25"), 0.04).respondents
    2401
    """
    precision = (_quantile(level, one_sided=False) / checked_margin(margin)) ** 2
    needed, direct = (_whole(one_respondent(asked, _share(share)) * precision) for asked in (device, None))
    words = f"a margin of error of {margin:.4g} at {level:.4g} confidence, at a share of {share:g}"
    return DevicePlan(device, needed, {"item": needed}, direct, words, margin=margin)


def reached_margin(device: DeviceDesign, respondents: int, level: float = 0.95, share: float = 0.5) -> DevicePlan:
    """The margin of error of a share that so many respondents give.

    >>> from tacit import devices
    >>> round(reached_margin(devices.crosswise(".25"), 2401).margin, 4)
    0.04
    """
    if not (isinstance(respondents, int) and respondents >= 1):
        raise InvalidInput(f"The number of respondents must be a whole number of at least 1, not {respondents!r}.")
    variance = one_respondent(device, _share(share))
    margin = _quantile(level, one_sided=False) * math.sqrt(variance / respondents)
    return plan_margin(device, margin, level, share)


def costs(device: DeviceDesign) -> list[str]:
    """What the device costs, in sentences: the error of a thousand reports, and respondents for a margin."""
    errors = [math.sqrt(one_respondent(asked, 0.1) / 1000) for asked in (device, None)]
    plan = plan_margin(device, 0.03)
    return [
        f"Among 1,000 respondents a share of 10% has a standard error of {errors[0]:.3f} (asked directly: {errors[1]:.3f}).",
        f"A margin of error of 3 points at 95% confidence, at a share of one half, takes {plan.respondents:,} respondents "
        f"(asked directly: {plan.direct_questioning:,}).",
    ]


@dataclass(frozen=True)
class PowerQuestion:
    """What a test should tell: a share from another one, or the shares of two groups of one size."""

    share: float
    against: float | None = None
    difference: float | None = None
    level: float = 0.95
    one_sided: bool = False

    def __post_init__(self) -> None:
        _share(self.share)
        if (self.against is None) == (self.difference is None):
            raise InvalidInput(
                "What should the test show? Give either the share it is compared with (against=.1), or the difference "
                "between two groups (difference=.1)."
            )
        other = self.against if self.difference is None else self.share + self.difference
        if other is None or not 0 <= other <= 1:
            raise InvalidInput(
                f"A share of {self.share:g} with a difference of {self.difference} leaves 0 to 1. Give another share."
                if self.difference is not None
                else f"The share to hold against must lie between 0 and 1, not {self.against!r}."
            )
        if other == self.share:
            raise InvalidInput("The two shares are equal, so there is nothing to tell apart.")
        _quantile(self.level, one_sided=self.one_sided)

    @property
    def effect(self) -> float:
        return abs(self.difference) if self.difference is not None else abs(self.share - (self.against or 0.0))

    def errors(self, device: DeviceDesign | None) -> tuple[float, float]:
        """Standard errors of one respondent's worth: under the hypothesis, and under what is expected."""
        if self.difference is None:
            return math.sqrt(one_respondent(device, self.against or 0.0)), math.sqrt(one_respondent(device, self.share))
        other = self.share + self.difference
        # Each group holds half of the respondents; under the hypothesis both have the mean share.
        mean = one_respondent(device, (self.share + other) / 2)
        apart = one_respondent(device, self.share) + one_respondent(device, other)
        return math.sqrt(4 * mean), math.sqrt(2 * apart)

    def power(self, device: DeviceDesign | None, respondents: int) -> float:
        """The chance that the test sees what is there; counted where a share of 0 or 1, asked directly, leaves no chance."""
        if device is None and self.difference is None and self.against in (0, 1):
            return float(self.counted_power(None, respondents) or 0.0)
        under, actual = (error / math.sqrt(respondents) for error in self.errors(device))
        critical = _quantile(self.level, one_sided=self.one_sided) * under
        seen = _normal_cdf(self.effect - critical, actual)
        return seen if self.one_sided else seen + _normal_cdf(-self.effect - critical, actual)

    def why_not_counted(self, device: DeviceDesign, respondents: int) -> str | None:
        """Why the power of this device is not counted over all outcomes."""
        if len(device.samples) > 1:
            return f"{device.name} asks {len(device.samples)} samples"
        if _chance_of_yes(device) is None:
            return f"{device.name} has {len(device.reports)} reports"
        if self.difference is not None and respondents > MOST_COUNTED:
            return f"{respondents:,} respondents in two groups have too many outcomes"
        return None

    def counted_power(self, device: DeviceDesign | None, respondents: int) -> float | None:
        """The power, counted over all outcomes: None where there are more than two reports, or too many outcomes.

        A share is tested by the exact binomial test, a difference by the score test with the pooled share.
        """
        law = _chance_of_yes(device)
        if law is None or (device is not None and self.why_not_counted(device, respondents)):
            return None
        if self.difference is None:
            tails = law(self.against or 0.0), law(self.share)
            return _binomial_power(*tails, respondents, self.level, one_sided=self.one_sided)
        chances = law(self.share), law(self.share + self.difference)
        critical = _quantile(self.level, one_sided=self.one_sided)
        return _compared_power(*chances, respondents, critical, one_sided=self.one_sided)

    def respondents(self, device: DeviceDesign | None, power: float) -> int:
        """The fewest respondents that have at least this power."""
        if not 0 < power < 1:
            raise InvalidInput(f"The power must lie between 0 and 1, such as .8; it cannot be {power!r}.")
        return _fewest(lambda people: self.power(device, people) >= power)

    def in_words(self) -> str:
        sides = "one-sided" if self.one_sided else "two-sided"
        test = f"{sides} score test at {self.level:.4g} confidence (normal approximation)"
        if self.difference is None:
            return f"telling a share of {self.share:g} from {self.against:g}: {test}"
        other = self.share + self.difference
        return f"telling shares of {self.share:g} and {other:g} in two groups of one size apart: {test}"


def plan_device(
    device: str | DeviceDesign,
    parameters: Any,
    answers: Sequence[str],
    margin: float | None,
    level: float,
    *,
    share: float | None,
    one_sided: bool,
    test: Mapping[str, Any],
) -> DevicePlan:
    """The plan of a device: for a margin, or for the test of which something is said."""
    device_design = (
        device if isinstance(device, devices.DeviceDesign) else devices.design(device, parameters or {}, answers)
    )
    asked = [name for name, value in test.items() if value is not None]
    if margin is None and not asked:
        raise InvalidInput("How sure should it be? Give a margin of .03, or a power of .8 with the share and against.")
    if margin is not None and asked:
        raise InvalidInput(f"A margin plans an estimate and {asked[0]} a test. Give one of them.")
    if margin is not None:
        return plan_margin(device_design, margin, level, 0.5 if share is None else share)
    if asked == ["respondents"]:
        return reached_margin(device_design, test["respondents"], level, 0.5 if share is None else share)
    if share is None and test["difference"] is None:
        raise InvalidInput("A test needs the share that is expected: give a share of .2, for example.")
    question = PowerQuestion(0.5 if share is None else share, test["against"], test["difference"], level, one_sided)
    return plan_power(device_design, question, power=test["power"], respondents=test["respondents"])


def plan_power(
    device: DeviceDesign, question: PowerQuestion, *, power: float | None = None, respondents: int | None = None
) -> DevicePlan:
    """The power of a number of respondents, or the respondents that a power takes.

    >>> from tacit import devices
    >>> question = PowerQuestion(share=0.2, against=0, level=0.99, one_sided=True)
    >>> plan = plan_power(devices.forced_response("2/3", "1/6"), question, respondents=200)
    >>> round(plan.power, 4)
    0.9869
    """
    if (power is None) == (respondents is None):
        raise InvalidInput(
            "Give either power, to learn how many respondents it takes, or respondents, to learn the power they give."
        )
    if respondents is None:
        respondents = question.respondents(device, float(power or 0))
    if respondents < 2:
        raise InvalidInput(f"A test needs at least two respondents, not {respondents}.")
    reached = question.power(device, respondents)
    return DevicePlan(
        device=device,
        respondents=respondents,
        per_attribute={"item": respondents},
        direct_questioning=question.respondents(None, min(reached, 1 - 1e-12)),
        wanted=question.in_words(),
        power=reached,
        power_direct=question.power(None, respondents),
        power_exact=question.counted_power(device, respondents),
        question=question,
    )


def power_curves(
    devices: Sequence[DeviceDesign], question: PowerQuestion, respondents: Sequence[int]
) -> dict[str, list[float]]:
    """The power of each device, and of asking directly, at these numbers of respondents."""
    asked: list[tuple[str, DeviceDesign | None]] = [(device.label, device) for device in devices]
    return {
        name: [question.power(device, people) for people in respondents] for name, device in [*asked, ("direct", None)]
    }


def _chance_of_yes(device: DeviceDesign | None) -> Callable[[float], float] | None:
    """The chance of the second report as a function of the share; None where the device has more reports or samples."""
    if device is None:
        return lambda share: share
    if len(device.samples) != 1 or len(device.reports) != 2 or len(device.classes) != 2:
        return None
    no, yes = device.samples[0].matrix[1]
    return lambda share: float(no + (yes - no) * share)


def _binomial_power(under: float, actual: float, respondents: int, level: float, *, one_sided: bool) -> float:
    """The chance that the exact test rejects `under`, where `actual` is the chance of each yes."""
    alpha = (1 - level) if one_sided else (1 - level) / 2
    counts = np.arange(-1, respondents + 1)
    # Rejected are counts above the least one whose upper tail is small enough, and so from below.
    above = counts[bdtrc(counts, respondents, under) <= alpha * (1 + 1e-9)]
    below = counts[np.where(counts < 0, 0.0, bdtr(counts, respondents, under)) <= alpha * (1 + 1e-9)]
    high = float(bdtrc(above[0], respondents, actual)) if above[0] < respondents else 0.0
    low = float(bdtr(below[-1], respondents, actual)) if below[-1] >= 0 else 0.0
    if one_sided:
        return high if actual > under else low
    return high + low


def _compared_power(one: float, other: float, respondents: int, critical: float, *, one_sided: bool) -> float:
    """The chance that two groups, each half of the respondents, differ in their yes by more than `critical` errors."""
    size = respondents // 2
    seen = np.arange(size + 1)
    ways = gammaln(size + 1) - gammaln(seen + 1) - gammaln(size - seen + 1)
    first, second = (np.exp(ways + xlogy(seen, p) + xlog1py(size - seen, -p)) for p in (one, other))
    pooled = (seen[:, None] + seen) / (2 * size)
    error = np.sqrt(pooled * (1 - pooled) * 2 / size)
    apart = (seen - seen[:, None]) / size * (1 if other > one else -1)
    rejected = (apart if one_sided else np.abs(apart)) > critical * error
    return float(first @ rejected @ second)


def _fewest(enough: Callable[[int], bool]) -> int:
    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_RESPONDENTS:
            raise InvalidInput(f"More than {MOST_RESPONDENTS:,} respondents would be needed. Choose a larger effect.")
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _normal_cdf(distance: float, error: float) -> float:
    # Asked directly, a share of 0 or 1 leaves nothing to chance.
    return NormalDist().cdf(distance / error) if error > 0 else float(distance > 0)


def _quantile(level: float, *, one_sided: bool) -> float:
    if not 0 < level < 1:
        raise InvalidInput(f"A confidence level lies between 0 and 1, such as 0.95; it cannot be {level!r}.")
    return NormalDist().inv_cdf(level if one_sided else (1 + level) / 2)


def _share(share: float) -> float:
    if not 0 <= share <= 1:
        raise InvalidInput(f"A share lies between 0 and 1; it cannot be {share!r}.")
    return share


def _whole(respondents: float) -> int:
    # A number that is whole but for rounding is meant to be whole.
    return max(1, math.ceil(respondents - 1e-9))
