"""Cells of equations without R on a CPU: what waits for no step before it is computed for many at once.

Forward that is all that depends on inputs and weights alone. Backward, where the states are known, it is all
that does not depend on a gradient, and the gradients by inputs and weights after the steps: only the
gradients by states are computed step by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kerneltune.cells.graph import Node, behind
from kerneltune.cells.numbers import NUMPY, computed
from kerneltune.running.diagonal_reference import CHECKPOINT_STEPS, DiagonalInputs, DiagonalResults
from kerneltune.running.scan_reference import Array

if TYPE_CHECKING:
    from kerneltune.cells.derivation import Derivation

AT_ONCE = 1 << 14
"""The most numbers of an array that are computed at once: what is computed of them stays in the cache."""


@dataclass(frozen=True)
class _Split:
    """Results of a step, and what of them is there before the steps.

    Attributes:
        results: The results.
        late: What is computed step by step, in order.
        early: What is computed for many steps at once, of which the late values or results are made.
    """

    results: Sequence[Node]
    late: Sequence[Node]
    early: Sequence[Node]

    @staticmethod
    def of(results: Sequence[Node], leaf: str) -> _Split:
        """The parts of results where leaves of one kind are late."""
        waiting: set[Node] = set()
        for node in behind(results):
            if node.op == leaf or any(arg in waiting for arg in node.args):
                waiting.add(node)
        late = [node for node in behind(results) if node in waiting and node.args]
        read = [*results, *(arg for node in late for arg in node.args)]
        return _Split(results, late, [*dict.fromkeys(node for node in read if node not in waiting)])


class EquationSteps:
    """Both passes of a cell over all steps.

    Args:
        derivation: The cell.
    """

    def __init__(self, derivation: Derivation) -> None:
        self._after = derivation.equations.after
        self._backward = derivation.backward
        self._leaves = [node for node in derivation.equations.graph.nodes if not node.args]

    @cached_property
    def _forward_split(self) -> _Split:
        return _Split.of(self._after, "before")

    @cached_property
    def _backward_split(self) -> _Split:
        return _Split.of(self._backward.before, "seed")

    def forward(self, inputs: DiagonalInputs) -> DiagonalResults:
        """As `diagonal_reference.forward`."""
        hidden: Array = np.zeros(inputs.read[0].shape)
        shape = (-(-hidden.shape[1] // CHECKPOINT_STEPS), *inputs.initial.shape)
        kept, number = np.zeros(shape), 0
        states: Sequence[Array] = list(inputs.initial)
        for part, masks in _parts(inputs):
            known = self._known(inputs, part)
            early = computed(self._forward_split.early, known)
            for i, step in enumerate(part):
                if number % CHECKPOINT_STEPS == 0:
                    kept[number // CHECKPOINT_STEPS] = states
                number += 1
                after = self._step(early, i, masks.entering(i, states))
                states = masks.counting(i, after, states)
                hidden[:, step] = states[0]
            masks.clear(hidden, part)
        return DiagonalResults(hidden, np.array(states), kept)

    def _step(self, early: Mapping[Node, Any], i: int, before: Sequence[Array]) -> list[Array]:
        known = {node: _at(early[node], i) for node in self._forward_split.early}
        known |= {node: before[int(node.value)] for node in self._leaves if node.op == "before"}
        values = computed(self._after, known, NUMPY, self._forward_split.late)
        return [np.broadcast_to(values[node], before[0].shape) for node in self._after]

    def backward(
        self, inputs: DiagonalInputs, gradient: Array, last_gradient: Array
    ) -> tuple[tuple[Array, ...], Array, Array]:
        """As `diagonal_reference.backward`."""
        parts = list(_parts(inputs))
        entering = self._entering(inputs, parts)
        found = tuple(np.zeros_like(array) for array in inputs.read)
        by_weights = np.zeros((inputs.read[0].shape[0], *inputs.weights.shape))
        carried: Sequence[Array] = list(last_gradient)
        for (part, masks), before in zip(reversed(parts), reversed(entering), strict=True):
            known = self._known(inputs, part, before)
            early = computed(self._backward_split.early, known)
            whole = np.empty((len(part), *last_gradient.shape))
            for i in reversed(range(len(part))):
                whole[i] = carried
                whole[i, 0] += gradient[:, part[i]]
                by_state = self._step_back(early, i, whole[i])
                carried = masks.counting(i, masks.entering(i, by_state), carried)
            known |= {node: whole[:, int(node.value)] for node in self._leaves if node.op == "seed"}
            rest = computed((*self._backward.input, *self._backward.weight), known)
            for array, node in zip(found, self._backward.input, strict=True):
                array[:, part] = np.moveaxis(
                    masks.counted(np.broadcast_to(rest[node], whole[:, 0].shape)), 0, 1
                )
            for number, node in enumerate(self._backward.weight):
                by_weights[:, number] += masks.counted(np.broadcast_to(rest[node], whole[:, 0].shape)).sum(0)
        return found, np.array(carried), by_weights

    def _step_back(self, early: Mapping[Node, Any], i: int, whole: Array) -> list[Array]:
        split = self._backward_split
        known = {node: _at(early[node], i) for node in split.early}
        known |= {node: whole[int(node.value)] for node in self._leaves if node.op == "seed"}
        values = computed(split.results, known, NUMPY, split.late)
        return [np.broadcast_to(values[node], whole[0].shape) for node in split.results]

    def _entering(self, inputs: DiagonalInputs, parts: Sequence[tuple[list[int], _Masks]]) -> list[Array]:
        """The states before each step of the parts, `[n, S, B, D]`."""
        states: Sequence[Array] = list(inputs.initial)
        found = []
        for part, masks in parts:
            early = computed(self._forward_split.early, self._known(inputs, part))
            before = np.empty((len(part), *inputs.initial.shape))
            for i in range(len(part)):
                before[i] = masks.entering(i, states)
                states = masks.counting(i, self._step(early, i, before[i]), states)
            found.append(before)
        return found

    def _known(self, inputs: DiagonalInputs, part: list[int], before: Array | None = None) -> dict[Node, Any]:
        """The leaves of some steps: inputs and states `[n, B, D]`, weights `[D]`."""
        found: dict[Node, Any] = {}
        for node in self._leaves:
            number = int(node.value)
            if node.op == "input":
                found[node] = np.moveaxis(inputs.read[number][:, part], 1, 0)
            elif node.op == "weight":
                found[node] = inputs.weights[number]
            elif node.op == "constant":
                found[node] = node.value
            elif node.op == "before" and before is not None:
                found[node] = before[:, number]
        return found


def _at(value: Any, i: int) -> Any:
    """A value in a step; numbers and weights are the same in all."""
    return value[i] if np.ndim(value) == 3 else value


@dataclass(frozen=True)
class _Masks:
    """Resets and lengths of some steps; None where they change nothing."""

    counts: NDArray[np.bool_] | None  # [n, B, 1]
    dropped: NDArray[np.bool_] | None

    def entering(self, i: int, states: Sequence[Array]) -> Sequence[Array]:
        """States with zeros where they are dropped before the step; gradients likewise."""
        if self.dropped is None:
            return states
        return [np.where(self.dropped[i], 0.0, state) for state in states]

    def counting(self, i: int, new: Sequence[Array], old: Sequence[Array]) -> Sequence[Array]:
        """New values where the step counts, else the old ones."""
        if self.counts is None:
            return new
        return [np.where(self.counts[i], one, other) for one, other in zip(new, old, strict=True)]

    def counted(self, values: Array) -> Array:
        """Values `[n, B, D]` with zeros where the step does not count."""
        return values if self.counts is None else np.where(self.counts, values, 0.0)

    def clear(self, hidden: Array, part: list[int]) -> None:
        """Zeros for h where the step does not count."""
        if self.counts is not None:
            hidden[:, part] = np.where(np.moveaxis(self.counts, 0, 1), hidden[:, part], 0.0)


def _parts(inputs: DiagonalInputs) -> Iterator[tuple[list[int], _Masks]]:
    """Steps one after the other in the order of computation, some at a time, with their masks."""
    batch, steps, channels = inputs.read[0].shape
    order = list(range(steps))[:: -1 if inputs.reverse else 1]
    at_once = max(1, AT_ONCE // max(1, batch * channels))
    some_end, some_dropped = bool((inputs.lengths < steps).any()), bool(inputs.resets.any())
    for first in range(0, steps, at_once):
        part = order[first : first + at_once]
        counts = (np.array(part)[:, None] < inputs.lengths)[..., None] if some_end else None
        dropped = inputs.resets[:, part].T[..., None] if some_dropped else None
        yield part, _Masks(counts, dropped)
