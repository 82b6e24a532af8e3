"""Where a small fault can be put into a module, and the module's text with it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
OPERATIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.MatMult: ("@", "*"),
}
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any", "argmin": "argmax", "argmax": "argmin"}


@dataclass(frozen=True, order=True)
class Function:
    """The innermost function around a place, with the line where it begins; line 0 is what runs on import."""

    name: str
    line: int


NO_FUNCTION = Function("", 0)


@dataclass(frozen=True, order=True)
class Site:
    """One fault: what stands at a place of a file, and what is put there instead."""

    file: str
    line: int
    start: int  # bytes from the beginning of the file
    end: int
    new: str
    what: str
    function: Function = NO_FUNCTION

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.new.encode() + source[self.end :]

    def shown(self, source: bytes) -> str:
        """For people, with the number of the line."""
        return f"{self.file}:{self.line}: {self._change(source)}"

    def identity(self, source: bytes) -> str:
        """The same fault after the lines of the file have moved."""
        return f"{self.file}: {self.function.name}: {self._change(source)}"

    def _change(self, source: bytes) -> str:
        begin = source.rfind(b"\n", 0, self.start) + 1
        line = source[begin:].split(b"\n", 1)[0].decode()
        column = len(source[begin : self.start].decode().lstrip())
        old = " ".join(source[self.start : self.end].decode().split())
        return f"{line.strip()!r}: {self.what} at {column}: {old!r} -> {self.new!r}"


def sites_of(file: Path, name: str) -> list[Site]:
    """Every fault that is put into a file one at a time."""
    source = file.read_bytes()
    return sorted(set(_Finder(name, source).all_sites()))


class _Finder:
    def __init__(self, name: str, source: bytes) -> None:
        self._name = name
        self._source = source
        self._tree = ast.parse(source)
        self._function = NO_FUNCTION
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def all_sites(self) -> Iterator[Site]:
        for statement in self._tree.body:
            yield from self._within(statement)

    def _within(self, node: ast.AST) -> Iterator[Site]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from self._defined(node)
            return
        if isinstance(node, ast.ClassDef):
            outer, self._function = self._function, Function(self._inner_name(node.name), self._function.line)
            yield from self._children(node.body)
            self._function = outer
            return
        if isinstance(node, ast.Raise):
            # What a message says is not looked into, only that something is refused.
            yield self._replaced(node, "pass", "refusal dropped")
            return
        yield from self._here(node)
        yield from self._children(_evaluated_children(node))

    def _children(self, nodes: Iterable[ast.AST]) -> Iterator[Site]:
        for node in nodes:
            yield from self._within(node)

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[Site]:
        # Defaults are evaluated where the function is made.
        yield from self._children(_evaluated_children(node.args))
        begin = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        outer = self._function
        self._function = Function(self._inner_name(getattr(node, "name", "lambda")), begin)
        yield from self._children([node.body] if isinstance(node, ast.Lambda) else node.body)
        self._function = outer

    def _inner_name(self, name: str) -> str:
        return f"{self._function.name}.{name}".lstrip(".")

    def _here(self, node: ast.AST) -> Iterator[Site]:
        if isinstance(node, ast.Compare):
            yield from self._compared(node)
        elif isinstance(node, ast.BinOp) and not _is_text(node):
            yield from self._between(node.left, node.right, *OPERATIONS[type(node.op)], "operation")
        elif isinstance(node, ast.BoolOp):
            words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from self._between(node.values[0], node.values[1], *words, "connective")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield self._replaced(node, self._text(node.operand), "sign or negation dropped")
        elif isinstance(node, ast.If | ast.While | ast.IfExp) and not _reversed_already(node.test):
            yield self._replaced(node.test, f"(not ({self._text(node.test)}))", "condition reversed")
        elif isinstance(node, ast.Constant):
            yield from self._constant(node)
        elif isinstance(node, ast.Call):
            yield from self._called(node.func)
        elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            yield self._replaced(node, "pass", "statement dropped")

    def _compared(self, node: ast.Compare) -> Iterator[Site]:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            yield from self._between(left, right, *COMPARISONS[type(operator)], "comparison")
            left = right

    def _constant(self, node: ast.Constant) -> Iterator[Site]:
        if isinstance(node.value, bool):
            yield self._replaced(node, str(not node.value), "constant")
        elif isinstance(node.value, int):
            yield self._replaced(node, str(node.value + 1), "constant")
        elif isinstance(node.value, float):
            yield self._replaced(node, str(1.5 * node.value or 1.0), "constant")

    def _called(self, function: ast.expr) -> Iterator[Site]:
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name == "sorted":
            yield self._replaced(function, "list", "order dropped")
        elif name in OPPOSITES:
            end = self._end(function)
            yield self._site(function.lineno, end - len(name), end, OPPOSITES[name], "opposite")

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str, what: str) -> Iterator[Site]:
        first, last = self._end(left), self._start(right)
        at = self._source.find(old.encode(), first, last)
        if at >= 0:
            yield self._site(left.end_lineno or left.lineno, at, at + len(old), new, what)

    def _replaced(self, node: ast.expr | ast.stmt, new: str, what: str) -> Site:
        return self._site(node.lineno, self._start(node), self._end(node), new, what)

    def _site(self, line: int, start: int, end: int, new: str, what: str) -> Site:
        return Site(self._name, line, start, end, new, what, self._function)

    def _text(self, node: ast.expr) -> str:
        return self._source[self._start(node) : self._end(node)].decode()

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset


def _reversed_already(test: ast.expr) -> bool:
    """Whether another fault at the same place reverses the condition: a fault that is counted twice weighs double."""
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and not isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str | bytes) for side in sides
    )


def _evaluated_children(node: ast.AST) -> Iterator[ast.AST]:
    """What is run of a node: no annotations, no decorators, and nothing that only the type checker reads."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    skipped = {"annotation", "returns", "decorator_list", "bases"}
    for field, value in ast.iter_fields(node):
        if field in skipped:
            continue
        for child in value if isinstance(value, list) else [value]:
            # Texts are read by people; tests hold them where they matter.
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield child
