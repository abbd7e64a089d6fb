"""A launcher that is none: it computes what kernels do by the cells' float64 references, on the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from kerneltune.cells.graph import Node
from kerneltune.cells.numbers import computed
from kerneltune.cells.recurrence import GradientOptions
from kerneltune.cells.reference import DerivedReference
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.problem import Problem


@dataclass(frozen=True)
class FromSaved(DerivedReference):
    """The reference of a cell of equations, with what kernels saved."""

    values: Any = None

    def _known(self, wanted: Any, wx: Any, r: Any, bias: Any, states: Any) -> Any:
        saved, after = self.derivation.saved, self.derivation.equations.after
        known = {node: self.values[..., number] for number, node in enumerate(saved.values)}
        for node in self.derivation.equations.graph.nodes:
            number = int(node.value)
            if node.op == "before" and number <= saved.states and (number or saved.hidden == 0):
                known[node] = states[number, :-1]
            if node.op == "not_above_zero" and node.args[0] is after[0] and saved.hidden == 1:
                known[node] = states[0, 1:] <= 0
        known |= {node: states[1 + number, 1:] for number, node in enumerate(after[1 : 1 + saved.states])}
        for node in saved.values:
            if node.op == "select":
                known |= _of_stabilised(node, known[node], wanted)
        return computed(wanted, known | self._units)


def _of_stabilised(node: Node, value: Any, wanted: Any) -> dict[Node, Any]:
    """What the sLSTM's header reads out of `where(kept < i, keep, -grow)`: one of both exponentials is 1."""
    condition, keep, negative = node.args
    is_keep = ~np.signbit(value)
    opposite = [one for one in wanted if one.op == "at_least" and one.args == condition.args[::-1]]
    return {
        **dict.fromkeys(opposite, ~is_keep),
        condition: is_keep,
        keep: np.where(is_keep, value, 1.0),
        negative.args[0]: np.where(is_keep, 1.0, -value),
    }


class ReferenceLauncher:
    """Launches on tensors of the CPU; notes the passes that were asked for."""

    def __init__(self) -> None:
        self.kernels = discover()
        self.passes: list[str] = []

    def launch(self, problem: Problem, tensors: Any) -> None:
        """Fill the outputs among the tensors."""
        self.passes.append(problem.direction)
        for tensor in tensors.values():
            assert tensor.is_contiguous()
        shapes = self._shapes(problem)
        tensors = {name: tensor.view(shapes[name]) for name, tensor in tensors.items()}
        arrays = {name: tensor.detach().double().numpy() for name, tensor in tensors.items()}
        (self._backward if problem.direction == "backward" else self._forward)(problem, tensors, arrays)

    def step_seconds(self, problem: Problem) -> float:
        """Proportional to the batch."""
        return 1e-5 * problem.batch

    def _shapes(self, problem: Problem) -> dict[str, tuple[int, ...]]:
        """As `kernels/common/arguments.cuh` has them."""
        spec = self.kernels.cell(problem.cell).spec
        heads, dim, gates = problem.heads, problem.head_dim, len(spec.gates)
        row, count = (problem.batch, heads, dim), len(spec.states)
        products, hidden, ends = (problem.steps, *row, gates), (problem.steps, *row), (count, *row)
        return {
            **dict.fromkeys(("input", "input_gradient", "recurrent_gradient"), products),
            **dict.fromkeys(("last_gradient", "initial_gradient"), ends),
            "recurrent": (heads, gates, dim, dim),
            "bias": (heads, gates, dim),
            "weights": (heads, len(spec.weights), dim),
            "states": (count, problem.steps + 1, *row),
            "output_gradient": hidden,
            "saved_values": (*hidden, spec.saved_values),
            "saved_states": (problem.steps + 1, *row, spec.saved_states),
        }

    def _forward(self, problem: Problem, tensors: Any, arrays: dict[str, Any]) -> None:
        module = self._module(problem, arrays)
        parts = [arrays[name] for name in ("input", "recurrent", "bias")]
        states = module.forward(*parts, arrays["states"][:, 0], problem.forward_clip)
        _put(tensors["states"], states)
        if problem.direction == "training":
            values, floats = module.saved(*parts, states)
            for name, found in (("saved_values", values), ("saved_states", floats)):
                if name in tensors:
                    _put(tensors[name], found)

    def _module(self, problem: Problem, arrays: dict[str, Any]) -> Any:
        module = self.kernels.cell(problem.cell).reference_module()
        return module.with_weights(arrays["weights"]) if "weights" in arrays else module

    def _backward(self, problem: Problem, tensors: Any, arrays: dict[str, Any]) -> None:
        spec = self.kernels.cell(problem.cell).spec
        module = self._module(problem, arrays)
        values, floats = arrays.get("saved_values"), arrays.get("saved_states")
        states = np.full_like(arrays["states"], np.nan)  # kernels read h there, others where they were saved
        states[0] = arrays["states"][0]
        if floats is not None:
            states[1 : 1 + spec.saved_states] = np.moveaxis(floats, -1, 0)
        shape = (*states[0, 1:].shape, len(spec.gates))
        # The reference takes what the forward pass saved from its inputs, which kernels do not get.
        if isinstance(module, DerivedReference):
            backward: Any = FromSaved(module.derivation, module.weights, values).backward
        else:
            names = {**vars(module), "saved": lambda *_: (values, floats)}
            backward = FunctionType(module.backward.__code__, names, argdefs=module.backward.__defaults__)
        options = GradientOptions(
            problem.gate_gradient_clip, problem.cut_recurrent_gradient, problem.forward_clip
        )
        by = [arrays["output_gradient"], arrays["last_gradient"]]
        nothing = np.zeros(shape)
        bias = np.zeros(arrays["recurrent"].shape[:3])
        found = backward(nothing, arrays["recurrent"], bias, states, *by, options)
        _put(tensors["input_gradient"], found.input)
        _put(tensors["recurrent_gradient"], found.recurrent)
        _put(tensors["initial_gradient"], found.initial)


def _put(tensor: Any, array: Any) -> None:
    import torch

    tensor.copy_(torch.from_numpy(np.ascontiguousarray(array)))
