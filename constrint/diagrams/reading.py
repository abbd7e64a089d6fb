"""Reading restrictions: parts with a term become terms.

Others are evaluated for all combinations of values.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from constrint.diagrams.interpreted import interpreted
from constrint.diagrams.python_conditions import Refused
from constrint.diagrams.python_text import parsed
from constrint.diagrams.restrictions import Parameters, Restriction, parse, split
from constrint.diagrams.tracing import Called, is_understood, spread
from constrint.errors import ModelError
from constrint.support.deadline import check_deadline

TRIED = 4096
"""Combinations of values for which a part is tried on its own."""


def read(text: str, parameters: Parameters, values: Sequence[Sequence[object]]) -> list[Restriction | Called]:
    """The parts of a restriction, all of which must hold.

    Args:
        text: A Python expression.
        parameters: The parameters that it may use.
        values: The values of each parameter, by number.

    Raises:
        ModelError: The text is not a Python expression, or has unsupported parts.
    """
    try:
        parts = parse(text, parameters)
        if is_understood(parts, len(values), values):
            return [*parts]
    except ModelError as problem:
        refused = problem
    try:
        tree = parsed(text, "the restriction")
        return _worked_out(tree, parameters, values, text)
    except (Refused, ModelError, ValueError, RecursionError, MemoryError):
        raise refused from None


def _worked_out(
    tree: ast.expr, parameters: Parameters, values: Sequence[Sequence[object]], text: str
) -> list[Restriction | Called]:
    """The parts of `a and b and …` separately, or all in one if a part relies on those before it."""
    found: list[Restriction | Called] = []
    alone = True  # no part relies on those before it
    for part in _conjuncts(tree):
        try:
            terms = split(part, parameters, text)
            is_understood(terms, len(values), values)
            found += terms
        except ModelError:
            called = _called(part, parameters, text)
            if _never_fails(called, values):
                found.append(called)
            else:
                alone = False
    if not alone:
        whole = _called(tree, parameters, text)
        if not _never_fails(whole, values):
            raise Refused("Python has no value for it")
        found.append(whole)
    return found


def _conjuncts(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in _conjuncts(value)]
    return [tree]


def _called(tree: ast.expr, parameters: Parameters, text: str) -> Called:
    function, names = interpreted(tree, parameters.numbers)
    return Called(function, names, True, parameters, repr(text), is_text=True)


def _never_fails(called: Called, values: Sequence[Sequence[object]]) -> bool:
    """Whether no tried combination raises anything but an arithmetic error.

    A failure that is missed here becomes an error later, never a wrong answer.
    """
    columns = [values[called.parameters.numbers[name]] for name in called.names]
    for row in spread(columns, TRIED):
        check_deadline()
        try:
            bool(called.function(**dict(zip(called.names, row, strict=True))))
        except ArithmeticError:
            pass
        except Exception:  # the parts before this one may protect it from any failure
            return False
    return True
