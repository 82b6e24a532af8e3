"""Laws that are a short sum of products over a group's attributes: groups of any size stay cheap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import Array, Codes, joint_codes
from tacit.joint._class_kernels import cell_sums, row_products
from tacit.joint.laws import TINY, DenseLaw, Factor, LawTerm, ReportLaw
from tacit.joint.numbering import numbered_cells

# For each attribute of a group where each answer goes.
Turn = tuple[NDArray[np.int64], ...]

# Products of more factors than this are summed as logarithms: they could fall below the smallest number there is.
FACTORS_AT_ONCE = 32


class ProductLaw(ReportLaw):
    """A sum of products over the group's attributes."""

    def __init__(self, shape: tuple[int, ...], terms: Sequence[LawTerm]) -> None:
        self.shape, self.terms = shape, tuple(terms)

    @property
    def n_reports(self) -> int:
        return len(self.terms[0].scale)

    def _pieces(self, factors: Sequence[Array]) -> tuple[list[Array], Array | float]:
        """Each term in each component, (reports, components), all up to one factor of the report, whose logarithm follows."""
        if len(self.shape) <= FACTORS_AT_ONCE:
            return [self._piece(place, factors) for place in range(len(self.terms))], 0.0
        logs = [self._log_piece(term, factors) for term in self.terms]
        top = np.maximum.reduce([piece.max(axis=1) for piece in logs])
        scaled = [np.exp(piece - top[:, None]) for piece in logs]
        return [term.scale[:, None] * piece for term, piece in zip(self.terms, scaled, strict=True)], top

    def _piece(self, place: int, factors: Sequence[Array]) -> Array:
        term, (positions, cells) = self.terms[place], self._fixed_cells[place]
        if positions:
            values = np.concatenate([factors[j] for j in positions], axis=1)
            piece = row_products(cells, np.ascontiguousarray(values.T)) * term.scale[:, None]
        else:
            piece = np.repeat(term.scale[:, None], len(factors[0]), axis=1)
        for j, factor in enumerate(term.factors):
            if factor is not None and factor.ndim == 2:
                piece *= factor @ factors[j].T
        return piece

    def _log_piece(self, term: LawTerm, factors: Sequence[Array]) -> Array:
        """Logarithm of the product without its scale, which may be negative."""
        logs = np.zeros((self.n_reports, len(factors[0])))
        for factor, answer_shares in zip(term.factors, factors, strict=True):
            if factor is not None:
                value = answer_shares.T[factor] if factor.ndim == 1 else factor @ answer_shares.T
                logs += np.log(np.maximum(value, TINY))
        return logs

    @cached_property
    def _fixed_cells(self) -> list[tuple[list[int], NDArray[np.int32]]]:
        """For each term the positions of the attributes whose answers it fixes, and the cells of these answers."""
        made = []
        for term in self.terms:
            positions = [j for j, factor in enumerate(term.factors) if factor is not None and factor.ndim == 1]
            codes = [np.asarray(term.factors[j]) for j in positions]
            sizes = [self.shape[j] for j in positions]
            made.append((positions, numbered_cells(codes, sizes) if positions else np.empty((0, 0), np.int32)))
        return made

    def component_chances(self, factors: Sequence[Array]) -> Array:
        return np.maximum(sum(self._pieces(factors)[0]), 0.0)

    def offsets(self, factors: Sequence[Array]) -> Array | float:
        return self._pieces(factors)[1] if len(self.shape) > FACTORS_AT_ONCE else 0.0

    def _posteriors(self, factors: Sequence[Array]) -> list[Array]:
        """The share of each term in the chance of each report; negative where a term is."""
        pieces, _ = self._pieces(factors)
        whole = np.maximum(sum(pieces), TINY)
        return [piece / whole for piece in pieces]

    def component_counts(self, factors: Sequence[Array], people: Array) -> list[Array]:
        return self._counts(factors, people, self._posteriors(factors))

    def _counts(self, factors: Sequence[Array], people: Array, posteriors: Sequence[Array]) -> list[Array]:
        counts = [np.zeros_like(factor) for factor in factors]
        for place, posterior in enumerate(posteriors):
            self._add_counts(counts, place, factors, people * posterior)
        # A term that takes away (a mixture that keeps less than nothing) leaves rounding errors below zero.
        return [np.maximum(count, 0.0) for count in counts]

    def _add_counts(self, counts: list[Array], place: int, factors: Sequence[Array], people: Array) -> None:
        term, (positions, cells) = self.terms[place], self._fixed_cells[place]
        if positions:
            wide, start = cell_sums(cells, people, sum(self.shape[j] for j in positions)).T, 0
            for j in positions:
                counts[j] += wide[:, start : start + self.shape[j]]
                start += self.shape[j]
        everyone = people.sum(axis=0)[:, None]
        for j, (factor, answer_shares) in enumerate(zip(term.factors, factors, strict=True)):
            if factor is None:
                counts[j] += everyone * answer_shares
            elif factor.ndim == 2:
                counts[j] += ((people / np.maximum(factor @ answer_shares.T, TINY)).T @ factor) * answer_shares

    def turns(self) -> list[Turn]:
        """Exchanges of answers, one for each attribute, that make another term of the first: for a flip the opposite."""
        first, *others = self.terms
        made = [self._exchanges(first, other) for other in others]
        return [turn for turn in made if turn is not None]

    def _exchanges(self, first: LawTerm, other: LawTerm) -> Turn | None:
        exchanges = []
        for here, there, size in zip(first.factors, other.factors, self.shape, strict=True):
            exchange = _exchange(here, there, size)
            if exchange is None:
                return None
            exchanges.append(exchange)
        return tuple(exchanges)

    def answers(self, factors: Sequence[Array], shares: Array) -> list[Array]:
        made = [np.zeros((self.n_reports, size)) for size in self.shape]
        everyone = np.arange(self.n_reports)
        for term, posterior in zip(self.terms, self._posteriors(factors), strict=True):
            people = shares * posterior
            for j, (factor, answer_shares) in enumerate(zip(term.factors, factors, strict=True)):
                if factor is None:
                    made[j] += people @ answer_shares
                elif factor.ndim == 1:
                    made[j][everyone, factor] += people.sum(axis=1)
                else:
                    made[j] += ((people / np.maximum(factor @ answer_shares.T, TINY)) @ answer_shares) * factor
        return [np.maximum(answers, 0.0) for answers in made]

    def component_records(self, factors: Sequence[Array]) -> list[Codes]:
        """The likeliest record of the likeliest single term."""
        best = np.full((self.n_reports, len(factors[0])), -np.inf)
        records = [np.zeros(best.shape, dtype=np.int64) for _ in self.shape]
        for term in self.terms:
            codes, height = self._term_record(term, factors)
            better = height > best
            best = np.where(better, height, best)
            records = [np.where(better, new, old) for new, old in zip(codes, records, strict=True)]
        return records

    def _term_record(self, term: LawTerm, factors: Sequence[Array]) -> tuple[list[Codes], Array]:
        codes = []
        with np.errstate(divide="ignore"):
            height = np.repeat(np.log(np.maximum(term.scale, 0.0))[:, None], len(factors[0]), axis=1)
        for factor, answer_shares in zip(term.factors, factors, strict=True):
            if factor is None:
                best = np.broadcast_to(answer_shares.argmax(axis=1), height.shape)
                chance = np.broadcast_to(answer_shares.max(axis=1), height.shape)
            elif factor.ndim == 1:
                best = np.broadcast_to(factor[:, None], height.shape)
                chance = answer_shares.T[factor]
            else:
                together = factor[:, None, :] * answer_shares[None, :, :]
                best, chance = together.argmax(axis=2), together.max(axis=2)
            codes.append(best)
            height = height + np.log(np.maximum(chance, TINY))
        return codes, height

    def chance(self, record: Sequence[Codes]) -> Array:
        return np.maximum(sum(term.chance(record) for term in self.terms), 0.0)

    def rows(self, which: NDArray[np.intp]) -> ProductLaw:
        return ProductLaw(self.shape, [term.rows(which) for term in self.terms])

    def terms_of(self, limit: int) -> tuple[LawTerm, ...] | None:
        return self.terms if len(self.terms) <= limit else None

    def restrict_answers(self, known: dict[int, Codes]) -> ProductLaw:
        terms = self.terms
        for position, codes in known.items():
            terms = tuple(term.restrict_answers(position, codes) for term in terms)
        return ProductLaw(self.shape, terms)

    @cached_property
    def _dense(self) -> DenseLaw | None:
        """The whole matrix, if some term neither fixes every answer nor leaves all of them free; else None."""
        roles = [{_role(factor) for factor in term.factors} for term in self.terms]
        is_sparse = all(term_roles in ({"free"}, {"fixed"}) for term_roles in roles)
        return None if is_sparse else DenseLaw(self.shape, self.written_out())

    def written_out(self) -> Array:
        matrix = np.zeros((self.n_reports, math.prod(self.shape)))
        for term in self.terms:
            piece = term.scale[:, None]
            for factor, size in zip(term.factors, self.shape, strict=True):
                chance = np.ones((1, size)) if factor is None else np.eye(size)[factor] if factor.ndim == 1 else factor
                piece = (piece[:, :, None] * chance[:, None, :]).reshape(len(piece), -1)
            matrix += piece
        return matrix

    def report_chances(self, truth: Array) -> Array:
        if self._dense is not None:
            return self._dense.report_chances(truth)
        reached = np.zeros((self.n_reports, truth.shape[1]))
        for term in self.terms:
            chances = truth[self._record_codes(term)] if term.factors[0] is not None else truth.sum(axis=0)[None, :]
            reached += term.scale[:, None] * chances
        return reached

    def spread(self, weights: Array) -> Array:
        if self._dense is not None:
            return self._dense.spread(weights)
        cells = np.zeros((math.prod(self.shape), weights.shape[1]))
        for term in self.terms:
            scaled = term.scale[:, None] * weights
            if term.factors[0] is None:
                cells += scaled.sum(axis=0)
            else:
                np.add.at(cells, self._record_codes(term), scaled)
        return cells

    def _record_codes(self, term: LawTerm) -> NDArray[np.int64]:
        return joint_codes([np.asarray(factor) for factor in term.factors], self.shape)


def _exchange(here: Factor, there: Factor, size: int) -> NDArray[np.int64] | None:
    """The bijection of answers that takes one column of codes to another; None where there is none."""
    if here is None or there is None or here.ndim != 1 or there.ndim != 1:
        return None
    exchange = np.full(size, -1, dtype=np.int64)
    exchange[here] = there
    # What was never reported goes to what was never reached, in order.
    exchange[exchange < 0] = np.setdiff1d(np.arange(size), exchange)[: int((exchange < 0).sum())]
    is_bijection = len(np.unique(exchange)) == size
    return exchange if is_bijection and (exchange[here] == there).all() else None


def _role(factor: Factor) -> str:
    return "free" if factor is None else "fixed" if factor.ndim == 1 else "weighed"
