"""The methods: from a publication to the best release each can find, and what is known about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.publish.achievement import Preference
from tacit.publish.cells import recodings_worth, refine
from tacit.publish.every import search_every
from tacit.publish.every_diversity import kept_diverse
from tacit.publish.lattice import prove_levels
from tacit.publish.local import LocalClasses, cutting_orders, recode_locally, trim_classes
from tacit.publish.local_bound import least_local_loss
from tacit.publish.local_persons import recode_persons_locally
from tacit.publish.problem import NECD, NWP, SMALLEST, SUPPRESSED, Bits, Problem
from tacit.publish.proof import Proof, provable, prove, refuse_unprovable
from tacit.publish.publication import Publication
from tacit.publish.recoding import Recoding
from tacit.publish.search import SearchOutcome, first_pass, nondominated, search
from tacit.publish.watch import Watch

PROOF_SECONDS = {"search": 30.0, "exact": 300.0, "local": 10.0, "microaggregate": 10.0}  # of the processor
LARGE_TABLE, LARGE_PROOF_SECONDS = 40_000, 80.0  # combinations from which on "exact" gets less: few proofs end there
CUTS_OF_A_ROUND = 100  # evaluations that a round of ruin and recreate is taken for, where every m attributes are hidden
PERSON_FACTOR = 8  # combinations that count like one entry of a person, in what a front costs
MOST_TRIED = 2_000  # generalizations that are counted person by person until one keeps its promise


@dataclass(frozen=True)
class Alternative:
    """One release that no other of its method beats in loss, bias and effective k at once, and what makes it again."""

    method: str
    nwp: float
    necd: float
    effective_k: int
    suppressed: int
    suppress: float  # share of rows that could be suppressed
    cuts: str | None = None  # hexadecimal: a bit for every possible cut; None where the method alone says it
    hidden_cells: int = 0
    left_out: str = "rows"  # what the share of suppression is of: rows, cells (single ones too), or persons
    k: int | None = None  # that local recoding was asked for, where it is another one than the publisher's

    @property
    def way(self) -> str:
        """The method in words, with what it may leave out."""
        words = in_words(self.method, self.suppress, self.left_out)
        return words if self.k is None else f"{words}, for k = {self.k}"


LEFT_OUT = {"rows": "rows suppressed", "cells": "cells hidden", "persons": "persons without some rows"}


def what_is_left_out(publication: Publication, method: str) -> str:
    """What the share of suppression is counted in."""
    if publication.persons is not None:
        return "persons"
    return "cells" if method == "search" and publication.hides_cells else "rows"


def in_words(method: str, suppress: float, left_out: str) -> str:
    """A method and what it may leave out."""
    return f"{method}, up to {suppress:.0%} of the {LEFT_OUT[left_out]}" if suppress else method


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method found."""

    method: str
    recoding: Recoding
    nwp: float
    necd: float
    front: tuple[Alternative, ...]
    lower_bound: float | None
    evaluations: int
    interrupted: str | None  # what Ctrl-C stopped
    cuts: str | None  # of a global recoding
    classes: NDArray[np.int32] | None  # of a local one
    suppress: float  # share of rows that could be suppressed


@dataclass(frozen=True, eq=False)
class FoundWay:
    """What a method found, without the labels of every combination: these are as large as the table, and soon made again."""

    publication: Publication
    method: str
    cuts: str | None
    classes: NDArray[np.int32] | None
    front: tuple[Alternative, ...]
    lower_bound: float | None
    evaluations: int
    interrupted: str | None

    @classmethod
    def of(cls, publication: Publication, answer: Answer) -> FoundWay:
        return cls(
            publication, answer.method, answer.cuts, answer.classes, answer.front, answer.lower_bound, answer.evaluations,
            answer.interrupted,
        )  # fmt: skip

    def answer(self) -> Answer:
        """The answer as it was found."""
        if self.classes is not None:
            made = of_classes(self.publication, self.method, self.classes)
        else:
            made = of_cuts(self.publication, self.method, self.cuts or "")
        return replace(
            made,
            front=self.front,
            lower_bound=self.lower_bound,
            evaluations=self.evaluations,
            interrupted=self.interrupted,
        )


