"""A study: who earns more, by a regression whose outcome is disguised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.regression import regress
from tacit.regression.result import Regression
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, Marks, Text, WrittenTable

FORMULA = "income ~ sex + age"
RICH = ">50K"


def study(data: DemoData) -> Chapter:
    """Odds ratios from reports, beside those from the truth."""
    result = regress(data.reports.to_arrow(), FORMULA, scheme=data.scheme, yes=RICH)
    clear = regress(data.truth.to_arrow(), FORMULA, devices={"income": "warner p=1"}, yes=RICH)
    terms = _in_order([coefficient.term for coefficient in result.coefficients], data)
    truth = np.array([clear[term].estimate for term in terms])
    coefficients = [result[term] for term in terms]
    worse = float(
        np.median([coefficient.standard_error / clear[coefficient.term].standard_error for coefficient in coefficients])
    )
    men = result["sex[T.Male]"]
    inside = sum(
        coefficient.low <= value <= coefficient.high for coefficient, value in zip(coefficients, truth, strict=True)
    )
    return Chapter(
        "A study: who earns more?",
        (
            Text(
                f"Who earns more than 50K, by sex and age? A logistic regression is fitted to the disguised reports; nobody's "
                f"true income is used. Men have {np.exp(men.estimate):.1f} times the odds of women of the same age "
                f"(95%: {np.exp(men.low):.1f} to {np.exp(men.high):.1f})."
            ),
            Marks.of(
                [_readable(term) for term in terms],
                [coefficient.estimate for coefficient in coefficients],
                [coefficient.low for coefficient in coefficients],
                [coefficient.high for coefficient in coefficients],
                truth,
                "Coefficients (logarithms of odds ratios) against women, and against people from 26 to 35.",
                form=".2f",
            ),
            WrittenTable(("term", "odds ratio", "95% interval", "p", "from the truth"), _rows(result, clear, terms)),
            Text(
                f"{inside} of the {len(terms)} intervals hold the value that the true records give; an interval of 95% misses "
                "one time in twenty. "
                f"The standard errors are about {worse:.1f} times those of asking directly: for the same precision the disguise "
                f"takes about {worse**2:.0f} times as many respondents.",
                "note",
            ),
        ),
    )


def _in_order(terms: Sequence[str], data: DemoData) -> list[str]:
    """The terms, answers in the order of their questions: a model takes them by the alphabet."""
    ordered = [f"{attribute.name}[T.{answer}]" for attribute in data.scheme.schema for answer in attribute.answers]
    return sorted(set(terms) - {"Intercept"}, key=ordered.index)


def _readable(term: str) -> str:
    name, _, level = term.partition("[T.")
    return f"{name} {level.removesuffix(']')}" if level else name


def _rows(result: Regression, clear: Regression, terms: list[str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for term in terms:
        coefficient = result[term]
        interval = f"{np.exp(coefficient.low):.2f} to {np.exp(coefficient.high):.2f}"
        rows.append(
            (
                _readable(term),
                f"{np.exp(coefficient.estimate):.2f}",
                interval,
                _p(coefficient.p),
                f"{np.exp(clear[term].estimate):.2f}",
            )
        )
    return rows


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"
