"""Mutants: small changes of single places of a module that make another program."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PAIRS = "Lt LtE, Gt GtE, Eq NotEq, In NotIn, Is IsNot, Add Sub, Mult Div, And Or"
OTHER = {ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult}
for _pair in _PAIRS.split(", "):
    _one, _two = (getattr(ast, name) for name in _pair.split())
    OTHER |= {_one: _two, _two: _one}
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
# types, messages and patterns; Python 3.11 does not report positions within f-strings
LEFT_OUT = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.pattern)
FIELDS_LEFT_OUT = {"annotation", "returns", "decorator_list", "type_params"}


@dataclass(frozen=True)
class Mutant:
    """A change of a module: bytes `start` to `end` become `after`; `line` to `last` are the statement's lines."""

    module: str
    source: str
    line: int
    last: int
    kind: str
    start: int
    end: int
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants_of(checkout: Path, module: str) -> Iterator[Mutant]:
    """Yield all mutants of a module, always in the same order."""
    source = (checkout / module).read_bytes()
    digest = hashlib.sha256(source).hexdigest()[:16]
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    for node, lines, kind, after in _changes(ast.parse(source), (1, 1)):
        start = offsets[node.lineno - 1] + node.col_offset
        end = offsets[node.end_lineno - 1] + node.end_col_offset
        before = source[start:end].decode()
        yield Mutant(module, digest, *lines, kind, start, end, before, after)


def _changes(node: ast.AST, lines: tuple[int, int]) -> Iterator[tuple]:
    """Yield the changes of a node and all below it: node to replace, lines of its statement, kind and new text."""
    if isinstance(node, ast.stmt):
        # of statements with a body: the lines before it
        body = getattr(node, "body", None)
        lines = (node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno)
    for place, kind, new in _changes_of(node):
        text = ast.unparse(ast.fix_missing_locations(new))
        yield place, lines, kind, f"({text})" if isinstance(place, ast.expr) else text
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            left_out = name in FIELDS_LEFT_OUT or isinstance(child, LEFT_OUT)
            if isinstance(child, ast.AST) and not left_out and not _is_a_check(child):
                yield from _changes(child, lines)


def _is_a_check(node: ast.AST) -> bool:
    """Return whether only a program with a bug, or a type checker, would notice a change of the node."""
    is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    return is_for_types or (isinstance(node, ast.keyword) and node.arg == "strict")


def _changes_of(node: ast.AST) -> Iterator[tuple[ast.AST, str, ast.AST]]:
    match node:
        case ast.Compare(left, [op, *ops], others) if type(op) in OTHER:
            yield node, "comparison", ast.Compare(left, [OTHER[type(op)](), *ops], others)
        case ast.BinOp(left, op, right) if type(op) in OTHER and not _has_text(left, right):
            yield node, "arithmetic", ast.BinOp(left, OTHER[type(op)](), right)
        case ast.AugAssign(target, op, value) if type(op) in OTHER and not _has_text(value):
            yield node, "arithmetic", ast.AugAssign(target, OTHER[type(op)](), value)
        case ast.BoolOp(op, values):
            yield node, "and, or", ast.BoolOp(OTHER[type(op)](), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield node, "sign", operand
        case ast.Constant(bool() as value):
            yield node, "constant", ast.Constant(not value)
        case ast.Constant(int() as value):
            yield node, "constant", ast.Constant(value + 1)
        case ast.Constant(float() as value):
            yield node, "constant", ast.Constant(2 * value or 1.0)
        case ast.If(test) | ast.IfExp(test) | ast.comprehension(ifs=[test, *_]) if (
            not _has_opposite(test)
        ):
            yield test, "condition", ast.UnaryOp(ast.Not(), test)
        case ast.Call(ast.Name(name), arguments, keywords) if name in SWAPPED:
            kept = [] if name == "sorted" else keywords
            yield node, "function", ast.Call(ast.Name(SWAPPED[name]), arguments, kept)
        case ast.Expr(ast.Call()):
            yield node, "call left out", ast.Pass()


def _has_opposite(test: ast.expr) -> bool:
    """Return whether another change of the test already negates it."""
    match test:
        case ast.UnaryOp(ast.Not()):
            return True
        case ast.Compare(
            _, [ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn() | ast.Is() | ast.IsNot()]
        ):
            return True
    return False


def _has_text(*nodes: ast.AST) -> bool:
    return any(
        isinstance(n, ast.JoinedStr)
        or (isinstance(n, ast.Constant) and isinstance(n.value, str | bytes))
        for n in nodes
    )
