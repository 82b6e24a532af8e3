"""From a group and some of its reports to their law."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.channel.codes import Codes
from tacit.channel.scheme import Group
from tacit.errors import InvalidInput
from tacit.joint.laws import DenseLaw, LawTerm, ReportLaw
from tacit.joint.products import ProductLaw

# Joint answers of one group that are weighed one by one, where its law is not a sum of products.
MOST_TRUTHS = 1 << 13
# One attribute's distinct reports by its answers are written out up to this; products with it are fast.
SMALL_MATRIX = 1 << 18


def group_law(group: Group, columns: Sequence[Codes]) -> ReportLaw:
    """The law of these reports of a group; one attribute alone is always a small matrix."""
    shape = tuple(attribute.size for attribute in group.attributes)
    is_small = len(shape) == 1 and len(columns[0]) * shape[0] <= SMALL_MATRIX
    terms = None if is_small else group.channel.chance_terms(columns)
    if terms is not None:
        return ProductLaw(shape, [LawTerm(term.scale, term.factors) for term in terms])
    if len(shape) > 1 and math.prod(shape) > MOST_TRUTHS:
        raise InvalidInput(
            f"A model of whole records weighs every joint answer of {', '.join(group.names)}, disguised together; they have "
            f"{math.prod(shape):,} of them, more than {MOST_TRUTHS:,}. Leave some of them out, or use smaller groups."
        )
    return DenseLaw(shape, group.channel.chances(columns))


def told_law(size: int, codes: Codes) -> ReportLaw:
    """The law of answers that are reported as they are."""
    if len(codes) * size <= SMALL_MATRIX:
        return DenseLaw((size,), np.eye(size)[codes])
    return ProductLaw((size,), [LawTerm(np.ones(len(codes)), (codes.astype(np.int64),))])
