"""A scheme from a privacy demand: which channel each group needs so that the whole record is as private as asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.channel import flip, gamma_diagonal
from tacit.channel.scheme import Scheme
from tacit.design.alternatives import SchemeAlternative, better_alternatives, offer
from tacit.display import Shown
from tacit.errors import InvalidInput
from tacit.measures.amplification import gamma_between
from tacit.measures.prior import with_prior
from tacit.measures.scheme import SchemeMeasures, measure
from tacit.schema import Schema
from tacit.table import Table, inferred_table
from tacit.table.coded import tells_rows_apart

Groups = tuple[tuple[str, ...], ...]

# Chances are multiples of 2**-32, too coarse to tell bounds beyond this apart; and they hide nothing.
LARGEST_DEMAND = 1e9


@dataclass(frozen=True, eq=False, repr=False)
class SchemeDesign(Shown):
    """A designed scheme with what it protects and what it costs."""

    plotted = SchemeMeasures.plotted

    scheme: Scheme
    demand: str  # what was asked, in words
    measures: SchemeMeasures
    alternatives: tuple[SchemeAlternative, ...] = ()  # what does better at the same usefulness

    def headline(self) -> str:
        return self.demand

    def shown_rows(self) -> list[dict[str, Any]]:
        return self.measures.shown_rows()

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.measures.warnings, *offer(self.alternatives, self.measures))

    def to_document(self) -> dict[str, Any]:
        return {
            "demand": self.demand,
            "scheme": self.scheme.to_document(),
            **self.measures.to_document(),
            "alternatives": [other.to_document() for other in self.alternatives],
            "warnings": list(self.warnings),
        }


def design_scheme(
    schema: Schema | Any,
    groups: Sequence[Sequence[str]] | None = None,
    public: Sequence[str] = (),
    *,
    theta: float | None = None,
    gamma: float | None = None,
    epsilon: float | None = None,
    rho1: float | None = None,
    rho2: float | None = None,
    per_group: bool = False,
    prior: Any = None,
    respondents: int | None = None,
) -> SchemeDesign:
    """The scheme that meets one demand: `theta`, `gamma`, `epsilon`, or `rho1` with `rho2`.

    `theta` flips each group of yes/no attributes. The others bound the amplification of the whole private record: g
    groups get gamma-diagonal channels of amplification ``gamma ** (1 / g)`` each; with `per_group` each group gets all
    of gamma, and the record gamma to the g. Without `groups` every attribute that is not public is its own group.

    Parameters
    ----------
    schema : Schema, Dataset or data frame
        What is asked; a table of truths is the prior too. The answers of a data frame are those that occur in it.
    groups : sequence of name lists, optional
        Attributes that are disguised together.
    public : sequence of str
        Attributes that are reported as they are.
    theta, gamma, epsilon : float, optional
        The demand: chance of the truth for flips, largest amplification, or its logarithm.
    rho1, rho2 : float, optional
        Together: a property of prior `rho1` never gets a posterior above `rho2`.
    per_group : bool
        Whether each group may use all of the amplification.
    prior : table of truths or mapping, optional
        The distribution that measures assume.
    respondents : int, optional
        People the errors are for.

    Returns
    -------
    SchemeDesign

    Raises
    ------
    InvalidInput
        Where not exactly one demand is given, or it cannot be met.

    Examples
    --------
    >>> from tacit import Attribute, Schema
    >>> schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in ("smokes", "drinks")))
    >>> design = design_scheme(schema, rho1=0.05, rho2=0.50)
    >>> round(design.measures.gamma, 3), round(design.measures.groups[0].gamma, 3)
    (19.0, 4.359)
    """
    named = [*([public] if isinstance(public, str) else public), *(name for group in groups or () for name in group)]
    schema, prior = _schema_and_prior(schema, prior, named)
    parts = checked_groups(schema, groups, public)
    bound = demanded_gamma(theta=theta, gamma=gamma, epsilon=epsilon, rho1=rho1, rho2=rho2)
    if theta is not None:
        scheme, demand = _flip_scheme(schema, parts, theta), f"theta = {theta:g} for each group"
    else:
        scheme = _within(schema, parts, bound, per_group=per_group)
        demand = _bound_in_words(scheme, bound, per_group=per_group)
    scheme = with_prior(scheme, prior)
    better = better_alternatives(scheme, prior, respondents)
    return SchemeDesign(scheme, demand, measure(scheme, prior, respondents), better)


def _schema_and_prior(schema: Schema | Any, prior: Any, named: Sequence[str]) -> tuple[Schema, Any]:
    """The schema, and what the measures assume: a table of truths tells both."""
    if isinstance(schema, Schema):
        return schema, prior
    truths = schema if isinstance(getattr(schema, "schema", None), Schema) else inferred_table(schema)
    _refuse_identifiers(truths, named)
    return truths.schema, truths if prior is None else prior


def _refuse_identifiers(truths: Any, named: Sequence[str]) -> None:
    """Refuse an id among the truths, unless the user named it: its channel would take a share of the demand for nothing."""
    table = getattr(truths, "table", truths)
    if not isinstance(table, Table):
        return
    apart = [name for name in table.schema.names if name not in named and tells_rows_apart(table, name)]
    if apart:
        raise InvalidInput(
            f"In {', '.join(map(repr, apart))} nearly every row has a value of its own, so there is no share to estimate. Leave "
            f"it out: frame.drop(columns={apart}). To keep it all the same, name it in groups or public."
        )


def _bound_in_words(scheme: Scheme, bound: float, *, per_group: bool) -> str:
    reached = [group.channel.amplification for group in scheme.groups]
    whole, groups = math.prod(reached), f"{len(reached)} groups"
    if len(reached) == 1:
        return f"amplification at most {bound:.6g} for the whole private record"
    if per_group:
        return f"amplification at most {bound:.6g} for each of {groups}, {whole:.4g} for the whole private record"
    return f"amplification at most {bound:.6g} for the whole private record, {max(reached):.4g} for each of {groups}"


def checked_groups(schema: Schema, groups: Sequence[Sequence[str]] | None, public: Sequence[str]) -> Groups:
    """The groups to disguise: as given, else each attribute that is not public on its own."""
    public_names = [schema[name].name for name in ((public,) if isinstance(public, str) else public)]
    if groups is None:
        parts: Groups = tuple((name,) for name in schema.names if name not in public_names)
    else:
        parts = tuple(tuple(schema[name].name for name in group) for group in groups if group)
    grouped = [name for names in parts for name in names]
    if not grouped:
        raise InvalidInput("Every attribute is public, so there is nothing to disguise. Leave at least one private.")
    both = [name for name in grouped if name in public_names]
    if both:
        raise InvalidInput(f"{both[0]!r} is both in a group and public. Decide for one of them.")
    # An attribute that slips through unnamed would go out undisguised: a risk to privacy is an error.
    forgotten = [name for name in schema.names if name not in grouped and name not in public_names]
    if forgotten:
        raise InvalidInput(
            f"{forgotten[0]!r} is neither in a group nor public. Put it in a group, or state that it is public."
        )
    return parts


def demanded_gamma(
    *,
    theta: float | None,
    gamma: float | None,
    epsilon: float | None,
    rho1: float | None,
    rho2: float | None,
) -> float:
    """The amplification that one demand allows; a theta bounds none."""
    if (rho1 is None) != (rho2 is None):
        raise InvalidInput("rho1, how sure anyone may be before, and rho2, how sure after, go together: give both.")
    given = {"theta": theta, "gamma": gamma, "epsilon": epsilon, "rho1 and rho2": rho1}
    stated = [name for name, value in given.items() if value is not None]
    if len(stated) != 1:
        instead = f"not {' and '.join(stated)}" if stated else "none was given"
        raise InvalidInput(f"State one demand: theta, gamma, epsilon, or rho1 with rho2; {instead}.")
    if theta is not None:
        return math.inf
    if rho1 is not None and rho2 is not None:
        return _checked_bound(gamma_between(rho1, rho2), f"rho1 = {rho1:g} with rho2 = {rho2:g}")
    if epsilon is not None:
        return _checked_bound(math.exp(min(epsilon, 700)), f"epsilon = {epsilon:g}")
    return _checked_bound(float(gamma or 0), f"gamma = {gamma}")


def _checked_bound(gamma: float, demand: str) -> float:
    if not 1 < gamma <= LARGEST_DEMAND:
        raise InvalidInput(
            f"{demand} cannot be designed for: the amplification must lie above 1, where reports say nothing, and at most "
            f"at {LARGEST_DEMAND:g}, where they hide nothing (epsilon from 0 to {math.log(LARGEST_DEMAND):.1f})."
        )
    return gamma


def _flip_scheme(schema: Schema, parts: Groups, theta: float) -> Scheme:
    for name in (name for group in parts for name in group):
        if schema[name].size != 2:
            raise InvalidInput(
                f"theta flips yes and no, but {name!r} has {schema[name].size} answers. Demand a gamma, an epsilon or "
                "rho1 with rho2 instead, or make it public."
            )
    if theta == 0.5:
        raise InvalidInput(
            "With theta = 1/2 a record cannot be told from its opposite, so nothing could be estimated. Choose another, or "
            "an unrelated question, which works at any chance above 0: --device unrelated-question --parameters p=0.5,y=0.5."
        )
    return Scheme.from_groups(schema, [(group, flip(theta)) for group in parts])


def _within(schema: Schema, parts: Groups, bound: float, *, per_group: bool) -> Scheme:
    """Gamma-diagonal groups, each within `bound`, or all of them together."""
    share = bound if per_group else bound ** (1 / len(parts))
    while True:
        scheme = Scheme.from_groups(schema, [(names, gamma_diagonal(share)) for names in parts])
        reached = [group.channel.amplification for group in scheme.groups]
        if (max(reached) if per_group else math.prod(reached)) <= bound:
            return scheme
        share = math.nextafter(share, 1.0)  # the product of rounded roots may exceed the bound by a last digit
