"""Cells of equations in torch's own operations, and their names in this process."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import torch

from kerneltune.cells.graph import Node, behind
from kerneltune.cells.numbers import OPERATORS, Gates, Operations, computed, leaf_value
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import Cell, discover
from kerneltune.inputs.equation_cell import KNOWN, EquationCell
from kerneltune.inputs.scan_descriptions import ScanCell

if TYPE_CHECKING:
    from kerneltune.cells.array_reference import ArrayReference
    from kerneltune.cells.derivation import Derivation
    from kerneltune.cells.scan_reference import DerivedScanReference

States = tuple[torch.Tensor, ...]
Step: TypeAlias = "Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None, States], States]"


def recurrent_cell(cell: str) -> Cell:
    """The cell of this name; raises `InputError` for one without R."""
    found = discover().cell(cell)
    if isinstance(found, ScanCell):
        raise InputError(
            f"no gate of {found.spec.name} has R h: it is a scan, for kerneltune.torch.scan and ScanLayer"
        )
    return found


Equations = tuple[str, ...]


def equations_of(cell: str) -> Equations | None:
    """The texts of a cell of equations by its key, to be saved with a layer."""
    found = KNOWN.get(cell)
    return None if found is None else found.texts


def make_known(equations: Equations | None) -> None:
    """Make saved equations known in this process, which loads a layer."""
    if equations:
        found = EquationCell.of_texts(*equations)
        KNOWN.setdefault(found.key, found)


@cache
def step_of(cell: str) -> Step | None:
    """A step of a cell of equations; None for any other cell.

    Its arguments are W x and R h + b, each `[B, H, D, G]`, the weights of the units, `[H, P, D]` or None, and
    the states before the step.
    """
    found = discover().cell(cell)
    if not isinstance(found, EquationCell):
        return None
    equations = found.derivation.equations
    leaves = [node for node in equations.graph.nodes if not node.args and node.op != "seed"]
    order = behind(equations.after, leaves)
    read, alone = {node.op for node in leaves}, _constants_alone(equations.graph.nodes)

    def step(x: torch.Tensor, product: torch.Tensor, weights: torch.Tensor | None, states: States) -> States:
        gates = Gates(
            x.unbind(-1) if "input" in read else (),
            product.unbind(-1) if "product" in read else (),
            (x + product).unbind(-1) if "total" in read else (),
        )
        known = {
            node: leaf_value(node, gates, states, weights, x.new_tensor if node in alone else float)
            for node in leaves
        }
        values = computed(equations.after, known, OPERATIONS, order)
        return tuple(values[node].expand_as(states[0]) for node in equations.after)

    return step


def _constants_alone(nodes: Sequence[Node]) -> set[Node]:
    """The numbers that stand where an operation takes tensors alone; elsewhere a float is as good."""
    found: set[Node] = set()
    for node in nodes:
        numbers = [arg for arg in node.args if arg.op == "constant"]
        if numbers and (node.op not in MIXED or len(numbers) == len(node.args)):
            found |= set(numbers)
    used = {arg for node in nodes for arg in node.args}
    return found | {node for node in nodes if node.op == "constant" and node not in used}


def _larger(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """As the kernels have it: of equal ones the first has the gradient, and a NaN is kept."""
    return torch.where((a >= b) | (a != a), a, b)


def _smaller(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where((a <= b) | (a != a), a, b)


def _surrogate(value: torch.Tensor, argument: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
    return value.detach() + slope * (argument - argument.detach())


OPERATIONS: Operations = {
    **OPERATORS,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": torch.neg,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "softplus": lambda x: -torch.nn.functional.logsigmoid(-x),
    "erf": torch.erf,
    "abs": torch.abs,
    "sign": torch.sign,
    "relu": torch.relu,
    "max": _larger,
    "min": _smaller,
    "at_least": operator.ge,
    "greater": operator.gt,
    "select": torch.where,
    "surrogate": _surrogate,
}
"""The meaning of each operation."""
MIXED = ("add", "sub", "mul", "div", "at_least", "greater")
"""Operations of a tensor and a float."""


def scan_functions(derivation: Derivation) -> DerivedScanReference:
    """The functions of a cell without R, for tensors."""
    from kerneltune.cells.scan_reference import DerivedScanReference

    return DerivedScanReference(
        derivation,
        OPERATIONS,
        spread=lambda value, like: value.expand_as(like),
        constant=lambda value, like: like.new_tensor(value),
    )


def array_functions(derivation: Derivation) -> ArrayReference:
    """The functions of a cell whose numbers of a channel lie side by side, for tensors."""
    from kerneltune.cells.array_reference import ArrayReference

    return ArrayReference(scan_functions(derivation), lambda numbers: torch.stack(tuple(numbers), -1))
