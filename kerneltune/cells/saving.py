"""The choice of what the forward pass saves for the backward pass, and what that computes again.

The fewest bytes are chosen, then the fewest special functions, then the fewest other operations. States are
saved in float32; values in the storage type, which rounds them. A comparison of two values and an exponential
are computed again from exact numbers only: of rounded ones they could come out otherwise, or far off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kerneltune.cells.graph import COMPARISONS, SPECIAL, Node, behind
from kerneltune.errors import InputError

EXACT_OPERANDS = (*COMPARISONS, "exp")
VALUE_BYTES = 4  # of a value in 16 bits, written and read
STATE_BYTES = 8  # of a state in float32, written and read
HIDDEN_BYTES = 2  # of h, which is read only: it is written anyway
MOST_NODES = 1000
"""The most values of a cell: the registers of a thread hold a quarter of them."""
MOST_SECONDS = 30.0
"""The longest search: a cell of `MOST_NODES` takes 2 seconds, one of four gates 10 ms."""


def slots(values: int) -> int:
    """So many saved values and zeros behind them that whole words of 8 or 16 bytes are stored."""
    return values if values <= 2 else 4 * -(-values // 4)


@dataclass(frozen=True)
class Saved:
    """The values that the backward pass finds.

    Attributes:
        values: Values that the forward pass saves.
        states: The number of states after h that are saved.
        hidden: The step whose h is read: 1 after the step, 0 before it, -1 none.
        computed: What the backward pass computes from these, in order, before it needs any gradient.
    """

    values: tuple[Node, ...]
    states: int
    hidden: int
    computed: tuple[Node, ...]

    @property
    def slots(self) -> int:
        """The values of a unit and step in memory, with those that fill the last store."""
        return slots(len(self.values))

    def to_json(self, nodes: Sequence[Node]) -> dict[str, Any]:
        """The same with the numbers of nodes in their graph, which has these nodes."""
        numbers = {name: [one.index for one in getattr(self, name)] for name in ("values", "computed")}
        return {"nodes": len(nodes), "states": self.states, "hidden": self.hidden, **numbers}

    @staticmethod
    def from_json(given: Mapping[str, Any], nodes: Sequence[Node]) -> Saved:
        """The inverse, for the nodes of the graph."""
        values, computed = (tuple(nodes[n] for n in given[name]) for name in ("values", "computed"))
        return Saved(values, given["states"], given["hidden"], computed)


def choose_saved(after: Sequence[Node], needed: Sequence[Node], least_states: int = 0) -> Saved:
    """Choose what to save.

    Args:
        after: The states after a step.
        needed: The values that gradients are multiplied with or chosen by.
        least_states: The number of states after h that are saved in any case.
    """
    nodes = [node for node in behind(needed) if node.op not in ("constant", "weight")]
    if len(nodes) > MOST_NODES:
        raise InputError(f"the cell is too large: it has {len(nodes)} values, more than {MOST_NODES}")
    if not nodes:
        return Saved((), least_states, -1, ())
    there = set(nodes)
    choice = _Choice(after, nodes, [node for node in needed if node in there], least_states)
    return choice.made()


class _Choice:
    """The model: which nodes are saved, computed or given, and which of them are exact."""

    def __init__(
        self, after: Sequence[Node], nodes: Sequence[Node], needed: Sequence[Node], least_states: int
    ) -> None:
        from constrint import Model  # layers import this module before they have anything to solve

        self.model = Model("saved")
        self.first, self.needed = after[0], needed
        self.of_states = {node: _states_of(node, after) for node in nodes}
        most = max((n for numbers in self.of_states.values() for n in numbers), default=0)
        most = max(most, least_states)
        model = self.model
        self.states = [model.bool_var(f"state_{number}") for number in range(1, most + 1)]
        self.before, self.behind_step = model.bool_var("before"), model.bool_var("after")
        model.add(~(self.before & self.behind_step))
        for state in self.states[:least_states]:
            model.add(state)
        for smaller, larger in zip(self.states, self.states[1:], strict=False):
            model.add(larger.implies(smaller))
        self.save: dict[Node, Any] = {}
        self.computed: dict[Node, Any] = {}
        self.exact: dict[Node, object] = {}
        self.known: dict[Node, Any] = {}
        self.dominated = _dominated(nodes, needed, self.of_states)
        read = [arg for node in nodes if node.op in EXACT_OPERANDS for arg in node.args]
        self.wanted_exact = set(behind(read))
        for node in nodes:
            self._add(node)

    def _add(self, node: Node) -> None:
        model = self.model
        in_state = [self.states[number - 1] for number in self.of_states[node]]
        given: list[object] = list(in_state)
        if node.op == "before" and node.value == 0:
            given.append(self.before)
        if node.op != "before" and not in_state and node not in self.dominated:
            self.save[node] = model.bool_var(f"save_{node.index}")
            given.append(self.save[node])
        if node.args:
            computed = self.computed[node] = model.bool_var(f"computed_{node.index}")
            given.append(computed)
            self._needs(node, computed)
        if node.args and node in self.wanted_exact:
            exact = self.exact[node] = model.bool_var(f"exact_{node.index}")
            model.add(exact.implies(_any([computed, *in_state])))
            for arg in node.args:
                if arg in self.known:
                    there = self.exact.get(arg)
                    wanted = _any([*([] if there is None else [there]), *in_state])
                    model.add(exact.implies(wanted) if wanted is not None else ~exact)
        elif in_state and not node.args:
            self.exact[node] = _any(in_state)
        self.known[node] = _any(given)

    def _needs(self, node: Node, computed: Any) -> None:
        if node.op == "not_above_zero" and node.args[0] is self.first:
            self.model.add(computed.implies(self.behind_step | self.known[self.first]))
            return
        source = self.exact if node.op in EXACT_OPERANDS else self.known
        for arg in node.args:
            if arg in self.known:
                there = source.get(arg)
                self.model.add(~computed if there is None else computed.implies(there))

    def made(self) -> Saved:
        model = self.model
        for node in self.needed:
            model.add(self.known[node])
        from constrint import element

        count = model.let("count", sum(self.save.values(), start=model.let("none", 0)))
        in_memory = element([slots(number) for number in range(len(self.save) + 1)], count)
        size = HIDDEN_BYTES * (self.before + self.behind_step) + VALUE_BYTES * in_memory
        for one in self.states:
            size = size + STATE_BYTES * one
        work: Any = 0
        for node, one in self.computed.items():
            work = work + (1000 if node.op in SPECIAL else 1) * one
        result = model.solve(minimize=size * 1_000_000 + work, time_limit=MOST_SECONDS)
        if result.status.name != "OPTIMAL":
            raise InputError("the cell is too large: what its training saves is not found in 30 seconds")
        values = result.values

        def chosen(variables: Mapping[Node, Any]) -> tuple[Node, ...]:
            return tuple(node for node, one in variables.items() if result[one])

        hidden = 1 if values["after"] else 0 if values["before"] else -1
        # A gate's sum comes last: the activated gates are then in the order of the equations.
        kept = tuple(sorted(chosen(self.save), key=lambda node: not node.args))
        return Saved(kept, sum(bool(result[one]) for one in self.states), hidden, chosen(self.computed))


def _states_of(node: Node, after: Sequence[Node]) -> set[int]:
    """The states after h in which a value is, before or after the step."""
    found = {number for number, one in enumerate(after) if number and one is node}
    return found | ({int(node.value)} if node.op == "before" and node.value else set())


def _dominated(
    nodes: Sequence[Node], needed: Sequence[Node], of_states: Mapping[Node, set[int]]
) -> set[Node]:
    """The values that are used for one other value alone: that is saved in their place, in the same bytes."""
    users: dict[Node, list[Node]] = {}
    for node in nodes:
        for arg in node.args:
            users.setdefault(arg, []).append(node)
    alone = {node: using[0] for node, using in users.items() if len(using) == 1 and node not in set(needed)}
    return {node for node, user in alone.items() if not of_states[user]}


def _any(conditions: Sequence[object]) -> object:
    found: Any = None
    for one in conditions:
        found = one if found is None else found | one
    return found
