"""The changes that presolve made to a problem, in lines for people."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq
from typing import TYPE_CHECKING

from constrint.presolve.root import Root, is_decided
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from constrint.lowering.problem import Problem

RULES = {
    "cliques": "conditions that exclude each other are joined to cliques",
    "parallel rows": "sums of the same terms are merged",
    "machines": "tasks that exclude each other are joined to machines",
    "factors": "products have lists of their factors",
}
"""The effect of each rule that changes the number of constraints."""


def summary(problem: Problem, lowered: int, steps: Sequence[tuple[str, int]], root: Root | None) -> list[str]:
    """The sizes of the normal form and of the root, and a line for each change of the constraints.

    Args:
        problem: The problem that was narrowed.
        lowered: The number of its constraints before presolve.
        steps: The rules that may have changed it, in order, each with the number of constraints after it.
        root: What is left; None where presolve proved that there is no solution.
    """
    lines = [f"the normal form has {counted(len(problem.lo), 'variable')}, {counted(lowered, 'constraint')}"]
    before = lowered
    for rule, after in steps:
        if after != before and rule in RULES:
            changed = f"{abs(after - before):,} {'fewer' if after < before else 'more'}"
            lines.append(f"{rule}: {changed}: {RULES[rule]}")
        elif rule == "tightened rows":
            lines.append("tightened rows: sums have smaller coefficients")
        before = after
    if root is None:
        return [*lines, "there is no solution"]
    if root.postponed:
        return [*lines, "later: a short search comes first"]
    kept = set(map(id, root.propagators))
    removed = [node for node in problem.propagators if id(node) not in kept]
    decided = sum(is_decided(node, root.box) for node in removed)
    if decided:
        lines.append(f"decided: {decided:,} fewer: they hold for all values that are left")
    if len(removed) > decided:
        lines.append(f"dominated: {len(removed) - decided:,} fewer: other sums imply them")
    fixed = sum(map(eq, root.box.lo, root.box.hi))
    left = f"{counted(len(problem.lo) - fixed, 'variable')}, {counted(len(root.propagators), 'constraint')}"
    return [*lines, f"left: {left}; {counted(fixed, 'variable')} fixed"]
