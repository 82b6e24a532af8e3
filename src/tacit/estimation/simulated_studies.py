"""Studies that are drawn from a design before it is fielded: bias, coverage and power of the very estimate that will be made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.channel.devices import DeviceDesign
from tacit.display import Shown
from tacit.errors import InvalidInput
from tacit.estimation.prevalence import prevalence

MOST_STUDIES = 1_000_000


@dataclass(frozen=True, repr=False)
class SimulatedStudies(Shown):
    """What many studies of one design gave: each figure with the error that the number of studies leaves."""

    device: str
    share: float
    respondents: int
    honesty: float
    studies: int
    level: float
    against: float | None
    figures: dict[str, tuple[float, float]]  # name: value, error

    plotted = "value"

    def headline(self) -> str:
        honest = "" if self.honesty == 1 else f", of whom {self.honesty:g} answer as carriers"
        drawn = f"{self.studies:,} studies of {self.respondents:,} respondents with {self.device}"
        return f"{drawn}; {self.share:g} carry the trait{honest}"

    def shown_rows(self) -> list[dict[str, Any]]:
        return [{"figure": name, "value": value, "standard_error": e} for name, (value, e) in self.figures.items()]

    def to_document(self) -> dict[str, Any]:
        names = ("device", "share", "respondents", "honesty", "studies", "level", "against")
        figures = {name: {"value": value, "standard_error": e} for name, (value, e) in self.figures.items()}
        return {name: getattr(self, name) for name in names} | figures


def simulate_studies(
    device: DeviceDesign,
    share: float,
    respondents: int,
    *,
    honesty: float = 1.0,
    studies: int = 2000,
    against: float | None = None,
    level: float = 0.95,
    seed: int | None = None,
) -> SimulatedStudies:
    """Draw studies of one yes/no item and estimate each as `prevalence` does.

    Parameters
    ----------
    device : DeviceDesign
        How the item is asked; several samples are of one size.
    share : float
        The share of carriers.
    respondents : int
        In each study.
    honesty : float
        The share of carriers who follow the device; the others answer as if they did not carry the trait.
    studies : int
        How many are drawn.
    against : float, optional
        A share that each study tests; the power is how often it is refuted.
    level : float
        Of the intervals and the test.
    seed : int, optional
        Makes the draws repeatable.

    Returns
    -------
    SimulatedStudies
    """
    for name, value in (("share", share), ("honesty", honesty)):
        if not 0 <= value <= 1:
            raise InvalidInput(f"The {name} lies between 0 and 1; it cannot be {value!r}.")
    if respondents < 2 * len(device.samples) or not 1 <= studies <= MOST_STUDIES:
        raise InvalidInput(
            f"{studies:,} studies of {respondents:,} respondents cannot be drawn: give at least 2 respondents for each sample, "
            f"and 1 to {MOST_STUDIES:,} studies."
        )
    if len(device.answers) != 2 or device.direct is not None:
        raise InvalidInput("Studies are simulated of one yes/no item that everybody is asked with the device.")
    g = np.random.default_rng(seed)
    carriers = share * honesty
    sizes = [len(rows) for rows in np.array_split(np.arange(respondents), len(device.samples))]
    laws = [device.honest_law(sample) @ [1 - carriers, carriers] for sample in device.samples]
    draws = np.stack(
        [g.multinomial(size, law / law.sum(), studies) for size, law in zip(sizes, laws, strict=True)], axis=1
    )
    different, which = np.unique(draws.reshape(studies, -1), axis=0, return_inverse=True)
    shape = draws.shape[1:]
    results = np.array([_estimate(device, counts.reshape(shape), against, level) for counts in different])
    estimates, errors, low, high, p = results[which.reshape(-1)].T
    figures = {
        "bias": (float(estimates.mean() - share), float(estimates.std()) / math.sqrt(studies)),
        "spread of the estimates": (float(estimates.std()), float(estimates.std()) / math.sqrt(2 * studies)),
        "mean standard error": (float(errors.mean()), float(errors.std()) / math.sqrt(studies)),
        "coverage": _share_of((low <= share) & (share <= high)),
    }
    if against is not None:
        figures["power"] = _share_of(p < 1 - level)
    return SimulatedStudies(device.label, share, respondents, honesty, studies, level, against, figures)


def _estimate(device: DeviceDesign, counts: Any, against: float | None, level: float) -> tuple[float, ...]:
    """Share, error, interval and p from the counts of each sample's reports."""
    samples = [str(sample.name) for sample in device.samples]
    reports = np.concatenate([np.repeat(device.reports, row) for row in counts])
    frame: dict[str, Any] = {"x": reports.tolist()}
    is_split = device.samples[0].name is not None
    if is_split:
        frame["sample"] = np.repeat(samples, counts.sum(axis=1)).tolist()
    column = "sample" if is_split else None
    result = prevalence(frame, "x", device, sample=column, level=level, against=against)
    yes = result.shares[1]
    return yes.share, yes.standard_error, yes.low, yes.high, 1.0 if result.test is None else result.test.p


def _share_of(holds: Any) -> tuple[float, float]:
    value = float(holds.mean())
    return value, math.sqrt(max(value * (1 - value), 1 / len(holds)) / len(holds))
