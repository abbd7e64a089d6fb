"""The search by tables: whether it suits a problem, and its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constrint.modelling.result import Statistics
from constrint.preparing.checks import Assignment, check
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root
    from constrint.propagators import Propagator


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a search by tables.

    Attributes:
        best: The optimum; None if there is no solution.
        is_proven: Whether that is proven; otherwise `best` is the best row before the deadline, or None.
        statistics: The work.
    """

    best: Assignment | None
    is_proven: bool
    statistics: Statistics


def sweep(prepared: Prepared, root: Root) -> Swept | None:
    """The optimum by tables; None where the constraints do not suit that, or it is too much work.

    Parts of the model that no constraint links have their optima apart: the lexicographic optimum of all is
    those of the parts together, as each goal is a variable of one part.
    """
    goals = [*prepared.goals, *prepared.preferences]
    from constrint.enumeration.operation import Unsuitable
    from constrint.enumeration.optimum import Optimum

    values: dict[int, int] = {}
    rules = root.settings.enumeration
    is_proven = has_solution = True
    work = parts = improvements = 0
    try:
        for propagators, numbers in watched(_components(prepared, root, [v for v, _ in goals])):
            own = set(numbers)
            found = Optimum(
                root.box,
                propagators,
                numbers,
                [goal for goal in goals if goal[0] in own],
                prepared.inputs,
                rules.most_work - work,
                rules,
            )
            work, parts, improvements = (
                work + found.work,
                parts + found.parts,
                improvements + found.improvements,
            )
            if found.values is not None:
                values |= found.values
            elif found.is_proven:
                return Swept(None, True, Statistics(nodes=parts, engine="tables"))
            is_proven, has_solution = is_proven and found.is_proven, has_solution and found.values is not None
    except Unsuitable:
        return None
    statistics = Statistics(nodes=parts, solutions=improvements, engine="tables", finder="tables")
    if not has_solution:
        return Swept(None, False, statistics)
    best = {variable: values[v] for variable, v in prepared.variables.items()}
    check(prepared, best)
    for place, (v, _) in enumerate(goals):
        prepared.check_target(place, best, values[v])
    return Swept(best, is_proven, statistics)


def _components(
    prepared: Prepared, root: Root, goals: Sequence[int]
) -> Iterator[tuple[Sequence[Propagator], list[int]]]:
    """The constraints, and the variables of model and goals, of each component of the open variables.

    Variables are open if the root does not fix them; those of a constraint are in one component, found by
    union-find. All fixed variables, and constraints over nothing else, come as a component too.
    """
    lo, hi = root.box.lo, root.box.hi
    leader = list(range(len(lo)))

    def leader_of(v: int) -> int:
        while leader[v] != v:
            leader[v] = v = leader[leader[v]]
        return v

    firsts = []
    for node in root.propagators:
        first = -1
        for v in node.scope():
            if lo[v] < hi[v]:
                v = leader_of(v)
                if first < 0:
                    first = v
                leader[v] = first
        firsts.append(first)
    numbers: dict[int, list[int]] = {}
    for v in dict.fromkeys([*prepared.variables.values(), *goals]):
        numbers.setdefault(leader_of(v) if lo[v] < hi[v] else -1, []).append(v)
    propagators: dict[int, list[Propagator]] = {}
    for node, first in zip(root.propagators, firsts, strict=True):
        propagators.setdefault(first if first < 0 else leader_of(first), []).append(node)
    for which in dict.fromkeys([*propagators, *numbers]):
        yield propagators.get(which, []), numbers.get(which, [])
