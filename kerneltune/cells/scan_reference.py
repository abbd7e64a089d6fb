"""A cell without R by its equations: the functions of a scan's `reference.py`, in numpy and elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import Node
from kerneltune.cells.numbers import NUMPY, Operations, computed

Numbers = Sequence[Any]


def _spread(value: Any, like: Any) -> Any:
    return np.broadcast_to(value, np.shape(like))


@dataclass(frozen=True)
class DerivedScanReference:
    """The functions of a cell, of arrays that can be broadcast to one shape.

    `step` and `backward` have the arguments of a diagonal cell's `reference.py`, `coefficients` and
    `gradients` those of a linear cell's.

    Attributes:
        derivation: The cell.
        operations: The meaning of each operation.
        spread: A value as an array of the shape of another one.
        constant: A number beside an array.
    """

    derivation: Derivation
    operations: Operations = field(default_factory=lambda: NUMPY)
    spread: Callable[[Any, Any], Any] = _spread
    constant: Callable[[float, Any], Any] = lambda value, _: value

    def step(self, x: Numbers, u: Numbers, state: Numbers) -> tuple[Any, ...]:
        """The states after a step, from its inputs, the weights and the states before it."""
        return self.values(self.derivation.equations.after, state[0], input=x, weight=u, before=state)

    def backward(
        self, x: Numbers, u: Numbers, before: Numbers, gradient: Numbers
    ) -> tuple[tuple[object, ...], ...]:
        """By the states before, the inputs and the weights, from the gradient by the states after."""
        found = self.derivation.backward
        given = {"input": x, "weight": u, "before": before, "seed": gradient}
        return tuple(
            self.values(part, before[0], **given) for part in (found.before, found.input, found.weight)
        )

    def coefficients(self, *read: Any) -> tuple[Any, ...]:
        """A and b of h' = a h + b."""
        found = self.derivation.coefficients
        assert found is not None
        return self.values((found.a, found.b), read[0], input=read)

    def gradients(self, *arrays: object) -> tuple[object, ...]:
        """By the inputs, from them, the h before and the gradient by h'."""
        *read, before, gradient = arrays
        return self.backward(read, (), (before,), (gradient,))[1]

    def values(self, results: Sequence[Node], like: object, **given: Numbers) -> tuple[Any, ...]:
        """Values of the graph as arrays of the shape of `like`, from leaves of the kinds that are given."""
        known = {node: given[node.op][int(node.value)] for node in self._leaves if node.op in given}
        known |= {node: self.constant(node.value, like) for node in self._leaves if node.op == "constant"}
        values = computed(results, known, self.operations)
        return tuple(self.spread(values[node], like) for node in results)

    @cached_property
    def _leaves(self) -> list[Node]:
        self.derivation.backward  # noqa: B018  # adds values to the graph
        self.derivation.coefficients  # noqa: B018
        self.derivation.array_links  # noqa: B018
        return [node for node in self.derivation.equations.graph.nodes if not node.args]
