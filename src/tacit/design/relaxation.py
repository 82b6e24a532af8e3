"""A proof that needs no list of posteriors: what every posterior keeps to, as inequalities on second moments.

Let w be the posterior of a report and m its largest entry. Reports are of two kinds: *even* ones, uniform on a set, whose
entries are 0 or m; and *capped* ones, with as many entries delta as fit and the rest on one more answer. Products of
inequalities such as ``0 <= w_i <= m`` are linear in the second moments of each kind and hold for every channel, and the
error depends on second moments alone. So the least error under these inequalities bounds that of every channel from
below, for any number of answers, and its multipliers are a dual like any other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.design.certificate import Aim, Dual

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Matrix = NDArray[np.float64]

MOST_STEPS = 60
SHORT_OF_BOUNDARY = 0.98
TOLERANCE = 1e-6  # relative gap at which the search ends; the bound itself needs none
NO_REST = 1e-9  # a smaller rest is rounding
UNWANTED = 1e-4  # added to directions that are not wanted: with less, steps become singular long before the end
LITTLE = 0.2  # of the information that telling the truth gives


class MomentLimits:
    """Inequalities ``rows @ x <= constants + of_prior @ prior`` and equations of the same form that every channel keeps.

    The moments x: of even reports E w w^T (whose diagonal is E m w) and E m^2; of capped ones the chances that an answer
    holds delta (`full`) or the rest (`left`), that two answers hold delta (`twice`) or one delta and the other the rest
    (`ordered`), and of a capped report at all. `second` maps them to E w w^T of the whole channel.
    """

    def __init__(self, n: int, delta: float) -> None:
        self.n, self.delta = n, delta
        self.least_size = math.ceil(1 / delta - NO_REST)
        self.n_capped = math.floor(1 / delta + NO_REST)
        self.rest = 1 - self.n_capped * delta
        self.has_capped = self.rest > NO_REST and self.n_capped < n
        self.i, self.j = np.triu_indices(n)
        self.even = np.zeros((n, n), dtype=np.intp)
        self.even[self.i, self.j] = self.even[self.j, self.i] = np.arange(len(self.i))
        self.square = len(self.i)  # E m^2 of even reports
        free = self.square + 1
        self.full, self.left = free + np.arange(n), free + n + np.arange(n)
        self.capped = free + 2 * n  # how often a report is capped
        off = ~np.eye(n, dtype=np.bool_)
        self.ordered = np.full((n, n), -1, dtype=np.intp)  # [answer that holds delta, answer that holds the rest]
        self.ordered[off] = self.capped + 1 + np.arange(n * (n - 1))
        self.size = self.capped + 1 + n * (n - 1) if self.has_capped else free
        self.twice = np.full((n, n), -1, dtype=np.intp)
        if self.has_capped and self.n_capped > 1:
            above = self.i != self.j
            numbers = self.size + np.arange(above.sum())
            self.twice[self.i[above], self.j[above]] = self.twice[self.j[above], self.i[above]] = numbers
            self.size += len(numbers)
        self._terms: list[tuple[int, int, float]] = []
        self._of_prior: list[tuple[int, int, float]] = []
        self._constants: list[float] = []
        self._even_products()
        if self.has_capped:
            self._capped_products()
        self.rows, self.of_prior, self.constants = self._collect_rows()
        self._equations()
        self.equations, self.equations_of_prior, _ = self._collect_rows()

    def _add(self, terms: dict[int, float], constant: float = 0.0, prior: dict[int, float] | None = None) -> None:
        row = len(self._constants)
        self._terms += [(row, int(column), value) for column, value in terms.items() if 0 <= column < self.size]
        self._of_prior += [(row, answer, value) for answer, value in (prior or {}).items()]
        self._constants.append(constant)

    def _collect_rows(self) -> tuple[csr_matrix, csr_matrix, Matrix]:
        from scipy import sparse

        shape = len(self._constants)
        row, column, value = map(np.array, zip(*self._terms, strict=True))
        rows = sparse.csr_matrix((value, (row, column)), shape=(shape, self.size))
        row, column, value = map(np.array, zip(*self._of_prior, strict=True))
        of_prior = sparse.csr_matrix((value, (row, column)), shape=(shape, self.n))
        constants = np.array(self._constants)
        self._terms, self._of_prior, self._constants = [], [], []
        return rows, of_prior, constants

    def _entry(self, answer: int, factor: float) -> tuple[dict[int, float], dict[int, float]]:
        """`factor` times E w of even reports, moved to the right side: the prior less what capped reports hold."""
        capped = {int(self.full[answer]): -factor * self.delta, int(self.left[answer]): -factor * self.rest}
        return capped, {answer: -factor}

    def _size_terms(self, factor: float) -> dict[int, float]:
        """`factor` times E m of even reports."""
        return {int(self.even[i, i]): factor for i in range(self.n)}

    def _even_products(self) -> None:
        """0 <= w_i <= m <= cap, two at a time; a set of s answers has m = 1/s."""
        n, cap, g, square = self.n, 1 / self.least_size, self.even, self.square
        for i in range(n):
            held, prior = self._entry(i, -cap)
            self._add(_sum({g[i, i]: 1.0}, held), 0.0, prior)  # w_i (cap - m)
            self._add({g[i, i]: 1.0, square: -1.0})  # m (m - w_i)
            held, prior = self._entry(i, cap)
            line = _sum({square: 1.0, g[i, i]: -1.0}, self._size_terms(-cap), held)
            self._add(line, 0.0, prior)  # (cap - m) (m - w_i)
            for j in range(n):
                if j == i:
                    continue
                self._add({g[i, j]: 1.0, g[i, i]: -1.0})  # w_i (m - w_j)
                held, prior = self._entry(j, cap)
                line = _sum({g[i, i]: 1.0, g[i, j]: -1.0}, self._size_terms(-cap), held)
                self._add(line, 0.0, prior)  # (cap - w_i) (m - w_j)
                if j > i:
                    self._add({g[i, j]: -1.0})  # w_i w_j
                    self._add({g[i, i]: 1.0, g[j, j]: 1.0, g[i, j]: -1.0, square: -1.0})  # (m - w_i) (m - w_j)
        for s in range(self.least_size, n):  # m is not between 1/s and 1/(s+1)
            low, high = 1 / (s + 1), 1 / s
            line = _sum({square: -1.0, self.capped: -low * high}, self._size_terms(low + high))
            self._add(line, low * high)
        line = _sum({square: 1.0, self.capped: -cap / n}, self._size_terms(-(cap + 1 / n)))
        self._add(line, -cap / n)  # (cap - m) (m - 1/n)

    def _capped_products(self) -> None:
        """An answer holds delta, the rest or nothing; at most one of the three for each of two answers."""
        for i in range(self.n):
            self._add({self.full[i]: 1.0, self.left[i]: 1.0, self.capped: -1.0})
            for j in range(self.n):
                if j == i:
                    continue
                self._add({self.ordered[i, j]: -1.0})
                # Where i holds delta, j does not hold both delta and the rest; and the other way round.
                self._add({self.ordered[i, j]: 1.0, self.twice[i, j]: 1.0, self.full[i]: -1.0})
                self._add({self.ordered[i, j]: 1.0, self.left[j]: -1.0})
                if j > i:
                    self._add_pair(i, j)
        self._add({self.capped: 1.0}, 1.0)

    def _add_pair(self, i: int, j: int) -> None:
        if self.n_capped > 1:
            self._add({self.twice[i, j]: -1.0})
        held = dict.fromkeys((int(self.full[i]), int(self.full[j]), int(self.left[i]), int(self.left[j])), 1.0)
        both = dict.fromkeys((int(self.ordered[i, j]), int(self.ordered[j, i]), int(self.twice[i, j])), -1.0)
        self._add({**held, **both, self.capped: -1.0})  # neither holds anything

    def _equations(self) -> None:
        """Entries of a posterior sum to one, so that rows of E w w^T sum to E w; capped reports are counted alike."""
        n, others = self.n, range(self.n)
        for i in range(n):
            line = {int(self.even[i, j]): 1.0 for j in range(n)}
            self._add({**line, self.full[i]: self.delta, self.left[i]: self.rest}, 0.0, {i: 1.0})
        if not self.has_capped:
            return
        for i in range(n):
            self._add({**{int(self.ordered[i, j]): 1.0 for j in others if j != i}, self.full[i]: -1.0})
            line = {int(self.ordered[j, i]): 1.0 for j in others if j != i}
            self._add({**line, self.left[i]: -float(self.n_capped)})
            if self.n_capped > 1:
                line = {int(self.twice[i, j]): 1.0 for j in others if j != i}
                self._add({**line, self.full[i]: 1.0 - self.n_capped})
        self._add({**dict.fromkeys(self.left.tolist(), 1.0), self.capped: -1.0})

    def second(self) -> csr_matrix:
        """The triangle of E w w^T from the moments."""
        from scipy import sparse

        terms = [(k, k, 1.0) for k in range(self.square)]
        if self.has_capped:
            for k, (i, j) in enumerate(zip(self.i.tolist(), self.j.tolist(), strict=True)):
                if i == j:
                    terms += [(k, int(self.full[i]), self.delta**2), (k, int(self.left[i]), self.rest**2)]
                else:
                    product = self.delta * self.rest
                    terms += [(k, int(self.ordered[i, j]), product), (k, int(self.ordered[j, i]), product)]
                    if self.n_capped > 1:
                        terms.append((k, int(self.twice[i, j]), self.delta**2))
        row, column, value = map(np.array, zip(*terms, strict=True))
        return sparse.csr_matrix((value, (row, column)), shape=(self.square, self.size))

    def right_guess(self) -> dict[int, float]:
        """The chance that the best guess is right: E m."""
        return {**self._size_terms(1.0), **({self.capped: self.delta} if self.has_capped else {})}


def _sum(*parts: dict[int, float]) -> dict[int, float]:
    total: dict[int, float] = {}
    for terms in parts:
        for key, value in terms.items():
            total[int(key)] = total.get(int(key), 0.0) + value
    return total


def relaxed_dual(aim: Aim, budget: float, delta: float) -> Dual:
    """The best dual that these inequalities prove."""
    prior, search = aim.prior, _MomentSearch(aim, budget, delta)
    best = search.dual()
    for _ in range(MOST_STEPS):
        try:
            search.step()
        except np.linalg.LinAlgError:
            break
        here = search.dual()
        if here.least_trace(prior, budget) > best.least_trace(prior, budget):
            best = here
        if search.trace <= best.least_trace(prior, budget) * (1 + TOLERANCE) and search.residual < TOLERANCE:
            break
    return best


class _MomentSearch:
    """A primal-dual interior-point search over the moments; slacks make any start permitted."""

    def __init__(self, aim: Aim, budget: float, delta: float) -> None:
        from scipy import sparse

        prior = aim.prior
        self.aim, self.prior, self.budget = aim, prior, budget
        self.wanted = aim.scaling[0] @ aim.scaling[0] + (UNWANTED if aim.is_singular else 0.0) * np.eye(len(prior))
        self.moments = moments = MomentLimits(len(prior), delta)
        guessed = np.zeros((1, moments.size))
        for column, value in moments.right_guess().items():
            guessed[0, column] = value
        rows = sparse.vstack([moments.rows, sparse.csr_matrix(guessed)]).tocsr()
        right = np.append(moments.constants + moments.of_prior @ prior, budget)
        # Each moment in units of its usual size, and each inequality in those of its largest entry.
        self.unit = self._units()
        self.second = (moments.second() @ sparse.diags(self.unit)).tocsr()
        rows = (rows @ sparse.diags(self.unit)).tocsr()
        self.row_unit = 1 / abs(rows).max(axis=1).toarray().ravel()
        self.rows = (sparse.diags(self.row_unit) @ rows).tocsr()
        self.right = right * self.row_unit
        equations = moments.equations.toarray() * self.unit
        self.equation_unit = 1 / np.abs(equations).max(axis=1)
        self.equations = equations * self.equation_unit[:, None]
        self.equals = (moments.equations_of_prior @ prior) * self.equation_unit
        self._start()

    def _units(self) -> Matrix:
        m, prior = self.moments, self.prior
        unit = np.ones(m.size)
        usual = np.where(m.i == m.j, prior[m.i] * np.sqrt(self.budget), prior[m.i] * prior[m.j])
        unit[: m.square] = usual
        unit[m.square] = self.budget**2
        if m.has_capped:
            off = ~np.eye(m.n, dtype=np.bool_)
            unit[m.full] = unit[m.left] = prior
            unit[m.ordered[off]] = np.outer(prior, prior)[off]
            if m.n_capped > 1:
                unit[m.twice[off]] = np.outer(prior, prior)[off]
        return unit

    def _start(self) -> None:
        """From a little information about every answer."""
        m, prior = self.moments, self.prior
        information = np.ones((m.n, m.n)) + np.diag(LITTLE / prior)
        x = np.zeros(m.size)
        x[: m.square] = (information * np.outer(prior, prior))[m.i, m.j]
        x[m.square] = self.budget**2
        if m.has_capped:
            x[m.square + 1 :] = 0.1 * self.unit[m.square + 1 :]
        self.x = x / self.unit
        self._measure()
        self.slack = np.maximum(self.right - self.rows @ self.x, 1e-2)
        self.price = self.trace / len(self.right) / self.slack
        self.free = np.zeros(len(self.equals))

    def _measure(self) -> None:
        """The error at the moments, and its first derivative."""
        m = self.moments
        second = np.zeros((m.n, m.n))
        second[m.i, m.j] = second[m.j, m.i] = self.second @ self.x
        information = second / np.outer(self.prior, self.prior)
        np.linalg.cholesky(information)  # raises where the step went too far
        self.inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
        self.trace = float((self.wanted * self.inverse).sum())
        self.slope = self.inverse @ self.wanted @ self.inverse / np.outer(self.prior, self.prior)
        self.gradient = -(self.second.T @ (np.where(m.i == m.j, 1.0, 2.0) * self.slope[m.i, m.j]))

    def _hessian(self) -> Matrix:
        m = self.moments
        near, far = self.slope, self.inverse / np.outer(self.prior, self.prior)
        i, j = m.i, m.j
        total = np.zeros((m.square, m.square))
        for a, b in ((i, j), (j, i)):
            for left, right in ((near, far), (far, near)):
                total += left[np.ix_(a, i)] * right[np.ix_(b, j)] + left[np.ix_(a, j)] * right[np.ix_(b, i)]
        scale = np.where(i == j, 0.5, 1.0)
        half = self.second.T @ (total * scale * scale[:, None])
        return np.asarray(self.second.T @ half.T)

    @property
    def residual(self) -> float:
        off = np.abs(self.rows @ self.x + self.slack - self.right).max()
        return float(max(off, np.abs(self.equations @ self.x - self.equals).max()))

    def step(self) -> None:
        """One predictor-corrector step (Mehrotra)."""
        from scipy.linalg import cho_factor, cho_solve

        weight = self.price / self.slack
        normal = (self.rows.T.multiply(weight) @ self.rows).toarray()
        normal += self._hessian()
        normal[np.diag_indices_from(normal)] *= 1 + 1e-12
        factor = cho_factor(normal)
        crossed = cho_solve(factor, self.equations.T)
        schur = cho_factor(self.equations @ crossed)
        dual_residual = self.gradient + self.rows.T @ self.price + self.equations.T @ self.free
        off, unequal = self.right - self.rows @ self.x - self.slack, self.equals - self.equations @ self.x

        def solve(products: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix]:
            """The step for which ``price * slack`` changes by `products`."""
            right = -dual_residual - self.rows.T @ ((products - self.price * off) / self.slack)
            d_free = cho_solve(schur, crossed.T @ right - unequal)
            d_x = cho_solve(factor, right) - crossed @ d_free
            d_slack = off - self.rows @ d_x
            return d_x, d_slack, (products - self.price * d_slack) / self.slack, d_free

        now = self.price * self.slack
        d_x, d_slack, d_price, _ = solve(-now)
        length = _longest(self.slack, d_slack, self.price, d_price)
        predicted = float((self.slack + length * d_slack) @ (self.price + length * d_price)) / len(now)
        target = now.mean() * min(1.0, max(predicted / now.mean(), 0.0)) ** 3
        d_x, d_slack, d_price, d_free = solve(target - now - d_slack * d_price)
        length = SHORT_OF_BOUNDARY * _longest(self.slack, d_slack, self.price, d_price)
        self._move(length, d_x, d_slack, d_price, d_free)

    def _move(self, length: float, d_x: Matrix, d_slack: Matrix, d_price: Matrix, d_free: Matrix) -> None:
        start = self.x
        while True:
            self.x = start + length * d_x
            try:
                self._measure()
                break
            except np.linalg.LinAlgError:
                length /= 2
                if length < 1e-9:
                    raise
        self.slack = self.slack + length * d_slack
        self.price = self.price + length * d_price
        self.free = self.free + length * d_free

    def dual(self) -> Dual:
        """The multipliers as a dual, what they miss of the inequality made good: it holds for every posterior."""
        m = self.moments
        multipliers, free = (self.price * self.row_unit)[:-1], self.free * self.equation_unit
        # What the multipliers leave of w^T M w, moment by moment. Every moment lies between 0 and 1.
        over = -(self.gradient + self.rows.T @ self.price + self.equations.T @ self.free) / self.unit
        missed = float(np.maximum(over, 0.0).sum())
        price = m.of_prior.T @ multipliers + m.equations_of_prior.T @ free + m.constants @ multipliers + missed
        price -= self.aim.constant  # what the added constant takes of every posterior's inequality
        scale = float(self.slope.max() + np.abs(price).max())
        return self.aim.dual(self.inverse, price + 1e-13 * scale * m.n, float(self.price[-1] * self.row_unit[-1]))


def _longest(slack: Matrix, d_slack: Matrix, price: Matrix, d_price: Matrix) -> float:
    """The longest step, at most one, that keeps slacks and prices from falling below zero."""
    shrinking = max(float((-d_slack / slack).max()), float((-d_price / price).max()))
    return min(1.0, 1 / shrinking) if shrinking > 0 else 1.0
