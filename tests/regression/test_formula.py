"""A formula is data: names of columns, operators and a list of functions; whatever else it holds is refused unread."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import InvalidInput, UnknownName
from tacit.regression.formula import FUNCTIONS, design_matrix, read_formula

DEVICE = {"r": "forced-response truth=2/3,yes=1/6"}
OPENS = "np.memmap('opened', mode='w+', shape=(1,))"  # writes a file, with nothing but the numpy that is in reach
ATTACKS = (
    "I(x + (np.testing.runstring(\"import pathlib; pathlib.Path('opened').touch()\", {}) or 0))",
    f"{{x + {OPENS}[0]}}",
    f"I(x if {OPENS}[0] == 0 else x)",
    f"I(x + [{OPENS}][0][0])",
    f"I(x + {OPENS}.sum())",
    f"log(x, where={OPENS}[0] == 0)",
    f"C(town, contr.treatment(base=[{OPENS}, 'a'][1]))",
    f"C(town, levels=[{OPENS}, 'a', 'b', 'c'][1:])",
    f"`x` + {{x * 2 ** {OPENS}[0] + log(x)}}",
    f"scale(x, ddof=1 + {OPENS}[0])",
    f"center(x, _state={{'center': {OPENS}[0], 'scale': None, 'ddof': 1}})",
    f"poly(x, *[2 + {OPENS}[0]])",
    f"I(x + abs({OPENS}[0]))",
    f"I((lambda: {OPENS}[0] + x)())",
    f"I([np.log(x) for np.e in [{OPENS}]][0])",
    f"I(x + (np.e := {OPENS})[0])",
    f"C(town, levels=['a', 'b', 'c', f'{{{OPENS}}}'])",
    "I(x + 0 * x.__class__.__init__.__globals__['__builtins__']['open']('opened', 'w').fileno())",
    "I(x + __import__('numpy').memmap('opened', mode='w+', shape=(1,))[0])",
)


def people(n: int = 400, seed: int = 5) -> pd.DataFrame:
    g = np.random.default_rng(seed)
    return pd.DataFrame({"r": g.integers(0, 2, n), "x": g.uniform(1, 90, n), "town": g.choice(list("abc"), n)})


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_formula_runs_what_it_says(attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput):
        tacit.regress(people(), f"r ~ {attack}", devices=DEVICE)
    assert not (tmp_path / "opened").exists()


def test_a_text_of_categories_is_never_read_as_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two readers that see different ends of one text: what the first takes for text, the second would run."""
    monkeypatch.chdir(tmp_path)
    text = r"d\x5d\x29 + \x7bx + np.memmap(\x22opened\x22, mode=\x22w+\x22, shape=(1,))\x5b0\x5d\x7d + C(town, levels=\x5b\x27a"
    formula = read_formula(f"r ~ C(town, levels=['a', 'b', 'c', '{text}'])")
    assert formula.names == ("town",)
    assert not set(formula.code) & set("'\"{}.\\")
    assert "d]) + {x + np.memmap" in formula.context["text_3_"]
    with pytest.raises(InvalidInput, match="not independent"):  # a level that nobody has
        tacit.regress(people(), f"r ~ C(town, levels=['a', 'b', 'c', '{text}'])", devices=DEVICE)
    assert not (tmp_path / "opened").exists()


def test_nothing_but_columns_and_functions_is_in_reach() -> None:
    frame = people()
    frame["np"] = frame["x"] + 7  # a column whose name formulaic gives to a module
    frame["id"], frame["log"] = frame["x"], frame["x"] ** 2
    fit = tacit.regress(frame, "r ~ log(np) + log(log) + id", devices=DEVICE)
    twin = tacit.regress(frame, "r ~ log(x + 7) + log(x * x) + x", devices=DEVICE)
    assert fit.terms == ("Intercept", "log(np)", "log(log)", "id")
    np.testing.assert_allclose(fit.predict()[0].estimate, twin.predict()[0].estimate, atol=1e-6)


