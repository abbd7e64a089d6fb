"""The kind of a cell, decided from its equations, and which strategies are exact for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kerneltune.cells.equations import Equations
from kerneltune.cells.gradients import applied, sum_of
from kerneltune.cells.graph import Graph, Node, behind
from kerneltune.cells.slopes import DIFFERENTIATED, slopes

Kind = Literal["linear", "diagonal", "recurrent"]
RECURRENT = ("block", "cluster", "grid", "warpgroup", "streamed", "product")
SCANS = ("look_back", "look_back_states", "sequential", "overlap")
SCAN_GATES = 6
"""The most arrays that a scan's kernels read (`kernels/scan/common/arguments.cuh`)."""
MOST_CARRIED = 3
"""The most states that look_back_states carries: a matrix of 3 rows is published as 12 numbers."""
WARPGROUP_GATES = (1, 3, 4)
"""The numbers of gates that the strategy "warpgroup" is written for (`rows_fit` in its constraints)."""
_ADDITIVE = ("add", "sub", "neg")


@dataclass(frozen=True)
class Structure:
    """The structure of a cell's step.

    Attributes:
        equations: The cell.
    """

    equations: Equations

    @property
    def kind(self) -> Kind:
        """How the states after a step depend on those before it.

        Recurrent: a gate has R h. Linear: h' = a h + b, with a and b of inputs and weights alone. Diagonal: a
        unit sees its own states only, in any other way.
        """
        if self.equations.recurs:
            return "recurrent"
        return "diagonal" if self.nonlinear else "linear"

    @cached_property
    def nonlinear(self) -> Mapping[str, str]:
        """The states that are not linear in the states before the step, each with the reason.

        A state that no step reads is an output: it may be any function of the others.
        """
        degrees = _degrees(self.equations)
        found = {}
        for state, node in zip(self.equations.states, self.equations.after, strict=True):
            degree = degrees[node]
            if degree.number > 1 and state in self.carried:
                found[state] = degree.reason
        return found

    @property
    def carried(self) -> list[str]:
        """The states that a step reads, other than through R h."""
        states = enumerate(self.equations.states)
        return [state for number, state in states if any(row[number] for row in self.depends)]

    @cached_property
    def depends(self) -> tuple[tuple[bool, ...], ...]:
        """Whether each state after a step depends on each state before it, other than through R h."""
        count = len(self.equations.states)
        rows = []
        for node in self.equations.after:
            seen = {int(one.value) for one in behind([node]) if one.op == "before"}
            rows.append(tuple(number in seen for number in range(count)))
        return tuple(rows)

    def slope(self, after: int, before: int) -> Node:
        """The derivative of a state after the step by one before it, other than through R h."""
        graph = self.equations.graph
        leaf = graph.leaf("before", before)
        return forward(graph, self.equations.after[after], leaf)

    @property
    def scanned(self) -> bool:
        """Whether the step is h' = a h + b with one a and one b, or arrays of them, as look_back has it."""
        return self.kind == "linear" and not self._not_scanned

    @property
    def is_linked(self) -> bool:
        """Whether look_back_states takes the step: one of several states, with weights, or with an output."""
        return self.kind == "linear" and not self.scanned and not self._not_linked

    @property
    def _not_scanned(self) -> str:
        """The reason why look_back does not take a linear cell."""
        equations = self.equations
        if equations.has_arrays:
            return ""
        if equations.positive:
            return f"it begins at 0, but {equations.positive[0]} is positive"
        if equations.weights:
            return f"it sums no gradients by weights of units, such as {equations.weights[0]}"
        if len(equations.states) > 1:
            return "it carries one number a unit, which is the output, not " + " and ".join(equations.states)
        return ""

    @property
    def _not_linked(self) -> str:
        """The reason why look_back_states does not take a linear cell that look_back does not take."""
        if not self.carried:
            return "no step reads a state, so that there is nothing to look back at"
        if len(self.carried) > MOST_CARRIED:
            return f"it carries at most {MOST_CARRIED} states, not {len(self.carried)}"
        return ""

    @property
    def refusals(self) -> dict[str, str]:
        """The strategies that are not exact for this cell, with the reason."""
        kind = self.kind
        if kind == "recurrent":
            gates = ", ".join(self.gates_with_product)
            reason = f"h passes through R ({gates}), so that units depend on each other"
            found = dict.fromkeys(SCANS, reason)
            if len(self.equations.gates) not in WARPGROUP_GATES:
                found["warpgroup"] = "its products have rows for 1, 3 or 4 gates"
            return found
        found = dict.fromkeys(RECURRENT, "no gate has R h: there is no product to share")
        if len(self.equations.input_arrays) > SCAN_GATES:
            reason = f"scans read at most {SCAN_GATES} gates, not {len(self.equations.input_arrays)}"
            return found | dict.fromkeys(SCANS, reason)
        if kind == "diagonal":
            reason = "; ".join(f"{state}' {reason}" for state, reason in self.nonlinear.items())
            return found | dict.fromkeys(("look_back", "look_back_states"), reason)
        if self.equations.has_arrays:
            reason = "it reads each number from an array of its own"
            found |= dict.fromkeys(("look_back_states", "sequential", "overlap"), reason)
        elif self.scanned:
            found["look_back_states"] = "look_back has it, for one state without weights"
            found["overlap"] = "the cell is linear in its states, for which look_back reads every array once"
        else:
            found["look_back"] = self._not_scanned
        if self._not_linked and not self.scanned:
            found["look_back_states"] = self._not_linked
        return found

    @property
    def strategies(self) -> list[str]:
        """The strategies that are exact for this cell."""
        refused = self.refusals
        return [name for name in (*RECURRENT, *SCANS) if name not in refused]

    @property
    def gates_with_product(self) -> list[str]:
        """The gates that have R h."""
        numbers = {number for op, number in self.equations.leaves if op in ("total", "product")}
        return [gate for number, gate in enumerate(self.equations.gates) if number in numbers]


