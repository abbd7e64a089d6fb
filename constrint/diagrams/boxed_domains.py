"""The domains of a model's variables, in the form that the planner needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from constrint.diagrams.terms import INT64, OBJECT, Array, Unsupported
from constrint.expr import BoolVar, IntVar
from constrint.expr.domain import EMPTY, Domain
from constrint.support.deadline import check_deadline, present

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations

MOST_LISTED = 1 << 26  # most listed values of all variables together
MOST_VALUES = 1 << 20  # variables with more values must be defined by an equation


def is_wide(domain: Domain) -> bool:
    """Whether a domain has too many values to list."""
    return domain.size is None or domain.size > MOST_VALUES


def boxed_domains(model: Declarations) -> dict[str, Domain]:
    """The variables' domains; for models with very wide or open ones, after propagation."""
    boxed = {name: variable.domain for name, variable in model.variables.items()}
    if any(map(is_wide, boxed.values())):
        boxed = dict(zip(boxed, _propagated(model, list(model.variables.values())), strict=True))
    return boxed


def listed(
    variables: Sequence[IntVar | BoolVar], boxed: dict[str, Domain]
) -> tuple[list[Array | None], list[tuple[int, int]]]:
    """The values of each variable, ascending, or None if they are too many; and the least and greatest value.

    Raises `Unsupported` for domains that the planner cannot handle.
    """
    sizes = [boxed[variable.name].size or 0 for variable in variables]
    if sum([size for size in sizes if size <= MOST_VALUES]) > MOST_LISTED:
        raise Unsupported(f"more than {MOST_LISTED} values of all variables together")
    domains: list[Array | None] = []
    limits = []
    for variable in variables:
        check_deadline()
        domain = boxed[variable.name]
        if domain.is_empty:
            return [np.zeros(0, dtype=np.int64)], [(0, 0)]
        if domain.lo is None or domain.hi is None:
            raise Unsupported(f"'{variable.name}' has no finite bounds")
        limits.append((domain.lo, domain.hi))
        if is_wide(domain):
            if domain.step != 1 or domain.values is not None:
                raise Unsupported(f"'{variable.name}' has too many values")
            domains.append(None)
            continue
        wide = max(-domain.lo, domain.hi) >= 1 << 62
        if domain.values is not None or wide:
            domains.append(np.array(list(domain), dtype=OBJECT if wide else INT64))
        else:
            # np.arange would compute large numbers in floating point.
            count = (domain.hi - domain.lo) // domain.step + 1
            domains.append(domain.lo + domain.step * np.arange(count, dtype=INT64))
    return domains, limits


def _propagated(model: Declarations, variables: Sequence[IntVar | BoolVar]) -> list[Domain]:
    """Domains after propagation at the root, for models with very wide or open ones."""
    from constrint.preparing.prepared import Prepared

    prepared = Prepared(model, (), (), deadline=present())
    if prepared.root is None:
        return [EMPTY for _ in variables]
    box, huge = prepared.root.box, prepared.root.huge
    found = []
    for variable in variables:
        v = prepared.variables[variable]
        lo, hi, values = box.lo[v], box.hi[v], box.values[v]
        if values is not None:
            found.append(Domain.of_values(values))
        else:
            low, high = (None if lo <= -huge else lo), (None if hi >= huge else hi)
            found.append(Domain.of_range(low, high, box.step[v]))
    return found