@pytest.mark.parametrize(
    ("right", "message"),
    [
        ("sum(x)", r"`sum` is no function of a formula. There is: log, .*C, .*poly, bs, .*Anything else: add a column"),
        ("np.cumsum(x)", "`np.cumsum` is no function of a formula"),
        ("np.linalg.log(x)", "`np.linalg.log` is no function"),
        ("x.real", "'x.real' has a dot. Write the name of a column with dots in backticks: `x.real`"),
        ("I(x.real)", "'x.real' has a dot"),
        ("I(x[0])", r"`x\[0\]` is no name"),
        ("x[0]", r"`x\[0\]` is no name"),
        ("I(lambda: x)", "`lambda: x` is no name"),
        ("I([y for y in x])", "is no name"),
        ("I(x if 1 else x)", "is no name"),
        ("I((y := x))", "is no name"),
        ("I(not x)", "is no name"),
        ("I(1 < x < 2)", "is no name"),
        ("I(x @ x)", "is no name"),
        ("I(x + 2j)", "is no name"),
        ("I(town == 'a')", r"the text 'a' may stand only inside C\(...\)"),
        ("'a' + x", r"the text 'a' may stand only inside C\(...\)"),
        ("I([1, 2])", r"the list `\[1, 2\]` may stand only inside C\(...\)"),
        ("bs(x, knots=[1, 2])", "bs(...) has no argument knots. It has: df, degree"),
        ("bs(x, extrapolation='clip')", "has no argument extrapolation"),
        ("scale(x, _state=1)", "has no argument _state"),
        ("log(x, out=x)", "log(...) has no argument out. It has none."),
        ("poly(x, **x)", r"has no argument \*\*"),
        ("poly(x, *x)", "is no name"),
        ("poly()", "names no column"),
        ("poly(x, 1000000)", "would make 1,000,000 columns; at most 100"),
        ("C(town, Treatment(nonsense='a'))", "Treatment(...) has no argument nonsense. It has: reference"),
        ("C(town, contr.custom)", "`contr.custom` is no name"),
        ("C(town, x)", "`x` is no name"),
        ("I(9 ** 9 ** 9)", "holds no column. Write it as one number"),
        ("(x + town) ** 1000000", "the power 1000000 of terms is too high; at most 10"),
        ("x | town", "is no name, number or operator of a formula"),
        ("x ~ town", "is no name, number or operator of a formula"),
        (".", "is no name, number or operator of a formula"),
        ("[x]", "is no name, number or operator of a formula"),
        ("x +", "cannot be read"),
        ("I(" + "-" * 100_000 + "x)", "is no function of columns"),
        ("I(" + "(" * 1_000 + "x" + ")" * 1_000 + ")", "is no function of columns"),
        ("r + x", "'r' stands on both sides"),
    ],
)
def test_anything_else_is_refused_with_what_there_is(right: str, message: str) -> None:
    plain = message.replace("(...)", r"\(...\)") if r"\(" not in message else message
    with pytest.raises(InvalidInput, match=plain):
        read_formula(f"r ~ {right}")


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("np.log(x)", "log(x)"),
        ("numpy.sqrt(`x`)", "sqrt(x)"),
        ("np.absolute(x - 40)", "abs(x - 40)"),
        ("{x / 10}", "I(x / 10)"),
        ("I((x/10)^2)", "I((x / 10) ** 2)"),
        ("C(town, contr.treatment(base='b'))", "C(town, Treatment('b'))"),
        ("C(town, contr.sum)", "C(town, Sum())"),
    ],
)
def test_other_ways_to_write_it(written: str, same: str) -> None:
    fits = [tacit.regress(people(), f"r ~ {right}", devices=DEVICE) for right in (written, same)]
    np.testing.assert_array_equal(fits[0].estimates, fits[1].estimates)


def test_categories_and_comparisons() -> None:
    frame = people()
    fit = tacit.regress(frame, "r ~ C(town, levels=['c', 'a', 'b']) + I((x > 30) & (x <= 60))", devices=DEVICE)
    assert fit.terms == (
        "Intercept",
        "C(town, levels=['c', 'a', 'b'])[T.a]",
        "C(town, levels=['c', 'a', 'b'])[T.b]",
        "I((x > 30) & (x <= 60))",
    )


LEARNERS = ("poly(x, 3)", "bs(x, df=5)", "cr(x, df=4)", "scale(x)", "center(x)", "standardize(x)", "cc(x, df=4)")


@pytest.mark.parametrize("learner", LEARNERS)
def test_functions_that_learn_work_and_predict_with_what_they_learned(learner: str) -> None:
    frame = people()
    fit = tacit.regress(frame, f"r ~ {learner} + town", devices=DEVICE)
    some = frame.iloc[[7, 3, 200]]
    np.testing.assert_allclose(fit.predict(some)[0].estimate, fit.predict()[0].estimate[[7, 3, 200]], rtol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS)
def test_people_who_are_alike_count_as_often_as_they_are(learner: str) -> None:
    """Those alike share a row of the fit; a mean or a knot is still that of all people."""
    frame = people(6_000)
    frame["x"] = np.random.default_rng(3).choice(np.arange(20.0, 90.0, 5.0), 6_000, p=np.arange(14, 0, -1) / 105)
    together = tacit.regress(frame, f"r ~ {learner}", devices=DEVICE)
    assert together.people is not None
    listed = tacit.regress(frame.assign(one=1.0), f"r ~ {learner}", devices=DEVICE, weights="one")
    assert listed.people is None
    np.testing.assert_allclose(together.estimates, listed.estimates, rtol=1e-5, atol=1e-6)


def test_what_is_learned_beside_a_disguised_covariate_is_that_of_the_people() -> None:
    frame = people(3_000)
    frame["y"] = 2 + frame["x"] / 10 + np.random.default_rng(1).normal(size=len(frame))
    scaled = tacit.regress(frame, "y ~ scale(x) + r", devices=DEVICE)
    assert scaled["scale(x)"].estimate == pytest.approx(
        frame["x"].std() * tacit.regress(frame, "y ~ x + r", devices=DEVICE)["x"].estimate, rel=1e-9
    )


def test_a_prediction_names_the_column_that_is_missing() -> None:
    fit = tacit.regress(people(), "r ~ scale(x)", devices=DEVICE)
    with pytest.raises(UnknownName, match="Column 'x' does not exist"):
        fit.predict(people()[["town"]])


def test_a_spline_says_where_it_was_not_learned() -> None:
    fit = tacit.regress(people(), "r ~ bs(x, df=5)", devices=DEVICE)
    with pytest.raises(InvalidInput, match="cannot be made from 'bs"):
        fit.predict({"x": [1000.0]})


def test_every_function_of_the_list_works() -> None:
    frame = people()
    for name in FUNCTIONS:
        second = (
            ", 2"
            if name in ("poly", "power", "minimum", "maximum")
            else ", df=4"
            if name in ("bs", "cr", "cs", "cc")
            else ""
        )
        formula = read_formula(f"r ~ {name}({'town' if name == 'C' else 'x'}{second})")
        design = design_matrix(formula, frame, intercept=True)
        assert np.isfinite(design.values).all(), name
        np.testing.assert_allclose(design.rows(frame.iloc[:5]), design.values[:5], rtol=1e-9, atol=1e-12)