def find(publication: Publication, method: str, watch: Watch | None = None, *, with_proof: bool = True) -> Answer:
    """The answer of one method."""
    watch = watch or Watch()
    suppresses = publication.problem.demand.limit > 0  # then "exact" searches, and says that nothing is proven
    if method == "exact" and not suppresses and not _has_levels_alone(publication.problem):
        refuse_unprovable(publication.problem)  # before the search, which takes longest
    if method in ("local", "microaggregate"):
        answer = _locally(publication, method, watch)
    elif publication.problem.every is not None:
        answer = _every(publication, method, watch)
    else:
        answer = _globally(publication, method, watch)
    if answer.interrupted is not None:
        return answer if watch.left else replace(answer, interrupted=f"{answer.interrupted} by time")
    return proven(publication, answer, watch) if with_proof else answer


@dataclass(frozen=True, eq=False)
class FirstPass:
    """What global recoding reaches with every cut tried once, in a fraction of a second."""

    answer: Answer
    is_release: bool  # False where it looked at the sizes of classes alone and more is asked of them


def first_pass_of(publication: Publication) -> FirstPass | None:
    """The first pass of the search: at least as good as what may be published, for only sizes are asked of its classes.

    None where the table has too many combinations to look at them once for every cut.
    """
    problem = publication.problem
    bits = first_pass(problem)
    if bits is None:
        return None
    nothing = np.zeros(1, np.int64)
    alone = problem.demand._replace(first_sensitive=nothing, ordered=nothing[:0], people=-1, limit=0)
    answer = of_cuts(replace(publication, problem=replace(problem, demand=alone)), "exact", written_cuts(bits))
    is_release = (
        publication.persons is None and not problem.demand.first_sensitive[-1] and not answer.recoding.suppressed
    )
    front = _with_own(publication, replace(answer, method="search"), ()) if is_release else ()
    return FirstPass(replace(answer, method="search", front=front), is_release)


def trim(publication: Publication, local: Answer) -> Answer | None:
    """Local recoding without the edges of classes, as many rows as may be suppressed; None where none are."""
    if publication.persons is not None or local.classes is None:
        return None
    trimmed = of_classes(publication, local.method, trim_classes(publication.problem, local.classes))
    return replace(trimmed, front=_local_front(publication, trimmed)) if trimmed.recoding.suppressed else None


def proven(publication: Publication, answer: Answer, watch: Watch) -> Answer:
    """The answer of a method, followed by the proof that is asked for, or that the time left allows."""
    if answer.nwp < 1e-12 and not publication.problem.demand.limit:
        return replace(answer, lower_bound=0.0)
    if not _proof_seconds(publication, answer.method, watch):
        return answer
    if publication.problem.every is not None:
        return answer
    if answer.classes is not None or (answer.method == "search" and publication.hides_cells):
        # With hidden cells a release may lose less than whole rows have to; what local recoding must lose still holds.
        return replace(answer, lower_bound=_local_bound(publication, answer, watch))
    bits = read_cuts(answer.cuts or "", publication.problem.n_bits)
    proof = None if publication.persons is not None else _proof(publication, answer.method, bits, watch)
    if proof is None:
        return answer
    if answer.method == "exact" or _achieves_more(publication.problem, publication.preference, proof.bits, bits):
        better = of_cuts(publication, answer.method, written_cuts(proof.bits))
        front = _with_own(publication, better, answer.front)
        answer = replace(better, front=front, evaluations=answer.evaluations)
    # The loss is summed in another order than the bound, so rounding may put it a hair below.
    bound = min(proof.lower_bound, answer.nwp)
    return replace(answer, lower_bound=bound, interrupted=None if proof.complete or not watch.left else "proof")


