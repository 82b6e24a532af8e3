"""What a formula may say, and the columns of the design that it stands for.

A formula is data: names of columns, operators and a list of functions. Formulaic would evaluate whatever Python it holds, so
every piece is read as a syntax tree first, and what formulaic gets is written anew from the pieces that are allowed: names,
numbers and operators. Texts and unusual names stand in it under plain names, so that no other reader can see another end of
them.
"""

from __future__ import annotations

import ast
import builtins
import functools
import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.extras import require

Array = NDArray[np.float64]

# Of numbers, value by value; numpy knows them under these names.
NUMERIC = (
    *("log", "log2", "log10", "log1p", "exp", "expm1", "exp2", "sqrt", "square", "power", "abs", "sign"),
    *("floor", "ceil", "minimum", "maximum", "sin", "cos", "tan", "arctan", "tanh"),
)
# These learn something from all rows (a mean, knots); the names are those of their arguments after the first.
LEARNING = {
    "center": (),
    "scale": ("center", "scale", "ddof"),
    "standardize": ("center", "rescale", "ddof"),
    "poly": ("degree", "raw"),
    "bs": ("df", "degree", "include_intercept", "lower_bound", "upper_bound"),
    "cr": ("df", "lower_bound", "upper_bound"),
    "cs": ("df", "lower_bound", "upper_bound"),
    "cc": ("df", "lower_bound", "upper_bound"),
}
# How C(...) may compare categories, by the names of patsy and by those of R.
CONTRASTS = {
    "Treatment": ("reference",),
    "Sum": (),
    "Helmert": ("reverse", "scale"),
    "Diff": ("backward",),
    "Poly": ("scores",),
}
R_CONTRASTS = {f"contr.{name.lower()}": name for name in CONTRASTS}
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(NUMERIC, ()),
    "I": (),
    "C": ("contrasts", "levels", "spans_intercept"),
    **LEARNING,
}
FUNCTIONS = tuple(ARGUMENTS)
MOST_COLUMNS = 100  # of one term: a polynomial's degree, a spline's degrees of freedom
MOST_POWER = 10  # of terms in brackets: (a + b + c) ** 3
MOST_LEARNED_FROM = 1 << 26  # rows that are laid out for a function that learns from all of them

