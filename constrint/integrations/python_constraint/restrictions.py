"""Constraints in Python's syntax, from strings (parsed, never evaluated) or traced from functions.

`and` and `or` short-circuit in Python, so `b == 0 or a % b == 0` allows b = 0. Each part is therefore a pair:
whether it holds, and whether it is defined. Divisors that may be 0 are replaced by 1 where they are 0.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from constrint.diagrams import python_text
from constrint.diagrams.conditionals import TooManyCases, chosen_outside, pairs
from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr, IntVar
from constrint.expr.functions import abs_, all_of, any_of, if_then_else, max_, min_

_FUNCTIONS: dict[str, Callable[..., IntExpr]] = {"abs": abs_, "min": min_, "max": max_}
_COMPARE: dict[type[ast.cmpop], Callable[[IntExpr, IntExpr], BoolExpr]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}
TRUE = all_of([])


@dataclass(frozen=True)
class Part:
    """A condition that may be undefined for some values."""

    holds: BoolExpr
    defined: BoolExpr = TRUE


def names_in(text: str) -> list[str]:
    """The names in a restriction in order of appearance; raises `ModelError` if it is not valid Python."""
    names = [node.id for node in ast.walk(parsed(text)) if isinstance(node, ast.Name)]
    return [name for name in dict.fromkeys(names) if name not in _FUNCTIONS]


def condition_of(text: str, variables: Mapping[str, IntExpr]) -> BoolExpr:
    """The condition that a restriction states over these variables; it is false where it is undefined."""
    part = read(parsed(text), variables, text)
    return part.holds if part.defined is TRUE else part.defined & part.holds


def read(tree: ast.expr, variables: Mapping[str, IntExpr], text: str) -> Part:
    """The condition of a syntax tree; raises `ModelError` if it has no counterpart in integer expressions."""
    try:
        return _RestrictionReader(text, variables).condition(chosen_outside(tree, ()))
    except TooManyCases:
        raise ModelError(
            f"the constraint {text!r} has too many choices inside comparisons: give it as a function"
        ) from None


def parsed(text: str) -> ast.expr:
    """The syntax tree of an expression; raises `ModelError` if it is not valid Python."""
    return python_text.parsed(
        text, f"the constraint {python_text.shortened(text)} is not a Python expression"
    )


@dataclass
class _RestrictionReader:
    text: str
    variables: Mapping[str, IntExpr]

    def condition(self, node: ast.expr) -> Part:
        if isinstance(node, ast.BoolOp):
            parts = [self.condition(value) for value in node.values]
            joined = parts[0]
            for part in parts[1:]:
                joined = _joined(joined, part, isinstance(node.op, ast.And))
            return joined
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return self.condition(ast.BoolOp(ast.And(), list(pairs(node))))
        if isinstance(node, ast.IfExp):
            test, body, other = (self.condition(part) for part in (node.test, node.body, node.orelse))
            return Part(
                (test.holds & body.holds) | (~test.holds & other.holds),
                _both(test.defined, _either(~test.holds, body.defined), _either(test.holds, other.defined)),
            )
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            part = self.condition(node.operand)
            return Part(~part.holds, part.defined)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            return self._bits(node)
        guards: list[BoolExpr] = []
        if isinstance(node, ast.Compare):
            holds = self._compare(node, guards)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            holds = TRUE if node.value else any_of([])
        else:
            holds = self.number(node, guards) != 0
        return Part(holds, _both(*guards))

    def _bits(self, node: ast.BinOp) -> Part:
        """`&` and `|`: of conditions, without short-circuit; of numbers, bitwise."""
        if not (_is_condition(node.left) and _is_condition(node.right)):
            raise self._refused(node)
        left, right = self.condition(node.left), self.condition(node.right)
        is_and = isinstance(node.op, ast.BitAnd)
        holds = left.holds & right.holds if is_and else left.holds | right.holds
        return Part(holds, _both(left.defined, right.defined))

    def _compare(self, node: ast.Compare, guards: list[BoolExpr]) -> BoolExpr:
        operator, left, right = node.ops[0], node.left, node.comparators[0]
        if isinstance(operator, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
            value = self.number(left, guards)
            test = any_of([value == self.number(item, guards) for item in right.elts])
            return test if isinstance(operator, ast.In) else ~test
        if type(operator) not in _COMPARE:
            raise self._refused(node)
        return _COMPARE[type(operator)](self.number(left, guards), self.number(right, guards))

    def number(self, node: ast.expr, guards: list[BoolExpr]) -> IntExpr:
        """An integer expression; the conditions under which it is defined are appended to the guards."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return Const(int(node.value))
        if isinstance(node, ast.Name):
            if node.id not in self.variables:
                close = get_close_matches(node.id, self.variables, 1)
                hint = f"; did you mean '{close[0]}'?" if close else ""
                raise ModelError(f"the constraint {self.text!r}: no variable is named '{node.id}'{hint}")
            return self.variables[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            value = self.number(node.operand, guards)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp):
            return self._binary(node, guards)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            function = _FUNCTIONS.get(node.func.id)
            if function is not None:
                return function(*(self.number(argument, guards) for argument in node.args))
        if _is_condition(node):
            part = self.condition(node)
            if part.defined is not TRUE:
                guards.append(part.defined)
            return 1 * part.holds
        raise self._refused(node)

    def _binary(self, node: ast.BinOp, guards: list[BoolExpr]) -> IntExpr:
        left, right = self.number(node.left, guards), self.number(node.right, guards)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Pow):
            if not _is_never(right, lambda value: value < 0):
                raise self._refused(node, "; exponents below 0 give fractions")
            return left**right
        if isinstance(node.op, ast.FloorDiv | ast.Mod):
            if not _is_never(right, lambda value: value == 0):
                guards.append(right != 0)
                right = if_then_else(right == 0, 1, right)
            return left // right if isinstance(node.op, ast.FloorDiv) else left % right
        raise self._refused(node)

    def _refused(self, node: ast.expr, hint: str = "") -> ModelError:
        if not hint and any(isinstance(part, ast.Div) for part in ast.walk(node)):
            hint = "; write // or %, or multiply out"
        return ModelError(
            f"the constraint {self.text!r}: {ast.unparse(node)} is not supported{hint}. "
            "A function of the values can say anything"
        )


def _is_condition(node: ast.expr) -> bool:
    """Whether an expression is always True or False."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        return _is_condition(node.left) and _is_condition(node.right)
    if isinstance(node, ast.BoolOp):
        return all(map(_is_condition, node.values))
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _is_never(expr: IntExpr, test: Callable[[int], bool]) -> bool:
    """Whether no value of a constant or variable passes a test; False for other expressions."""
    if isinstance(expr, Const):
        return not test(expr.value)
    return isinstance(expr, IntVar) and not any(map(test, expr.domain))


def _both(*conditions: BoolExpr) -> BoolExpr:
    """The conjunction of the conditions, most of which are `TRUE`."""
    needed = [one for one in conditions if one is not TRUE]
    return all_of(needed) if needed else TRUE


def _either(skipped: BoolExpr, defined: BoolExpr) -> BoolExpr:
    return TRUE if defined is TRUE else skipped | defined


def _joined(left: Part, right: Part, is_and: bool) -> Part:
    holds = left.holds & right.holds if is_and else left.holds | right.holds
    # The right side is evaluated only if the left side does not decide.
    skipped = ~left.holds if is_and else left.holds
    return Part(holds, _both(left.defined, _either(skipped, right.defined)))
