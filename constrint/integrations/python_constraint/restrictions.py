"""Constraints in Python's syntax, from strings (parsed, never evaluated) or traced from functions.

`and` and `or` short-circuit in Python, so `b == 0 or a % b == 0` allows b = 0. Each part is therefore a pair:
whether it holds, and whether it is defined. Divisors that may be 0 are replaced by 1 where they are 0.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from constrint.diagrams import python_text
from constrint.diagrams.conditionals import TooManyCases, chosen_outside
from constrint.diagrams.python_conditions import COMPARE, ConditionReader, Refused
from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr, IntVar
from constrint.expr.conditions import BoolConst
from constrint.expr.functions import abs_, all_of, any_of, if_then_else, max_, min_

_FUNCTIONS: dict[str, Callable[..., IntExpr]] = {"abs": abs_, "min": min_, "max": max_}
_ARITHMETIC: dict[type[ast.operator], Callable[[object, object], IntExpr]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
TRUE = all_of([])


@dataclass(frozen=True)
class Part:
    """A number or condition, and the condition that it is defined."""

    value: IntExpr
    defined: BoolExpr = TRUE


def names_in(text: str) -> list[str]:
    """The names in a restriction in order of appearance; raises `ModelError` if it is not valid Python."""
    names = [node.id for node in ast.walk(parsed(text)) if isinstance(node, ast.Name)]
    return [name for name in dict.fromkeys(names) if name not in _FUNCTIONS]


def condition_of(text: str, variables: Mapping[str, IntExpr]) -> BoolExpr:
    """The condition that a restriction states over these variables; it is false where it is undefined."""
    holds, defined = read(parsed(text), variables, text)
    return holds if defined is TRUE else defined & holds


def read(tree: ast.expr, variables: Mapping[str, IntExpr], text: str) -> tuple[BoolExpr, BoolExpr]:
    """The condition of a syntax tree, and where it is defined.

    Raises:
        ModelError: It has no counterpart in integer expressions.
    """
    try:
        part = _ExpressionReader(variables).read(chosen_outside(tree, ()))
    except TooManyCases:
        raise ModelError(
            f"the constraint {text!r} has too many choices inside comparisons: give it as a function"
        ) from None
    except Refused as problem:
        raise ModelError(f"the constraint {text!r}: {problem}") from problem
    return _holds(part), part.defined


def parsed(text: str) -> ast.expr:
    """The syntax tree of an expression; raises `ModelError` if it is not valid Python."""
    return python_text.parsed(
        text, f"the constraint {python_text.shortened(text)} is not a Python expression"
    )


class _ExpressionReader(ConditionReader[Part]):
    """Syntax trees as integer expressions with the conditions under which they are defined."""

    def __init__(self, variables: Mapping[str, IntExpr]) -> None:
        self.variables = variables

    def refused(self, node: ast.AST, hint: str = "") -> Refused:
        if not hint and any(isinstance(part, ast.Div) for part in ast.walk(node)):
            hint = "; write // or %, or multiply out"
        return Refused(
            f"{ast.unparse(node)} is not supported{hint}. A function of the values can say anything"
        )

    def constant(self, value: bool | int | float) -> Part:
        if isinstance(value, float):
            raise self.refused(ast.Constant(value))
        return Part(Const(value) if not isinstance(value, bool) else all_of([]) if value else any_of([]))

    def named(self, name: str) -> Part:
        if name not in self.variables:
            close = get_close_matches(name, self.variables, 1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise Refused(f"no variable is named '{name}'{hint}")
        return Part(self.variables[name])

    def truth(self, value: Part) -> Part:
        return Part(_holds(value), value.defined)

    def is_condition(self, value: Part) -> bool:
        return isinstance(value.value, BoolExpr)

    def negation(self, condition: Part) -> Part:
        return Part(~_holds(condition), condition.defined)

    def junction(self, op: str, conditions: Sequence[Part], *, lazy: bool) -> Part:
        join = all_of if op == "and" else any_of
        holds = [_holds(part) for part in conditions]
        defined = []
        for i, part in enumerate(conditions):
            if part.defined is not TRUE:
                before = join(holds[:i])
                decided = ~before if op == "and" else before
                defined.append(decided | part.defined if lazy and i else part.defined)
        return Part(join(holds), _all(defined))

    def negative(self, value: Part) -> Part:
        return Part(-_number(value), value.defined)

    def arithmetic(self, node: ast.BinOp, left: Part, right: Part) -> Part:
        operation = _ARITHMETIC.get(type(node.op))
        dividend, divisor = _number(left), _number(right)
        defined = [left.defined, right.defined]
        if isinstance(node.op, ast.FloorDiv | ast.Mod) and not _is_never(divisor, lambda value: value == 0):
            defined.append(divisor != 0)
            divisor = if_then_else(divisor == 0, 1, divisor)
        if isinstance(node.op, ast.Pow) and not _is_never(divisor, lambda value: value < 0):
            raise self.refused(node, "; exponents below 0 give fractions")
        if operation is None:
            raise self.refused(node)
        return Part(operation(dividend, divisor), _all(defined))

    def comparison(self, op: str, left: Part, right: Part) -> Part:
        return Part(COMPARE[op](_number(left), _number(right)), _all([left.defined, right.defined]))

    def _call(self, node: ast.Call) -> Part:
        function = _FUNCTIONS.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if function is None or node.keywords or len(node.args) < (1 if function is abs_ else 2):
            raise self.refused(node)
        args = [self.read(argument) for argument in node.args]
        if function is abs_ and len(args) > 1:
            raise self.refused(node)
        return Part(function(*map(_number, args)), _all([arg.defined for arg in args]))


def _holds(part: Part) -> BoolExpr:
    return part.value if isinstance(part.value, BoolExpr) else part.value != 0


def _number(part: Part) -> IntExpr:
    if isinstance(part.value, BoolConst):
        return Const(int(part.value.value))
    return 1 * part.value if isinstance(part.value, BoolExpr) else part.value


def _is_never(expr: IntExpr, test: Callable[[int], bool]) -> bool:
    """Whether no value of a constant or variable passes a test; False for other expressions."""
    if isinstance(expr, Const):
        return not test(expr.value)
    return isinstance(expr, IntVar) and not any(map(test, expr.domain))


def _all(conditions: Sequence[BoolExpr]) -> BoolExpr:
    """The conjunction of the conditions, most of which are `TRUE`."""
    needed = [one for one in conditions if one is not TRUE]
    return all_of(needed) if needed else TRUE
