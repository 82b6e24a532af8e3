"""Channels chosen: the best one for a wanted privacy, by search and exactly.

design_front     a privacy/error front by any method, asked for in groups (Bounds, FrontPreferences, SearchEffort)
optimal_front    OptRR's search (and the classic families) as a privacy/error front
exact_front      the least error any channel can have, with its proof
advise           ways to disguise one question, side by side
choose_point     one channel of a front, by what its user needs
safe_front       the least error of a channel that keeps its bound for a set of priors
robustness       what a channel is worth where the prior was wrong

A scheme for many questions and the number of respondents have modules of their own: `tacit.design_scheme` and `tacit.plan`.
"""

from tacit.design.advice import Advice, advise
from tacit.design.choose import choose_point, read_front, recipe_of
from tacit.design.exact import exact_front
from tacit.design.front import Front, FrontPoint
from tacit.design.optimal import design_front, optimal_front
from tacit.design.priors import named_prior
from tacit.design.problem import closeness
from tacit.design.safe import safe_front
from tacit.design.settings import Bounds, FrontPreferences, SearchEffort
from tacit.design.wrong_prior import Robustness, robustness

__all__ = [
    "Advice",
    "Bounds",
    "Front",
    "FrontPoint",
    "FrontPreferences",
    "Robustness",
    "SearchEffort",
    "advise",
    "choose_point",
    "closeness",
    "design_front",
    "exact_front",
    "named_prior",
    "optimal_front",
    "read_front",
    "recipe_of",
    "robustness",
    "safe_front",
]