@dataclass(frozen=True)
class _Degree:
    """The degree of a value in the states before the step: 0, 1, or 2 for anything else."""

    number: int
    reason: str = ""


def _degrees(equations: Equations) -> dict[Node, _Degree]:
    found: dict[Node, _Degree] = {}
    for node in behind(equations.after):
        of_args = [found[arg] for arg in node.args]
        worst = max(of_args, key=lambda degree: degree.number, default=_Degree(0))
        if node.op == "before":
            found[node] = _Degree(1)
        elif worst.number != 1 or node.op in _ADDITIVE:
            found[node] = worst
        elif _keeps_degree(node, of_args):
            found[node] = _Degree(1)
        else:
            found[node] = _Degree(2, f"has {_described(equations, node)} of a value that depends on a state")
    return found


def _keeps_degree(node: Node, of_args: Sequence[_Degree]) -> bool:
    """Whether a value is linear in the states as one operand is, and the others do not depend on them."""
    numbers = [degree.number for degree in of_args]
    if node.op == "mul":
        return 0 in numbers
    return (node.op == "div" and numbers[1] == 0) or (node.op == "select" and numbers[0] == 0)


def _described(equations: Equations, node: Node) -> str:
    if node.op == "mul":
        return "a product with another such value, which is one"
    if node.op in ("at_least", "greater", "select"):
        return "a comparison"
    return f"{node.op}(…)"


def forward(graph: Graph, result: Node, leaf: Node) -> Node:
    """The derivative of a value by a leaf, as a value of the graph."""
    zero, one = graph.constant(0.0), graph.constant(1.0)
    found: dict[Node, Node] = {}
    for node in behind([result]):
        if not node.args:
            found[node] = one if node is leaf else zero
            continue
        reached = DIFFERENTIATED.get(node.op, range(len(node.args)))
        moving = [place for place in reached if found[node.args[place]] is not zero]
        if not moving or node.op in ("at_least", "greater", "not_above_zero", "sign"):
            found[node] = zero
            continue
        local = slopes(graph, node)
        parts = [applied(graph, found[node.args[place]], local[place]) for place in moving]
        found[node] = sum_of(graph, parts)
    return found[result]