def answer_of(publication: Publication, alternative: Alternative) -> tuple[Publication, Answer]:
    """What an alternative publishes, made again: from its cuts, or by local recoding, which draws nothing."""
    posed = publication.with_suppression(alternative.suppress)
    if alternative.cuts is not None:
        return posed, of_cuts(posed, alternative.method, alternative.cuts)
    posed = posed if alternative.k is None else posed.with_k(alternative.k)
    return posed, find(posed, alternative.method, with_proof=False)


def wider_alternatives(publication: Publication) -> tuple[Alternative, ...]:
    """Local recoding for two and four times the k; none where so many rows or persons cannot be asked for."""
    wider: list[Alternative] = []
    if publication.problem.every is not None:
        return ()
    for k in (2 * publication.settings.protection.k, 4 * publication.settings.protection.k):
        posed = publication.with_k(k)
        if 2 * posed.problem.k > posed.problem.rows:
            break
        (entry,) = find(posed, "local", with_proof=False).front
        wider.append(replace(entry, k=k))
    return tuple(wider)


def written_cuts(bits: Bits) -> str:
    return np.packbits(bits).tobytes().hex()


def read_cuts(text: str, n_bits: int) -> Bits:
    packed = np.frombuffer(bytes.fromhex(text), np.uint8)
    if len(packed) != -(-n_bits // 8):
        raise InvalidInput(
            f"The cuts of the private manifest do not fit this table: {len(packed)} bytes, where {n_bits} possible cuts "
            f"take {-(-n_bits // 8)}. Give the table that was published, unchanged, and its own manifest."
        )
    return np.unpackbits(packed, count=n_bits)


def of_cuts(publication: Publication, method: str, cuts: str) -> Answer:
    """The answer that known cuts make; nothing is searched."""
    # The proof is about whole rows, so what it finds hides no cells.
    recoding = publication.global_recoding(read_cuts(cuts, publication.problem.n_bits), cells=method == "search")
    nwp, necd = publication.loss_and_bias(recoding)
    return Answer(method, recoding, nwp, necd, (), None, 0, None, cuts, None, _suppress(publication))


def of_classes(publication: Publication, method: str, classes: NDArray[np.int32]) -> Answer:
    """The answer that known classes of combinations make."""
    recoding = publication.local_recoding(classes, method)
    nwp, necd = publication.loss_and_bias(recoding)
    return Answer(method, recoding, nwp, necd, (), None, 0, None, None, classes, _suppress(publication))


def _suppress(publication: Publication) -> float:
    return publication.settings.protection.suppress


def _every(publication: Publication, method: str, watch: Watch) -> Answer:
    """The answer for k over every m of the quasi-identifiers; nothing is proven of it unless nothing is lost."""
    effort = publication.settings.effort
    rng, rounds = np.random.default_rng(effort.seed), effort.evolution.evaluations // CUTS_OF_A_ROUND
    searched = search_every(publication.problem, rng, rounds, watch)
    asked = publication.settings.protection.asks_diversity
    bits = kept_diverse(publication.problem, searched.bits) if asked else searched.bits
    answer = of_cuts(publication, method, written_cuts(bits))
    smallest = min(int(sizes.min()) for sizes in publication.class_sizes(answer.recoding))
    entry = Alternative(method, answer.nwp, answer.necd, smallest, 0, 0.0, answer.cuts)
    return replace(
        answer,
        front=(entry,),
        evaluations=searched.rounds * CUTS_OF_A_ROUND,
        interrupted=None if searched.complete else "search",
        lower_bound=0.0 if answer.nwp < 1e-12 else None,
    )


def _globally(publication: Publication, method: str, watch: Watch) -> Answer:
    effort = publication.settings.effort
    # Without a proof to follow, "exact" searches for the least loss whatever the bias.
    alone = method == "exact" and publication.problem.demand.limit > 0
    preference = Preference(loss=0.0) if alone else publication.preference
    searched = search(publication.problem, preference, effort.evolution, np.random.default_rng(effort.seed), watch)
    best = _first_kept(publication, searched)
    if method == "search" and publication.hides_cells and searched.complete:
        best = refine(best, publication.problem, lambda bits: _loss_with_cells(publication, bits))
    made = of_cuts(publication, method, written_cuts(best))
    return replace(
        made,
        front=_with_own(publication, made, tuple(_alternatives(publication, method, searched))),
        evaluations=searched.evaluations,
        interrupted=None if searched.complete else "search",
    )


def _with_own(publication: Publication, answer: Answer, front: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    """The front with what the method would write, which may have been refined or counted after the search."""
    if answer.cuts in [entry.cuts for entry in front]:
        return front
    recoding, left_out = answer.recoding, what_is_left_out(publication, answer.method)
    smallest = min(int(sizes.min()) for sizes in publication.class_sizes(recoding))
    own = Alternative(
        answer.method, answer.nwp, answer.necd, smallest, recoding.suppressed, answer.suppress, answer.cuts,
        recoding.hidden_cells, left_out,
    )  # fmt: skip
    entries = (own, *front)
    measures = np.array([(entry.nwp, entry.necd, -entry.effective_k) for entry in entries])
    return tuple(entries[i] for i in nondominated(*measures.T))


def _loss_with_cells(publication: Publication, bits: Bits) -> float:
    """The loss where cells are hidden in place of rows; infinite where more cells would go than the allowed rows have."""
    recoding, attributes = publication.global_recoding(bits, cells=True), len(publication.problem.weights)
    limit = publication.problem.demand.limit
    if recoding.suppressed * attributes + recoding.hidden_cells > limit * attributes:
        return math.inf
    return float(recoding.losses() @ publication.problem.weights)


def _first_kept(publication: Publication, outcome: SearchOutcome) -> Bits:
    """The best generalization of the search that keeps its promise when persons are counted one by one."""
    n_bits = publication.problem.n_bits
    if publication.persons is None:
        return outcome.chromosome(0, n_bits)
    for solution in range(min(MOST_TRIED, len(outcome.bits))):
        bits = outcome.chromosome(solution, n_bits)
        if publication.keeps_its_promise(publication.global_recoding(bits)):
            return bits
    raise InvalidInput(
        f"None of the {min(MOST_TRIED, len(outcome.bits)):,} best generalizations keeps l, t or the people of the "
        "population when persons with several rows are counted once. Ask for a smaller l or k_map, or a larger t, or use "
        "method 'local'."
    )


def _alternatives(publication: Publication, method: str, outcome: SearchOutcome) -> Iterator[Alternative]:
    """The front of a search; where rows are persons' or cells are hidden, each is recoded: then fewer of a large table."""
    n_bits, front = publication.problem.n_bits, outcome.front()
    measured = publication.persons is None and not (method == "search" and publication.hides_cells)
    if not measured:
        # Counting persons one by one takes several times as long as counting rows.
        persons = 0 if publication.persons is None else PERSON_FACTOR * len(publication.persons.counts)
        front = _spaced_front(front, recodings_worth(max(persons, len(publication.problem.tally.counts))))
    for i in front:
        bits, m = outcome.chromosome(i, n_bits), outcome.measures[i]
        if measured:
            figures, hidden = (float(m[NWP]), float(m[NECD]), int(m[SMALLEST]), int(m[SUPPRESSED])), 0
        else:
            recoding = publication.global_recoding(bits, cells=method == "search")
            if not publication.keeps_its_promise(recoding):
                continue
            smallest = min(int(sizes.min()) for sizes in publication.class_sizes(recoding))
            figures = (*publication.loss_and_bias(recoding), smallest, recoding.suppressed)
            hidden = recoding.hidden_cells
        left_out = what_is_left_out(publication, method)
        yield Alternative(method, *figures, _suppress(publication), written_cuts(bits), hidden, left_out)


def _spaced_front(front: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """At most so many entries of a front: its ends, and others evenly between them."""
    if len(front) <= most:
        return front
    return front[np.round(np.linspace(0, len(front) - 1, most)).astype(np.intp)]


def _proof_seconds(publication: Publication, method: str, watch: Watch) -> float:
    """What is left of a stated time; without one the usual seconds, where a proof is asked for, and none otherwise."""
    if watch.is_bounded:
        return watch.left
    if method == "exact" and len(publication.problem.tally.counts) > LARGE_TABLE:
        return LARGE_PROOF_SECONDS
    return PROOF_SECONDS[method] if method == "exact" or publication.settings.effort.asks_proof else 0.0


def _proof(publication: Publication, method: str, start: Bits, watch: Watch) -> Proof | None:
    """The proof, where there is one."""
    problem, effort = publication.problem, publication.settings.effort
    seconds = _proof_seconds(publication, method, watch)
    if _has_levels_alone(problem):
        return prove_levels(problem, start, seconds, effort.nodes)
    if provable(problem) is None:
        return prove(problem, start, seconds, watch, nodes=effort.nodes, within=effort.within or 0.0)
    return None


def _has_levels_alone(problem: Problem) -> bool:
    """Whether every attribute has a hierarchy and no row may be suppressed, so that combinations of levels are all there is."""
    leveled = problem.space.levels[0, problem.space.first_value[:-1]] >= 0
    return bool(leveled.all()) and problem.demand.limit == 0


def _local_bound(publication: Publication, answer: Answer, watch: Watch) -> float | None:
    """What every local recoding has to lose; rounding may put the loss itself a hair below."""
    seconds, nodes = _proof_seconds(publication, answer.method, watch), publication.settings.effort.nodes
    k = int(publication.settings.protection.k)
    bound = least_local_loss(publication.rows, publication.problem, k, seconds, nodes)
    return None if bound is None else min(bound, answer.nwp)


def _achieves_more(problem: Problem, preference: Preference, one: Bits, other: Bits) -> bool:
    measures = problem.measure(np.stack([one, other]))
    first, second = preference.achievement(measures[:, NWP], measures[:, NECD])
    return bool(first < second - 1e-12)


def _preferred_classes(publication: Publication, local: LocalClasses, method: str) -> LocalClasses:
    """Local classes of the size that meets the preference best.

    Where the bias falls short of it by more than the loss, classes of twice the size are tried, while that helps.
    """
    problem, preference = publication.problem, publication.preference

    def shortfalls(classes: NDArray[np.int32]) -> tuple[float, float]:
        loss, bias = publication.loss_and_bias(publication.local_recoding(classes, method))
        return preference.share_of_loss * loss, (1 - preference.share_of_loss) * bias

    loss, bias = shortfalls(local.classes)
    k = 2 * problem.k
    while local.complete and bias > loss and 2 * k <= problem.rows:
        wider = recode_locally(replace(problem, demand=problem.demand._replace(k=k)))
        shorter = shortfalls(wider.classes)
        if max(shorter) >= max(loss, bias):
            break
        local, (loss, bias), k = wider, shorter, 2 * k
    return local


def _locally(publication: Publication, method: str, watch: Watch) -> Answer:
    problem, persons = publication.problem, publication.persons
    if persons is None:
        local = _preferred_classes(publication, recode_locally(problem, progress=watch), method)
    else:
        protection = publication.settings.protection
        orders = cutting_orders(problem) if (problem.space.levels >= 0).any() else ()
        local = recode_persons_locally(
            persons, publication.rows, problem.weights, protection, publication.population, watch, orders
        )
    answer = of_classes(publication, method, local.classes)
    if not publication.keeps_its_promise(answer.recoding):
        raise InvalidInput(
            "Local recoding does not keep l, t or the people of the population when persons with several rows are counted "
            "once. Ask for a smaller l or k_map, or a larger t, or use method 'search'."
        )
    front, interrupted = _local_front(publication, answer), None if local.complete else "recoding"
    return replace(answer, front=front, interrupted=interrupted)


def _local_front(publication: Publication, answer: Answer) -> tuple[Alternative]:
    """The only alternative of local recoding: what it found."""
    smallest = min(int(sizes.min()) for sizes in publication.class_sizes(answer.recoding))
    left_out = what_is_left_out(publication, answer.method)
    return (
        Alternative(
            answer.method, answer.nwp, answer.necd, smallest, answer.recoding.suppressed, answer.suppress,
            left_out=left_out,
        ),
    )  # fmt: skip
