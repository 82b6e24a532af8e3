"""What a respondent's page must not take on trust, checked from outside: shape, programs, modes, caps, texts.

The page makes the same checks before its first question (static/checks.js and static/whole.js); the tests hold the two
against each other. Everything is worked out from the programs that the definition carries, never from what it says of
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.channel.extremes import amplification
from tacit.errors import InvalidInput
from tacit.measures.amplification import amplification_together
from tacit.survey.block_figures import AskedBlock, asked_blocks, made_sure
from tacit.survey.definition_questions import Document, versions_of
from tacit.survey.objections import Objection, asked_objections, objection, shape_objections
from tacit.survey.series import GAMMA_CAP, series_cap, split_gamma, waves_of

# The same caps are written in static/checks.js.
POSTERIOR_CAP = 0.95
WHOLE_CAP = 1e12
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Examination:
    """Every objection to a definition, and what its reports tell: one list of blocks for each that may be dealt."""

    objections: tuple[Objection, ...]
    deals: tuple[tuple[AskedBlock, ...], ...]
    second: float = 1.0  # amplification of the one bit of a second round, where one is announced

    @property
    def gamma(self) -> float:
        """Amplification of all answers together."""
        return max((_together(blocks) for blocks in self.deals), default=1.0)

    @property
    def label(self) -> dict[str, Any]:
        """What a definition states of itself: how sure of each answer, and the amplification of all together."""
        sure: dict[str, float] = {}
        for block in (block for blocks in self.deals for block in blocks):
            for name, worst in block.worst.items():
                sure[name] = max(sure.get(name, 0.0), worst)
        return {"answers": sure, "gamma": self.gamma if math.isfinite(self.gamma) else None}

    @property
    def bounded_gamma(self) -> float:
        """Amplification of the blocks that have a finite one; the others are said by themselves."""
        finite = ([block for block in blocks if math.isfinite(block.gamma)] for blocks in self.deals)
        return max(map(_together, finite), default=1.0)


def _together(blocks: Sequence[AskedBlock]) -> float:
    return amplification_together([block.situations for block in blocks])


def examine(document: Document) -> Examination:
    """Everything a page checks before it asks; a definition without objections is one that it would ask."""
    shape = list(shape_objections(document))
    if shape:
        return Examination(tuple(shape), ())
    try:
        deals = tuple(tuple(asked_blocks(document, deal)) for deal in range(len(versions_of(document))))
        second = second_round_gamma(document)
    except InvalidInput as error:
        return Examination((objection("program", (), f"The instructions for the disguise do not hold: {error}"),), ())
    objections = [
        *asked_objections(document),
        *_label_objections(document, Examination((), deals)),
        *_cap_objections(document, Examination((), deals, second)),
    ]
    return Examination(tuple(dict.fromkeys(objections)), deals, second)


def second_round_gamma(document: Document) -> float:
    """Amplification of the one bit of a second round, which at worst speaks of the same answer; 1 where none is announced."""
    return float(amplification(document.get("second_program"), [2])) if document["second_round"] else 1.0


# What everything that is sent tells.


def _label_objections(document: Document, examination: Examination) -> Iterator[Objection]:
    """A definition may state its label; it is then the one that follows from its programs."""
    stated, computed = document.get("label"), examination.label
    if stated is None:
        return
    names = list(computed["answers"])
    same = set(stated["answers"]) == set(names) and all(
        _is_same(stated["answers"][name], computed["answers"][name]) for name in names
    )
    if not (same and _is_same(stated["gamma"], computed["gamma"])):
        yield objection("label", (), "The label that the definition states is not what its programs do.")


def _is_same(stated: float | None, computed: float | None) -> bool:
    if stated is None or computed is None:
        return stated is computed
    return math.isclose(stated, computed, rel_tol=ROUNDING)


def _cap_objections(document: Document, examination: Examination) -> Iterator[Objection]:
    second, waves, series = examination.second, waves_of(document), series_cap(document)
    over = f" over {waves} waves" if waves > 1 else ""
    for block in (block for blocks in examination.deals for block in blocks):
        names, gamma, sure = block.names, block.gamma * second, made_sure(max(block.worst.values()), second)
        listed = ", ".join(names)
        if sure > POSTERIOR_CAP + ROUNDING:
            yield objection(
                "unprotected",
                names,
                f"Whoever sees a report could be {sure:.1%} sure of an answer of {listed}; at most {POSTERIOR_CAP:.0%} is "
                "allowed. Choose a channel that disguises more.",
            )
        if document.get("allow_unbounded"):
            continue
        if math.isinf(gamma):
            yield objection(
                "unbounded",
                names,
                f"Reports of {listed} rule some answers out, and the definition does not say allow_unbounded.",
            )
        elif gamma > GAMMA_CAP * (1 + ROUNDING):
            yield objection(
                "amplified",
                names,
                f"Reports of {listed} can change the odds of a guess {_count(gamma)} times; at most {GAMMA_CAP:g} is allowed. "
                "Choose a channel that disguises more, or deal fewer of these questions to each respondent.",
            )
        elif gamma**waves > series * (1 + waves * ROUNDING):
            yield objection(
                "amplified",
                names,
                f"Reports of {listed} can change the odds of a guess {_count(gamma**waves)} times{over}; at most {series:g} is "
                f"allowed. Allow the series more (series_gamma: {math.ceil(gamma**waves)}), or each wave at most "
                f"{split_gamma(series, waves):g} (leave `privacy` out and state series_gamma: {series:g}).",
            )
    together = (examination.bounded_gamma * second) ** waves
    if together > WHOLE_CAP * (1 + ROUNDING):
        yield objection(
            "exceeds",
            (),
            f"All answers together can change the odds of a guess {_count(together)} times{over}; at most "
            f"{WHOLE_CAP:,.0f} is allowed. Ask fewer questions, or deal each respondent some of them.",
        )


def _count(number: float) -> str:
    return f"{number:.4g}" if number < 1000 else f"{number:,.0f}"
