"""The space of a user's kernel: what is chosen, and what fits the GPU.

Either parameters with lists of values and restrictions in Python's syntax, or a constraint file, whose
numbers `threads`, `shared_memory`, `registers` and `blocks_per_sm` are held against the profile's limits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from constrint import Model
from constrint.errors import ConstrintError
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params
from kerneltune.errors import InfeasibleError, InputError
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.offered import named_in

Constraint = str | Callable[..., object]
# Most blocks and threads along each axis of a launch, on every GPU (CUDA C++ Programming Guide).
MOST_OF_AXIS = {
    "grid_x": 2**31 - 1,
    "grid_y": 65535,
    "grid_z": 65535,
    "block_x": 1024,
    "block_y": 1024,
    "block_z": 64,
}
RESOURCES = ("threads", "shared_memory", "registers", "blocks_per_sm")
LIMITS = {
    "threads": "threads <= max_threads_per_block",
    "shared_memory": "shared_memory <= smem_per_block_optin",
    "registers": "registers <= max_registers_per_thread",
    "blocks_per_sm": "blocks_per_sm <= max_blocks_per_sm",
}
# With the number of blocks per SM: what they take together (as in occupancy.py).
TOGETHER = {
    "threads": "ceildiv(threads, warp_size) * warp_size * blocks_per_sm <= max_threads_per_sm",
    "shared_memory": "(ceildiv(shared_memory, smem_alloc_granularity) * smem_alloc_granularity"
    " + smem_reserved_per_block) * blocks_per_sm <= smem_per_sm",
    "registers": "registers <= registers_per_sm // sm_sub_partitions // warp_size"
    " // ceildiv(ceildiv(threads, warp_size) * blocks_per_sm, sm_sub_partitions) // 8 * 8",
}


def limits_of(profile: HardwareProfile | None) -> dict[str, int]:
    """The limits of a profile by name; nothing without one."""
    if profile is None:
        return {}
    return {name: value for name, value in profile.capabilities.items() if name not in profile.cost}


def space_of_file(
    text: str, constants: Mapping[str, int], profile: HardwareProfile | None, where: str
) -> tuple[SolutionSet, Model]:
    """All configurations of a constraint file that fit the profile, and the model that has them.

    Raises:
        InputError: The text is wrong.
        InfeasibleError: Nothing fits.
    """
    try:
        given = Model.from_text(text, filename=where, constants=named_in(text, constants))
        names = {*given.variables, *given.lets}
        lines = [] if profile is None else _limits(names)
        full = "\n".join([text, *lines])
        whole = Model.from_text(full, filename=where, constants=named_in(full, constants))
        found = whole.solutions()
    except ConstrintError as error:
        raise InputError(str(error)) from None
    if not found.size:
        conflict = whole.explain()
        raise InfeasibleError(f"{where}: no configuration fits" + (f":\n{conflict}" if conflict else ""))
    return found, whole


def _limits(names: set[str]) -> list[str]:
    lines = [line for name, line in LIMITS.items() if name in names]
    if "blocks_per_sm" in names:
        lines += [line for name, line in TOGETHER.items() if {name, "threads"} & names == {name, "threads"}]
        if "threads" not in names and "shared_memory" in names:
            lines.append(TOGETHER["shared_memory"])
    return [f"fits_{number}: {line}" for number, line in enumerate(lines)]


def space_of_parameters(
    params: Mapping[str, Iterable[object]],
    constraints: Sequence[Constraint],
    constants: Mapping[str, int],
    numbers: Mapping[str, object],
    profile: HardwareProfile | None,
) -> SolutionSet:
    """All configurations of plain parameters that the constraints and the profile's limits allow.

    Args:
        params: The values of each parameter.
        constraints: Python expressions over parameters and constants, and callables.
        constants: Sizes and limits by name.
        numbers: The launch: `threads` and `shared_memory` are limited where Python's syntax can say them.
        profile: The GPU.

    Raises:
        InputError: A parameter or constraint is wrong.
        InfeasibleError: Nothing is valid.
    """
    listed: list[Any] = []
    for one in constraints:
        text = with_constants(one, constants, params) if isinstance(one, str) else None
        listed.append(one if text is None else text)
    for name, line in LIMITS.items() if profile is not None else ():
        number = numbers.get(name)
        if isinstance(number, str) and _is_known(number, params, constants):
            limit = line.replace(name, f"({number})", 1)
            text = with_constants(limit, constants, params)
            if text is not None:
                listed.append(text)
    listed += _launches(params, constants, numbers)
    try:
        found = from_tune_params(params, listed)
    except ConstrintError as error:
        raise InputError(f"constraints: {error}") from None
    if not found.size:
        raise InfeasibleError(_empty(found.notes[-1], listed))
    return found


def _empty(note: str, conditions: Sequence[object]) -> str:
    """The note on an empty space, with the condition that it names as the user writes it."""
    for one in conditions:
        if isinstance(one, str) and one in note:
            return note.replace(one, as_written(one))
    return note


def _launches(
    params: Mapping[str, Iterable[object]], constants: Mapping[str, int], numbers: Mapping[str, object]
) -> list[str]:
    """Conditions of what can be launched, where plain arithmetic of the parameters gives the numbers."""
    found = []
    for name, most in MOST_OF_AXIS.items():
        given = numbers.get(name)
        if isinstance(given, int) and not 1 <= given <= most:
            raise InputError(f"{name[:-2]}: {given} along {name[-1]} is no launch: it is 1 to {most}")
        text = with_constants(given, constants, params) if isinstance(given, str) else None
        if text is not None and _is_plain(text, params):
            found += [f"{text} >= 1", f"{text} <= {most}"]
    return found


def _is_plain(text: str, params: Iterable[str]) -> bool:
    known = set(params)
    for node in ast.walk(ast.parse(text, mode="eval").body):
        if isinstance(node, ast.Name) and node.id not in known:
            return False
        if not isinstance(node, _PLAIN):
            return False
    return True


def _is_known(text: str, params: Iterable[str], constants: Iterable[str]) -> bool:
    """Whether an expression has no names but parameters, constants and functions; others are told later."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_name(node.func)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names <= {*params, *constants, *called}


def _is_name(node: ast.expr) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def as_written(text: str) -> str:
    """A condition of `with_constants` with `ceildiv` in its place."""
    try:
        return ast.unparse(_Written().visit(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def with_constants(text: str, constants: Mapping[str, int], params: Iterable[str]) -> str | None:
    """A Python expression with numbers for constants and without `ceildiv`; None if it is no Python."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    chosen = set(params)
    return ast.unparse(_Replaced({k: v for k, v in constants.items() if k not in chosen}).visit(tree))


_PLAIN = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.expr_context, ast.operator, ast.unaryop)


class _Replaced(ast.NodeTransformer):
    def __init__(self, constants: Mapping[str, int]) -> None:
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._constants:
            return ast.Constant(self._constants[node.id])
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "ceildiv" and len(node.args) == 2:
            upper, lower = node.args
            rounded = ast.BinOp(ast.UnaryOp(ast.USub(), upper), ast.FloorDiv(), lower)
            return ast.UnaryOp(ast.USub(), rounded)
        return node


class _Written(ast.NodeTransformer):
    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        inner = node.operand
        if (
            isinstance(node.op, ast.USub)
            and isinstance(inner, ast.BinOp)
            and isinstance(inner.op, ast.FloorDiv)
            and isinstance(inner.left, ast.UnaryOp)
            and isinstance(inner.left.op, ast.USub)
        ):
            return ast.Call(ast.Name("ceildiv"), [inner.left.operand, inner.right], [])
        return node
