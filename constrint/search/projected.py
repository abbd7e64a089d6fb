"""Enumeration of some of the variables: each combination of their values once, with one solution that has it.

The search decides the projected variables only. Each of its leaves fixes them; a second search, of the root
with these values, finds a solution or proves that there is none.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from constrint.expr import IntExpr
from constrint.modelling.chosen import chosen_variables
from constrint.preparing.checks import Assignment
from constrint.preparing.search_protocol import Outcome
from constrint.search.call import CallContext, WorkTotal
from constrint.search.start import first_solution, start_search
from constrint.search.warm_start import restricted

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.prepared import Prepared


def projection_of(model: Declarations, variables: object) -> list[IntExpr] | None:
    """The variables of the model that are named, each once; None for all."""
    if variables is None:
        return None
    return [*chosen_variables(model, variables, "solutions are projected to variables")]


def projected(prepared: Prepared, variables: Iterable[IntExpr] | None) -> Prepared:
    """The prepared model with only these variables to be decided, and to be read from a solution."""
    if variables is None:
        return prepared
    part = copy(prepared)
    part.variables = {variable: prepared.variables[variable] for variable in variables}
    return part


def solutions(
    call: CallContext, prepared: Prepared, part: Prepared, known: set[tuple[int, ...]] | None = None
) -> Generator[Assignment, None, tuple[Outcome, str]]:
    """The solutions of a prepared model, one for each combination of the values that `part` decides.

    Args:
        call: The call.
        prepared: The prepared model, with a root.
        part: It, or its projection.
        known: Combinations to leave out, to which those that are found are added; None for none.

    Returns:
        Why there is no other solution, and the unbounded variable if that is the reason.
    """
    assert prepared.root is not None
    root = prepared.root
    run = start_search(call, part, root, is_every=True)
    options = replace(call.options, sharing=None, learn="auto", on_solution=None)
    inner = CallContext(call.model, options, work=WorkTotal(call.started))
    while (step := run.next(checked=part is prepared)).found is not None:
        found = step.found
        call.work.statistics = run.statistics()
        if part is not prepared:
            left = restricted(root, {part.variables[variable]: value for variable, value in found.items()})
            if left is None:
                continue
            step = first_solution(inner, prepared, left)
            if step.outcome is Outcome.EXHAUSTED:
                continue
        if step.found is None:
            break
        if known is not None:
            values = tuple(found.values())
            if values in known:
                continue
            known.add(values)
        yield step.found
    return step.outcome, step.unbounded
