"""Where the fit starts: each attribute's own shares, as far as the reports tell them."""

from __future__ import annotations

import numpy as np

from tacit.channel.protocol import Array
from tacit.errors import TacitError
from tacit.estimation import estimate, projected
from tacit.reports import Reports

# A standard error of this size makes an estimate worth as much as no estimate.
HALF_TRUSTED = 0.1
# No answer starts as impossible: what has chance zero stays there.
UNIFORM_PART = 0.05


def starting_shares(reports: Reports) -> list[Array]:
    """For each attribute of the scheme its estimated distribution, drawn towards uniform where it is uncertain."""
    return [_shares(reports, attribute.name, attribute.size) for attribute in reports.scheme.schema]


def _shares(reports: Reports, name: str, size: int) -> Array:
    uniform = np.full(size, 1 / size)
    try:
        found = estimate(reports, [name])
    except TacitError:  # nothing can be estimated, at theta = 1/2 say; the guesser goes on all the same
        return uniform
    trust = 1 / (1 + (found.standard_errors.max() / HALF_TRUSTED) ** 2)
    trust *= 1 - UNIFORM_PART
    return trust * projected(found.probabilities) + (1 - trust) * uniform