_TEXT_OR_QUOTED = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]+)`""")
_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")
_OPERATORS = re.compile(r"[-+*/:^]+")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, eq=False)
class Formula:
    """An outcome and what it is regressed on."""

    outcome: str
    right: str  # as it was written
    names: tuple[str, ...]  # the variables on the right
    code: str  # the right side for formulaic, of plain names, numbers and operators alone
    columns: Mapping[str, str]  # the plain name of each variable that has another
    texts: Mapping[str, str]  # what plain names stand for texts of C(...)
    learns: bool  # whether a function learns something from all rows
    categories: frozenset[str] = frozenset()  # columns inside C(...), whatever they hold

    @functools.cached_property
    def context(self) -> dict[str, Any]:
        """All that is in reach where the formula is computed, besides the columns."""
        from formulaic.transforms import TRANSFORMS

        functions = {name: TRANSFORMS[name] for name in ("I", "C", *LEARNING, *CONTRASTS)}
        functions |= {name: _centre_spline(functions[name]) for name in ("cr", "cs", "cc")}
        return {name: getattr(np, name) for name in NUMERIC} | functions | dict(self.texts)

    def term(self, column: str) -> str:
        """The name of a column of the design, as the formula was written."""
        for name, plain in self.columns.items():
            column = column.replace(plain, name)
        for plain, text in self.texts.items():
            column = column.replace(plain, repr(text))
        return column


def _centre_spline(spline: Any) -> Any:
    """A cubic spline whose columns sum to 0, so that they can stand beside an intercept."""

    @functools.wraps(spline)
    def spline_without_mean(*arguments: Any, **keywords: Any) -> Any:
        return spline(*arguments, constraints="center", **keywords)

    return spline_without_mean


def read_formula(formula: str) -> Formula:
    """The two sides of a formula, refused where it holds anything but names, operators and the functions of the list.

    Parameters
    ----------
    formula : str
        Such as ``"smokes ~ age + C(town, levels=['a', 'b']) + log(income)"``.

    Returns
    -------
    Formula

    Raises
    ------
    InvalidInput
        Where it has no two sides or holds what no formula may hold; nothing of it has been evaluated then.
    """
    require("regress")
    if not isinstance(formula, str):
        kind = type(formula).__name__
        raise InvalidInput(f"regress takes the data, then a formula: regress(data, 'smokes ~ age + sex'), not {kind}.")
    names = _Names(formula)
    left, tilde, right = _TEXT_OR_QUOTED.sub(names.replace, formula).partition("~")
    if not tilde or not left.strip() or not right.strip():
        raise InvalidInput(f"A formula names an outcome and covariates, such as 'smokes ~ age + sex', not {formula!r}.")
    outcome = names.written.get(left.strip(), left.strip())
    reader = _Reader(names)
    code = " ".join(_pieces(right.strip(), reader))
    _check_structure(code, names)
    if outcome in names.used:
        raise InvalidInput(f"{outcome!r} stands on both sides of the formula. Leave it out on one side.")
    columns = {name: plain for name, plain in names.columns.items() if name != plain}
    written = right.strip()
    for name, plain in columns.items():
        written = written.replace(plain, f"`{name}`")
    used, categories = tuple(sorted(names.used)), frozenset(reader.categories)
    return Formula(outcome, written, used, code, columns, names.texts, reader.learns, categories)


class _Names:
    """Plain names for the columns and texts of one formula."""

    def __init__(self, formula: str) -> None:
        self.formula = formula
        self.columns: dict[str, str] = {}  # plain names by columns
        self.written: dict[str, str] = {}  # columns by plain names
        self.texts: dict[str, str] = {}  # texts by plain names
        self.used: set[str] = set()

    def replace(self, quoted: re.Match[str]) -> str:
        """The plain name of a column in backticks or of a text."""
        if quoted.group(2) is not None:
            return self._column(quoted.group(2))
        plain = self._new("text", len(self.texts))
        try:
            self.texts[plain] = ast.literal_eval(quoted.group(1))
        except SyntaxError:
            raise self.refusal(f"the text {quoted.group(1)} has no end in its line.") from None
        return f" {plain} "

    def use(self, name: str) -> str:
        """Remember that a column is used, by its own name or by a plain one, and return its plain name."""
        if name in self.texts:
            raise self.refusal(
                f"the text {self.texts[name]!r} may stand only inside C(...). Names of columns with spaces stand in backticks."
            )
        column = self.written.get(name, name)
        self.used.add(column)
        return self._column(column)

    def _column(self, name: str) -> str:
        if name not in self.columns:
            taken = name in ARGUMENTS or name in CONTRASTS or keyword.iskeyword(name) or hasattr(builtins, name)
            plain = name if _PLAIN.fullmatch(name) and not taken else self._new("column", len(self.columns))
            self.columns[name], self.written[plain] = plain, name
        return self.columns[name]

    def _new(self, kind: str, number: int) -> str:
        """A name that stands nowhere in the formula."""
        while (name := f"{kind}_{number}_") in self.formula:
            number += 1_000
        return name

    def refusal(self, why: str) -> InvalidInput:
        return InvalidInput(f"The formula {self.formula!r} cannot be read: {why}")


def _pieces(right: str, reader: _Reader) -> Iterator[str]:
    """The right side's pieces written anew: names, numbers, operators, brackets and calls."""
    from formulaic.errors import FormulaicError
    from formulaic.parser.algos.tokenize import tokenize

    names = reader.names
    try:
        tokens = list(tokenize(right))
    except FormulaicError as problem:
        raise names.refusal(str(problem).splitlines()[0]) from None
    for before, token in zip([None, *tokens], tokens, strict=False):
        text, kind = token.token, "" if token.kind is None else token.kind.value
        if kind == "name":
            yield _plain_name(text, names)
        elif kind == "python":
            yield reader.code(text)
        elif kind == "operator" and text == "in":
            yield "%in%"
        elif (kind == "context" and text in "()") or (kind == "operator" and _OPERATORS.fullmatch(text)):
            yield text
        elif kind == "value" and _NUMBER.fullmatch(text):
            if before is not None and before.token in ("**", "^") and float(text) > MOST_POWER:
                raise names.refusal(f"the power {text} of terms is too high; at most {MOST_POWER}.")
            yield text
        else:
            raise names.refusal(
                f"{text!r} is no name, number or operator of a formula (+ - * / : ** %in% and brackets)."
            )


def _plain_name(name: str, names: _Names) -> str:
    if "." in name:
        raise names.refusal(f"{name!r} has a dot. Write the name of a column with dots in backticks: `{name}`.")
    if not name.isidentifier():
        raise names.refusal(f"{name!r} is no name of a column. Write unusual names in backticks: `{name}`.")
    return names.use(name)


def _check_structure(code: str, names: _Names) -> None:
    """Refuse pieces that make no formula, such as an operator at the end."""
    from formulaic import Formula as Parsed
    from formulaic.errors import FormulaicError

    try:
        parsed = Parsed(code)
    except (FormulaicError, SyntaxError, RecursionError) as problem:
        raise names.refusal(str(problem).splitlines()[0]) from None
    if not hasattr(parsed, "__iter__"):
        raise names.refusal("it has more than two sides.")


_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class _Reader(ast.NodeTransformer):
    """Reads factors such as ``log(x)`` as syntax trees, with plain names; a node of a kind not named here is refused."""

    def __init__(self, names: _Names) -> None:
        self.names = names
        self.learns = False
        self.categories: set[str] = set()

    def code(self, factor: str) -> str:
        """The factor written anew. Where it is no call, it stands in braces, as formulaic wants it."""
        try:
            tree = ast.parse(factor.strip().replace("^", "**"), mode="eval").body
            code = ast.unparse(self.visit(tree))
        except (SyntaxError, RecursionError, MemoryError):
            raise self.names.refusal(f"{self.shorten(factor)} is no function of columns.") from None
        return code if isinstance(tree, ast.Call) else f"{{{code}}}"

    def shorten(self, code: ast.AST | str) -> str:
        """The beginning of a piece as it was written."""
        text = code.strip() if isinstance(code, str) else ast.unparse(code)
        for plain, written in (self.names.written | self.names.texts).items():
            text = text.replace(plain, written if plain in self.names.written else repr(written))
        return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"

    def generic_visit(self, node: ast.AST) -> Any:
        raise self.names.refusal(
            f"{self.shorten(node)} is no name, number, operator or function of a formula. Its functions: {', '.join(FUNCTIONS)}."
        )

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(self.names.use(node.id), ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        name = ast.unparse(node)
        if not all(part.isidentifier() for part in name.split(".")):
            return self.generic_visit(node)
        raise self.names.refusal(f"{name!r} has a dot. Write the name of a column with dots in backticks: `{name}`.")

    def visit_Constant(self, node: ast.Constant) -> Any:
        return self._value(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, (ast.UAdd, ast.USub)):
            return self.generic_visit(node)
        return ast.UnaryOp(node.op, self.visit(node.operand))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if not isinstance(node.op, _ARITHMETIC):
            return self.generic_visit(node)
        if isinstance(node.op, ast.Pow) and not any(isinstance(inner, ast.Name) for inner in ast.walk(node)):
            raise self.names.refusal(
                f"the power {self.shorten(node)} holds no column. Write it as one number, such as 1e6."
            )
        return ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) > 1 or not isinstance(node.ops[0], _COMPARISONS):
            return self.generic_visit(node)
        return ast.Compare(self.visit(node.left), node.ops, [self.visit(node.comparators[0])])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = _function_name(node.func)
        if name not in ARGUMENTS:
            raise self.names.refusal(
                f"{self.shorten(name)} is no function of a formula. There is: {', '.join(FUNCTIONS)}. Anything else: add a "
                "column to the data."
            )
        if not node.args:
            raise self.names.refusal(f"{self.shorten(node)} names no column.")
        self.learns |= name in LEARNING
        if name == "C" and isinstance(node.args[0], ast.Name):
            self.categories.add(self.names.written.get(node.args[0].id, node.args[0].id))
        first, *others = node.args
        values = [self._argument(name, None, value) for value in others]
        return ast.Call(ast.Name(name, ast.Load()), [self.visit(first), *values], self._keywords(name, node))

    def _keywords(self, function: str, call: ast.Call) -> list[ast.keyword]:
        allowed = ARGUMENTS.get(function) or CONTRASTS.get(function, ())
        for given in call.keywords:
            if given.arg not in allowed:
                there_is = f"It has: {', '.join(allowed)}." if allowed else "It has none."
                raise self.names.refusal(f"{function}(...) has no argument {given.arg or '**'}. {there_is}")
        return [ast.keyword(given.arg, self._argument(function, given.arg, given.value)) for given in call.keywords]

    def _argument(self, function: str, name: str | None, value: ast.expr) -> Any:
        """An argument after the first: columns for functions of numbers, texts and lists for categories, else a number."""
        if function in NUMERIC:
            return self.visit(value)
        if function == "C" and name in (None, "contrasts"):
            return self._contrasts(value)
        if function == "C" or function in CONTRASTS:
            return self._value(value, texts=True)
        number = ast.literal_eval(code := self._value(value))
        if name in (None, "df", "degree") and number > MOST_COLUMNS:
            raise self.names.refusal(f"{function}(...) would make {number:,} columns; at most {MOST_COLUMNS}.")
        return code

    def _contrasts(self, value: ast.expr) -> Any:
        """Contrasts of categories: ``Treatment('b')`` or ``Sum``; as R writes them, ``contr.treatment(base='b')``."""
        call = value if isinstance(value, ast.Call) else ast.Call(value, [], [])
        written = ast.unparse(call.func)
        name = R_CONTRASTS.get(written, written)
        if name not in CONTRASTS:
            return self._value(value, texts=True)
        for given in call.keywords:
            given.arg = "reference" if given.arg == "base" else given.arg
        values = [self._value(each, texts=True) for each in call.args]
        return ast.Call(ast.Name(name, ast.Load()), values, self._keywords(name, call))

    def _value(self, node: ast.expr, *, texts: bool = False) -> Any:
        """A number; with `texts` also a text, or a list of both."""
        sign = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        constant = node.operand if isinstance(node, ast.UnaryOp) and sign else node
        if isinstance(constant, ast.Constant) and type(constant.value) in (int, float, bool):
            return node
        if isinstance(node, ast.Name) and node.id in self.names.texts and texts:
            return node
        if isinstance(node, (ast.List, ast.Tuple)) and texts:
            return ast.List([self._value(item, texts=True) for item in node.elts], ast.Load())
        return self.generic_visit(node)

    def visit_List(self, node: ast.List) -> Any:
        raise self.names.refusal(f"the list {self.shorten(node)} may stand only inside C(...).")


def _function_name(func: ast.expr) -> str:
    """The name of a function; numpy's may have ``np.`` in front."""
    written = ast.unparse(func)
    name = written.removeprefix("np.").removeprefix("numpy.")
    name = {"absolute": "abs", "fabs": "abs"}.get(name, name)
    return written if name != written and name not in NUMERIC else name


@dataclass(frozen=True, eq=False)
class Design:
    """The columns of a formula's right side, and what makes the same columns of other people."""

    values: Array
    names: list[str]
    rows: Callable[[Any], Array]


def design_matrix(formula: Formula, frame: Any, *, intercept: bool, learned_from: Any = None) -> Design:
    """The design of the people in a data frame.

    Parameters
    ----------
    formula : Formula
        What is computed.
    frame : pandas.DataFrame
        A column for each of the formula's names.
    intercept : bool
        Whether the intercept stays among the columns.
    learned_from : pandas.DataFrame, optional
        The people whose mean, spread or knots the functions learn that need them; those of `frame` if not said.

    Returns
    -------
    Design
        Its ``rows`` makes the design of other people, with what was learned here.
    """
    spec: Any = formula.code
    if formula.learns and learned_from is not None:
        spec = _materialize(formula, spec, learned_from).model_spec
    matrix = _materialize(formula, spec, frame)
    names = [formula.term(str(name)) for name in matrix.columns]
    values = np.asarray(matrix, dtype=np.float64)
    _check_numbers(values, names)
    places = [at for at, name in enumerate(names) if intercept or name != "Intercept"]

    def rows(data: Any) -> Array:
        import pandas as pd

        others = data if isinstance(data, pd.DataFrame) else pd.DataFrame(data)
        for name in formula.names:
            if name not in others.columns:
                raise UnknownName("Column", name, [str(column) for column in others.columns])
        return np.asarray(_materialize(formula, matrix.model_spec, others), dtype=np.float64)[:, places]

    return Design(np.ascontiguousarray(values[:, places]), [names[at] for at in places], rows)


def repeat_rows(frame: Any, counts: Array) -> Any:
    """Every row as often as it counts: what functions learn from all people, where those alike share a row."""
    if (counts == 1).all():
        return frame
    if counts.sum() > MOST_LEARNED_FROM:
        raise InvalidInput(
            f"{counts.sum():,.0f} people are too many for functions that learn from all of them ({', '.join(LEARNING)}). Use "
            "I(...), such as I((age - 40) / 10), or bring the column to this form in the data."
        )
    return frame.take(np.repeat(np.arange(len(frame)), counts.astype(np.intp))).reset_index(drop=True)


def _materialize(formula: Formula, spec: Any, frame: Any) -> Any:
    """Formulaic's matrix, where nothing is in reach but the columns and the formula's functions."""
    from formulaic.errors import FormulaicError
    from formulaic.materializers import PandasMaterializer
    from formulaic.utils.layered_mapping import LayeredMapping

    table = frame.rename(columns=dict(formula.columns))[[formula.columns.get(name, name) for name in formula.names]]
    maker = PandasMaterializer(table)
    maker.layered_context = LayeredMapping(maker.data_context, formula.context)
    try:
        with np.errstate(all="ignore"):  # what is no number is refused by `_check_numbers`
            return maker.get_model_matrix(spec, na_action="ignore")
    except (FormulaicError, ValueError, KeyError, TypeError) as problem:
        why = formula.term(str(problem).splitlines()[0])
        raise InvalidInput(f"The covariates cannot be made from {formula.right!r}: {why}") from None


def _check_numbers(values: Array, names: Sequence[str]) -> None:
    """Refuse terms such as the logarithm of 0."""
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return
    term = int(np.argmax(wrong.any(axis=0)))
    raise InvalidInput(
        f"The term {names[term]!r} is not a number in {int(wrong[:, term].sum()):,} of {len(values):,} rows (a logarithm of 0, a "
        "division by 0). Change the term, or leave these rows out of the file."
    )
