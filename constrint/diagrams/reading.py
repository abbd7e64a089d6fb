"""A restriction as text: what has a term is a term, the rest is worked out for each combination of values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from constrint.diagrams.interpreted import interpreted
from constrint.diagrams.python_text import parsed
from constrint.diagrams.restrictions import Parameters, Refused, Restriction, parse, split
from constrint.diagrams.tracing import Called, is_understood, spread
from constrint.errors import ModelError
from constrint.support.deadline import look

TRIED = 4096
"""Combinations of values for which a part is tried by itself."""


def read(text: str, parameters: Parameters, values: Sequence[Sequence[Any]]) -> list[Restriction | Called]:
    """The parts of a restriction that must each hold.

    Args:
        text: A Python expression.
        parameters: What it may speak of.
        values: The values of each parameter, by number.

    Raises:
        ModelError: It is no Python expression, or says what is not understood here.
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
    tree: ast.expr, parameters: Parameters, values: Sequence[Sequence[Any]], text: str
) -> list[Restriction | Called]:
    """The parts of `a and b and …` by themselves, or all in one where a part needs those before it."""
    found: list[Restriction | Called] = []
    alone = True  # no part needs those before it
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


def _never_fails(called: Called, values: Sequence[Sequence[Any]]) -> bool:
    """Whether no tried combination raises more than an arithmetic error.

    A failure that is missed here is an error later, never another answer.
    """
    columns = [values[called.parameters.numbers[name]] for name in called.names]
    for row in spread(columns, TRIED):
        look()
        try:
            bool(called.function(**dict(zip(called.names, row, strict=True))))
        except ArithmeticError:
            pass
        except Exception:  # whatever it is, the parts before this one may keep it from being asked
            return False
    return True
