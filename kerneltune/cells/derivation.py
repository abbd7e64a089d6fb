"""A cell with all that is derived from its equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kerneltune.cells.equations import Equations
from kerneltune.cells.gradients import by_gate, gradients, value_by_last, value_of
from kerneltune.cells.graph import Node, behind
from kerneltune.cells.saving import Saved, choose_saved
from kerneltune.cells.weights import WeightSum, weight_sums

if TYPE_CHECKING:
    from kerneltune.cells.linear import Coefficients, Links


@dataclass(frozen=True)
class StepGradients:
    """The gradients by a step's operands, as values that depend on the gradients by the states after it.

    Attributes:
        input: By W x of each gate.
        product: By R h + b of each gate.
        before: By each state before the step, without what passes through R.
        weight: By each weight of a unit.
    """

    input: tuple[Node, ...]
    product: tuple[Node, ...]
    before: tuple[Node, ...]
    weight: tuple[Node, ...]

    @property
    def results(self) -> tuple[Node, ...]:
        """All of them."""
        return (*self.input, *self.product, *self.before, *self.weight)


@dataclass(frozen=True)
class Derivation:
    """A cell and what follows from its equations.

    Attributes:
        equations: They.
        choice: What training saves, as `Saved.to_json` gives it, where it was chosen before. It holds for a
            graph with nothing in it but the equations and their gradients, so it is read at once.
        written: What training saves of a cell whose struct is written by hand.
    """

    equations: Equations
    choice: Mapping[str, object] | None = None
    written: Saved | None = None

    def __post_init__(self) -> None:
        if self.choice is not None:
            self.saved  # noqa: B018

    @cached_property
    def backward(self) -> StepGradients:
        """The gradients."""
        equations = self.equations
        graph = equations.graph
        graph.factors_first = not equations.recurs
        found = gradients(graph, equations.after)
        by_input, by_product = by_gate(found, graph, len(equations.gates))

        def of(kind: str, count: int) -> tuple[Node, ...]:
            # The gradient by a weight is one by a gate and a factor that its sum is computed with.
            value = value_by_last if kind == "weight" else value_of
            known = {int(n.value): value(graph, g) for n, g in found.items() if n.op == kind}
            return tuple(known.get(number, graph.constant(0.0)) for number in range(count))

        return StepGradients(
            tuple(by_input),
            tuple(by_product),
            of("before", len(equations.states)),
            of("weight", len(equations.weights)),
        )

    @property
    def computed(self) -> tuple[Node, ...]:
        """The gradients that a recurrent cell's kernel computes: not those by weights, which are sums."""
        backward = self.backward
        return (*backward.input, *backward.product, *backward.before)

    @cached_property
    def weight_sums(self) -> tuple[WeightSum, ...]:
        """How the gradient by each weight follows from those by the gates.

        Raises:
            InputError: A weight is not multiplied with a state in the sum of one gate.
        """
        return weight_sums(self.equations)

    @cached_property
    def ahead(self) -> tuple[Node, ...]:
        """The values that gradients are multiplied with or chosen by: known before them."""
        results = self.computed
        late: set[Node] = set()
        found: dict[Node, None] = {}
        for node in behind(results):
            if node.op == "seed" or any(arg in late for arg in node.args):
                late.add(node)
                found |= dict.fromkeys(a for a in node.args if a not in late and a.op != "constant")
        found |= dict.fromkeys(n for n in results if n not in late and n.op != "constant")
        return tuple(found)

    @cached_property
    def saved(self) -> Saved:
        """The values that training saves of each step."""
        if self.written is not None:
            return self.written
        if self.choice is not None:
            self.ahead  # noqa: B018  # adds values to the graph
            nodes = self.equations.graph.nodes
            if self.choice["nodes"] == len(nodes):
                return Saved.from_json(self.choice, nodes)
        sums = self.weight_sums if self.equations.recurs else ()
        least = max((one.state for one in sums), default=0)
        return choose_saved(self.equations.after, self.ahead, least)

    @cached_property
    def coefficients(self) -> Coefficients | None:
        """Those of h' = a h + b, if the cell is one of numbers that look_back takes."""
        from kerneltune.cells.linear import coefficients
        from kerneltune.cells.structure import Structure

        equations = self.equations
        return coefficients(equations) if Structure(equations).scanned and not equations.has_arrays else None

    @cached_property
    def array_links(self) -> Links | None:
        """How the states follow from each other in a cell with arrays of several numbers."""
        from kerneltune.cells.linear import links

        equations = self.equations
        return links(equations, range(len(equations.states))) if equations.has_arrays else None

    @cached_property
    def links(self) -> Links | None:
        """How the states that are carried follow from each other, if look_back_states takes the cell."""
        from kerneltune.cells.linear import links
        from kerneltune.cells.structure import Structure

        structure = Structure(self.equations)
        numbers = tuple(map(self.equations.states.index, structure.carried))
        return links(self.equations, numbers) if structure.is_linked else None

    @property
    def separate_gradients(self) -> bool:
        """Whether the gradients by W x and by R h + b differ."""
        return self.backward.input != self.backward.product

    @property
    def constants(self) -> Mapping[str, int]:
        """The numbers that a kernel's struct has."""
        return {
            "gates": len(self.equations.gates),
            "states": len(self.equations.states),
            "saved_values": self.saved.slots,
            "saved_states": self.saved.states,
        }


def uses(results: Sequence[Node], known: Sequence[Node] = ()) -> dict[Node, int]:
    """How often each value behind some results is used; a result counts as a use."""
    found: dict[Node, int] = {}
    given = set(known)
    for node in behind(results, known):
        if node not in given:
            for arg in node.args:
                found[arg] = found.get(arg, 0) + 1
    for node in results:
        found[node] = found.get(node, 0) + 1
    return found
