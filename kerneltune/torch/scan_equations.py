"""Scans of equations in torch's own operations: what a scan's `reference.py` has, for tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import Node
from kerneltune.cells.numbers import computed
from kerneltune.torch.equations import OPERATIONS

Tensors = Sequence[torch.Tensor]


@dataclass(frozen=True)
class ScanEquations:
    """The functions of a cell without R. All of a call's tensors can be broadcast to one shape."""

    derivation: Derivation

    def step(self, x: Tensors, u: Tensors, state: Tensors) -> tuple[torch.Tensor, ...]:
        """The states after a step, from its inputs, its weights and the states before it."""
        return self._of(self.derivation.equations.after, state[0], input=x, weight=u, before=state)

    def backward(
        self, x: Tensors, u: Tensors, before: Tensors, gradient: Tensors
    ) -> tuple[tuple[torch.Tensor, ...], ...]:
        """By the states before, the inputs and the weights, from the gradient by the states after."""
        found = self.derivation.backward
        given = {"input": x, "weight": u, "before": before, "seed": gradient}
        return tuple(self._of(part, before[0], **given) for part in (found.before, found.input, found.weight))

    def coefficients(self, x: Tensors) -> tuple[torch.Tensor, ...]:
        """A and b of h' = a h + b."""
        found = self.derivation.coefficients
        assert found is not None
        return self._of((found.a, found.b), x[0], input=x)

    def _of(self, results: Sequence[Node], like: torch.Tensor, **given: Tensors) -> tuple[torch.Tensor, ...]:
        known = {node: given[node.op][int(node.value)] for node in self._leaves if node.op in given}
        known |= {node: like.new_tensor(node.value) for node in self._leaves if node.op == "constant"}
        values = computed(results, known, OPERATIONS)
        return tuple(values[node].expand_as(like) for node in results)

    @cached_property
    def _leaves(self) -> list[Node]:
        self.derivation.backward  # noqa: B018  # adds values to the graph
        self.derivation.coefficients  # noqa: B018
        return [node for node in self.derivation.equations.graph.nodes if not node.args]
