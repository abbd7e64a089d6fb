"""The float64 reference of a recurrent cell: the functions of a `reference.py`, from the equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import CONDITIONS, Node, behind
from kerneltune.cells.numbers import computed
from kerneltune.cells.recurrence import (
    EXACT,
    Array,
    GradientOptions,
    Gradients,
    bounded,
    recurrent_products,
)
from kerneltune.cells.weights import summed_gradients


@dataclass(frozen=True)
class DerivedReference:
    """`forward`, `saved` and `backward` of a cell; arguments are those of a cell's `reference.py`."""

    derivation: Derivation
    weights: Array | None = None  # of each unit, `[H, P, D]`

    def with_weights(self, weights: Array) -> DerivedReference:
        """The reference with the weights of the units, `[H, P, D]`."""
        return DerivedReference(self.derivation, weights)

    def summed(self, by_product: Array, states: Array) -> Array:
        """The gradients by the weights, `[H, P, D]`, from those by R h + b and all states."""
        return summed_gradients(self.derivation.weight_sums, by_product, states)

    def forward(self, wx: Array, r: Array, bias: Array, initial: Array, forward_clip: float = 0.0) -> Array:
        """All states, `[S, T + 1, B, H, D]`; index 0 of time holds `initial`."""
        after = self.derivation.equations.after
        states = np.empty((len(after), wx.shape[0] + 1, *wx.shape[1:4]))
        states[:, 0] = initial
        for step in range(len(wx)):
            product = recurrent_products(r, bias, states[0, step : step + 1])[0]
            values = computed(after, self._leaves(wx[step], product, states[:, step]))
            for number, node in enumerate(after):
                states[number, step + 1] = values[node]
            states[0, step + 1] = bounded(states[0, step + 1], forward_clip)
        return states

    @cached_property
    def jumping(self) -> tuple[int, ...]:
        """The saved values that jump where numbers are compared: rounding decides on which side."""
        values = enumerate(self.derivation.saved.values)
        return tuple(number for number, value in values if _jumps_behind(value))

    def undecided(
        self, wx: Array, r: Array, bias: Array, states: Array, tolerance: float
    ) -> NDArray[np.bool_]:
        """Whether a saved value jumps between numbers so near each other that rounding decides.

        Args:
            wx: As in `forward`, like the next two.
            r: The recurrent matrices.
            bias: The biases.
            states: All states, as `forward` gives them.
            tolerance: The error of the compared numbers, relative to 1 and to each of them.

        Returns:
            `[T, B, H, D, V]`.
        """
        saved = self.derivation.saved
        found = np.zeros((*wx.shape[:4], saved.slots), bool)
        for number in self.jumping:
            jumps = _jumps_behind(saved.values[number])
            known = self._known([arg for node in jumps for arg in node.args], wx, r, bias, states)
            for node in jumps:
                a, b = (
                    [known[arg] for arg in node.args] if len(node.args) == 2 else (known[node.args[0]], 0.0)
                )
                found[..., number] |= np.abs(a - b) <= tolerance * (1.0 + np.abs(a) + np.abs(b))
        return found

    def saved(self, wx: Array, r: Array, bias: Array, states: Array) -> tuple[Array, Array]:
        """Results that training saves: values `[T, B, H, D, V]` and states after h `[T + 1, B, H, D, F]`."""
        saved = self.derivation.saved
        values = self._known(saved.values, wx, r, bias, states)
        kept = [np.broadcast_to(values[node], wx.shape[:4]) for node in saved.values]
        kept += [np.zeros(wx.shape[:4])] * (saved.slots - len(kept))
        stacked = np.stack(kept, axis=-1).astype(np.float64) if kept else np.empty((*wx.shape[:4], 0))
        return stacked, np.moveaxis(states[1 : 1 + saved.states], 0, -1)

    def backward(
        self,
        wx: Array,
        r: Array,
        bias: Array,
        states: Array,
        output_gradient: Array,
        last_gradient: Array,
        options: GradientOptions = EXACT,
    ) -> Gradients:
        """Gradients by all inputs; `Backward` in `kerneltune.cells.recurrence` describes the arguments."""
        found = self.derivation.backward
        ahead = self.derivation.ahead
        values = self._known(ahead, wx, r, bias, states)
        by_input, by_product = np.empty_like(wx), np.empty_like(wx)
        carried = list(last_gradient)
        for step in reversed(range(len(wx))):
            known = {node: _at(values[node], step) for node in ahead}
            carried[0] = options.before_clip(carried[0] + output_gradient[step], states[0, step + 1])
            known |= self._units | {seed: carried[int(seed.value)] for seed in self._seeds}
            now = computed(self.derivation.computed, known)
            for gate, (one, other) in enumerate(zip(found.input, found.product, strict=True)):
                by_input[step, ..., gate], by_product[step, ..., gate] = now[one], now[other]
            by_input[step] = options.clipped(by_input[step])
            by_product[step] = options.clipped(by_product[step])
            carried = [np.broadcast_to(now[node], wx.shape[1:4]) for node in found.before]
            carried[0] = carried[0] + options.pulled_back(r, by_product[step])
        return Gradients(by_input, by_product, np.stack(carried))

    @cached_property
    def _units(self) -> dict[Node, object]:
        """The weights by their values in the graph."""
        nodes = self.derivation.equations.graph.nodes
        weights = self.weights
        return {} if weights is None else {n: weights[:, int(n.value)] for n in nodes if n.op == "weight"}

    @cached_property
    def _seeds(self) -> tuple[Node, ...]:
        return tuple(node for node in self.derivation.equations.graph.nodes if node.op == "seed")

    def _known(
        self, wanted: Sequence[Node], wx: Array, r: Array, bias: Array, states: Array
    ) -> Mapping[Node, Any]:
        product = recurrent_products(r, bias, states[0, :-1])
        return computed(wanted, self._leaves(wx, product, states[:, :-1]))

    def _leaves(self, wx: Array, product: Array, states: Array) -> dict[Node, object]:
        of: dict[str, Any] = {"total": wx + product, "input": wx, "product": product}
        found = {}
        for node in self.derivation.equations.graph.nodes:
            number = int(node.value)
            if node.op in of:
                found[node] = of[node.op][..., number]
            elif node.op == "before":
                found[node] = states[number]
        return found | self._units


def _jumps_behind(value: Node) -> list[Node]:
    return [node for node in behind([value]) if node.op in (*CONDITIONS, "sign")]


def _at(value: Any, step: int) -> Any:
    return value[step] if np.ndim(value) == 4 else value  # what is the same in all steps has no axis of time
