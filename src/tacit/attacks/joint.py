"""The truth as a mixture of products: within one component the answers of a person are independent of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.channel.protocol import Array, Codes


@dataclass(frozen=True, eq=False)
class Joint:
    """``sum_k weights[k] prod_j factors[j][k, answer_j]``: a distribution of whole records that is never written out."""

    weights: Array  # (components,)
    factors: tuple[Array, ...]  # for each attribute (components, answers)

    @property
    def components(self) -> int:
        return len(self.weights)

    def log_factors(self, attributes: tuple[int, ...]) -> Array:
        """Logarithms of the factors of some attributes side by side: ``(components, answers of all of them)``."""
        # An answer nobody gives has chance zero; its logarithm only has to be very low.
        return np.log(np.maximum(np.concatenate([self.factors[j] for j in attributes], axis=1), 1e-300))

    def log_chance(self, records: tuple[Codes, ...]) -> Array:
        """Logarithm of the chance of each record."""
        logs = np.log(self.weights) + sum(
            np.log(np.maximum(factor[:, codes].T, 1e-300)) for factor, codes in zip(self.factors, records, strict=True)
        )
        return log_sum(logs)

    def marginal(self, attribute: int) -> Array:
        return self.weights @ self.factors[attribute]


def log_sum(logs: Array) -> Array:
    """``log(sum(exp(logs)))`` over the last axis."""
    top = logs.max(axis=-1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(logs - safe[..., None]).sum(axis=-1))
