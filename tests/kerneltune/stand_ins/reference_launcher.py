"""A launcher that is none: it computes what kernels do by the cells' float64 references, on the CPU."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.problem import Problem
from kerneltune.running.recurrence import GradientOptions


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
        arrays = {name: tensor.detach().double().numpy() for name, tensor in tensors.items()}
        (self._backward if problem.direction == "backward" else self._forward)(problem, tensors, arrays)

    def _forward(self, problem: Problem, tensors: Any, arrays: dict[str, Any]) -> None:
        module = self.kernels.cell(problem.cell).reference_module()
        parts = [arrays[name] for name in ("input", "recurrent", "bias")]
        states = module.forward(*parts, arrays["states"][:, 0], problem.forward_clip)
        _put(tensors["states"], states)
        if problem.direction == "training":
            values, floats = module.saved(*parts, states)
            for name, found in (("saved_values", values), ("saved_states", floats)):
                if name in tensors:
                    _put(tensors[name], found)

    def _backward(self, problem: Problem, tensors: Any, arrays: dict[str, Any]) -> None:
        spec = self.kernels.cell(problem.cell).spec
        module = self.kernels.cell(problem.cell).reference_module()
        states, values = arrays["states"], arrays.get("saved_values")
        shape = (*states[0, 1:].shape, len(spec.gates))
        # The reference takes what the forward pass saved from its inputs, which kernels do not get.
        names = {**vars(module), "saved": lambda *_: (values, arrays.get("saved_states"))}
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
