"""Kernel Tuner's ways of describing a launch, as a `Description`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from constrint.diagrams.interpreted import interpreted
from constrint.diagrams.python_text import parsed
from constrint.errors import ConstrintError
from constrint.tuning.spaces import Space
from kerneltune.errors import InputError
from kerneltune.sources.arguments import Argument, In, InOut
from kerneltune.sources.description import Description

BLOCKS = ("block_size_x", "block_size_y", "block_size_z")
Metric = Callable[[Mapping[str, Any], Mapping[str, float]], float]


def expression(text: str, where: str) -> Metric:
    """A Python expression over parameters and objectives, interpreted by constrint."""
    import ast

    try:
        tree = parsed(text, where)
        words = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
        function, names = interpreted(tree, words)
    except (ConstrintError, ValueError) as error:
        raise InputError(f"{where}: {error}") from None

    def value(configuration: Mapping[str, Any], objectives: Mapping[str, float]) -> float:
        known = {**configuration, **objectives}
        return float(function(**{name: known[name] for name in names}))

    return value


def description_of(given: Mapping[str, Any], space: Space) -> Description:
    """The description of Kernel Tuner's arguments."""
    names = list(given.get("block_size_names") or BLOCKS)
    names += list(BLOCKS[len(names) :])
    size = given["problem_size"]
    divisors = [given[f"grid_div_{axis}"] for axis in "xyz"]
    if all(one is None for one in divisors):
        divisors = [[names[0]], None, None]
    whole = _whole_size(size)

    def grid(axis: int) -> Callable[[Mapping[str, object]], int]:
        def blocks(values: Mapping[str, object]) -> int:
            return math.ceil(whole(values, axis) / _divisor(divisors[axis], values))

        return blocks

    def block(axis: int) -> Callable[[Mapping[str, Any]], int]:
        return lambda values: int(values.get(names[axis], 1))

    shared = (given.get("smem_args") or {}).get("size")
    return Description(
        given["kernel_source"],
        entry=given["kernel_name"],
        kind="cuda",
        name=str(given["kernel_name"]).partition("<")[0],
        params=space.tune_params,
        constraints=[text for text in space.restrictions if text is not None]
        + [lambda p: dict(p) in space] * (None in space.restrictions),
        arguments=_arguments(given["arguments"], given.get("answer")),
        grid=[grid(axis) for axis in range(3)],
        block=[block(axis) for axis in range(3)],
        shared_memory=None if shared is None else _number(shared, "smem_args"),
        constants=dict(given.get("cmem_args") or {}),
        options=[str(one) for one in given.get("compiler_options") or []],
        defines={name: str(value) for name, value in (given.get("defines") or {}).items()},
    )


def _arguments(arguments: Sequence[object], answer: Sequence[object] | None) -> list[object]:
    """Arrays may be written unless answers say which are."""
    if not isinstance(arguments, list | tuple):
        raise InputError("arguments: a list of numpy arrays and numbers")
    found: list[Argument | Any] = []
    for place, one in enumerate(arguments):
        if not isinstance(one, np.ndarray):
            found.append(one)
        else:
            written = answer is None or answer[place] is not None
            found.append(InOut(one) if written else In(one))
    return found


def _whole_size(size: object) -> Callable[[Mapping[str, object], int], int]:
    """The problem's size along an axis."""

    def whole(values: Mapping[str, Any], axis: int) -> int:
        found = size(values) if callable(size) else size
        listed = list(found) if isinstance(found, list | tuple | np.ndarray) else [found]
        return 1 if axis >= len(listed) else _number(listed[axis], "problem_size")(values)

    return whole


def _divisor(given: Any, values: Mapping[str, Any]) -> float:
    if given is None or (isinstance(given, list | tuple) and not given):
        return 1
    if callable(given):
        given = given(values)
    listed = given if isinstance(given, list | tuple) else [given]
    return math.prod(_number(one, "grid_div")(values) for one in listed)


def _number(given: Any, where: str) -> Callable[[Mapping[str, Any]], int]:
    """A number, an expression or a function as a function of the parameters."""
    if callable(given):
        return lambda values: int(given(dict(values)))
    if isinstance(given, str):
        found = expression(given, where)
        return lambda values: int(found(values, {}))
    return lambda values: int(given)
