"""The float64 reference of a cell without R: the functions of a scan's `reference.py`, from the equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import Node
from kerneltune.cells.numbers import computed

Numbers = tuple[Any, ...]


@dataclass(frozen=True)
class DerivedScanReference:
    """The functions of a cell, of arrays.

    `step` and `backward` have the arguments of a diagonal cell's `reference.py`, `coefficients` and
    `gradients` those of a linear cell's.
    """

    derivation: Derivation

    def step(self, x: Numbers, u: Numbers, state: Numbers) -> Numbers:
        """The states after a step."""
        after = self.derivation.equations.after
        values = computed(after, self._leaves(input=x, weight=u, before=state))
        return tuple(np.broadcast_to(values[node], np.shape(state[0])) for node in after)

    def backward(
        self, x: Numbers, u: Numbers, before: Numbers, gradient: Numbers
    ) -> tuple[Numbers, Numbers, Numbers]:
        """By the state before, the inputs and the weights, from the gradient by the state after."""
        found = self.derivation.backward
        known = self._leaves(input=x, weight=u, before=before, seed=gradient)
        values = computed((*found.input, *found.before, *found.weight), known)

        def of(nodes: tuple[Node, ...]) -> Numbers:
            return tuple(np.broadcast_to(values[node], np.shape(before[0])) for node in nodes)

        return of(found.before), of(found.input), of(found.weight)

    def coefficients(self, *read: Any) -> Numbers:
        """A and b of h' = a h + b."""
        found = self.derivation.coefficients
        assert found is not None
        values = computed((found.a, found.b), self._leaves(input=read))
        return tuple(np.broadcast_to(values[node], np.shape(read[0])) for node in (found.a, found.b))

    def gradients(self, *arrays: Any) -> Numbers:
        """By the inputs, from them, the h before and the gradient by h'."""
        *read, before, gradient = arrays
        return self.backward(tuple(read), (), (before,), (gradient,))[1]

    def _leaves(self, **given: Numbers) -> dict[Node, Any]:
        nodes = self.derivation.equations.graph.nodes
        return {node: given[node.op][int(node.value)] for node in nodes if node.op in given}
