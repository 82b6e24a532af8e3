"""What a study used, for its JSON answer and for the paragraph of a methods section: devices, chances, sample, seed, version."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.channel.devices import DeviceDesign
from tacit.channel.moment_devices import MomentDesign
from tacit.count.weighted import SampleColumns

INTERVALS = {
    "score": "Intervals hold all shares that the device's own law does not refute (score intervals)",
    "Wald": "Intervals are the estimate plus and minus the quantile times its standard error (Wald)",
    "likelihood ratio": "p-values are those of likelihood ratios and intervals the profile of the likelihood",
    "likelihood ratio (Rao-Scott)": (
        "p-values are those of likelihood ratios and intervals the profile of the likelihood, both scaled by the effect of the "
        "sample's design (Rao and Scott 1984)"
    ),
}


@dataclass(frozen=True, eq=False)
class StudyRecord:
    """The devices of a study by variable, its sample, and how chance was drawn."""

    devices: Mapping[str, DeviceDesign | MomentDesign] = field(default_factory=dict)
    columns: SampleColumns = field(default_factory=SampleColumns)
    bootstrap: int | None = None
    seed: int | None = None
    scheme: str | None = None  # its hash

    def to_document(self) -> dict[str, Any]:
        from tacit import __version__

        columns = self.columns
        return {
            "devices": {name: _chances(device) for name, device in self.devices.items()},
            "scheme": self.scheme,
            "weights": columns.weights,
            "strata": columns.strata,
            "clusters": columns.clusters,
            "sampled": columns.sampled,
            "replicates": list(columns.replicates),
            "bootstrap": self.bootstrap,
            "seed": self.seed,
            "version": __version__,
        }

    def methods(self, estimator: str, errors: str, tests: str, level: float, counts: tuple[int, int]) -> str:
        """The paragraph of a methods section, from what was really used."""
        from tacit import __version__

        n, missing = counts
        asked = [_in_words(name, device) for name, device in self.devices.items()]
        if self.scheme is not None:
            asked.append(f"Answers were disguised under the scheme {self.scheme[:12]} before they were collected.")
        without = f" ({missing:,} rows without a needed value were left out)" if missing else ""
        sentences = [
            *asked,
            f"{n:,} reports were analysed{without}.",
            f"{estimator}.",
            f"Standard errors: {errors}{self._sample()}.",
            f"{INTERVALS.get(tests, tests)}, at the level {level:g}.",
            f"Computed with Tacit {__version__}" + ("." if self.seed is None else f", seed {self.seed}."),
        ]
        sources = [device.device.source for device in self.devices.values() if device.device.source]
        references = "; ".join(dict.fromkeys(source.split(", under")[0] for source in sources))
        return " ".join(sentences) + (f" References: {references}." if references else "")

    def _sample(self) -> str:
        columns = self.columns
        named = [("weights", columns.weights), ("strata", columns.strata), ("clusters", columns.clusters)]
        parts = [f"{what} {name}" for what, name in named if name is not None]
        if columns.sampled is not None:
            parts.append(f"sampled share {columns.sampled}")
        if self.bootstrap is not None:
            parts.append(f"bootstrap of {self.bootstrap:,} repeats")
        if columns.replicates:
            parts.append(f"{len(columns.replicates):,} replicate weights")
        return f" ({', '.join(parts)})" if parts else ""


def _chances(device: DeviceDesign | MomentDesign) -> dict[str, Any]:
    samples: Sequence[Any] = device.samples
    if isinstance(device, MomentDesign):
        return {"device": device.name, "parameters": dict(device.chances)}
    chances = [
        {"sample": sample.name, **{name: str(value) for name, value in sample.chances.items()}} for sample in samples
    ]
    return {"device": device.name, "parameters": chances, "direct": device.direct}


def _in_words(name: str, device: DeviceDesign | MomentDesign) -> str:
    """How a variable was asked, and what one report tells."""
    made = f"{name} was asked with {device.device.title} ({device.label.partition(' ')[2]}): {device.device.law}."
    if isinstance(device, MomentDesign):
        return made
    gamma = device.amplification
    if math.isinf(gamma):
        return f"{made} Some reports of it prove an answer."
    return f"{made} One report changes the odds of a guess about its sender at most {gamma:.3g} times."
