"""Kernel Tuner's ways of describing a launch, as a `Description`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from constrint.diagrams.interpreted import interpreted
from constrint.diagrams.python_text import parsed
from constrint.errors import ConstrintError
from constrint.tuning.spaces import Space
from kerneltune.errors import InputError
from kerneltune.measuring.held_arrays import is_array
from kerneltune.sources.arguments import NUMBER, Argument, In, InOut, number
from kerneltune.sources.description import Description

BLOCKS = ("block_size_x", "block_size_y", "block_size_z")
BLOCK_SIZE = 256  # threads along x where no parameter says how many, as in Kernel Tuner
Metric = Callable[[Mapping[str, Any], Mapping[str, float]], float]


def value_of(text: str, where: str, configuration: Mapping[str, Any]) -> Any:
    """The value of a Python expression over parameters, interpreted by constrint."""
    function, names = _read(text, where)
    return function(**{name: configuration[name] for name in names})


def expression(text: str, where: str) -> Metric:
    """A Python expression over parameters and objectives, interpreted by constrint."""
    function, names = _read(text, where)

    def value(configuration: Mapping[str, Any], objectives: Mapping[str, float]) -> float:
        known = {**configuration, **objectives}
        return float(function(**{name: known[name] for name in names}))

    return value


def _read(text: str, where: str) -> tuple[Callable[..., Any], Sequence[str]]:
    import ast

    try:
        tree = parsed(text, where)
        words = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
        return interpreted(tree, words)
    except (ConstrintError, ValueError) as error:
        raise InputError(f"{where}: {error}") from None


def description_of(given: Mapping[str, Any], space: Space) -> Description:
    """The description of Kernel Tuner's arguments."""
    names = list(given.get("block_size_names") or BLOCKS)
    names += list(BLOCKS[len(names) :])
    size = given["problem_size"]
    divisors = [given[f"grid_div_{axis}"] for axis in "xyz"]
    whole = _whole_size(size)

    def grid(axis: int) -> Callable[[Mapping[str, object]], int]:
        def blocks(values: Mapping[str, object]) -> int:
            own = values.get(names[axis], 1) if divisors[axis] is None else _divisor(divisors[axis], values)
            return math.ceil(whole(values, axis) / _positive(own, f"grid_div_{'xyz'[axis]}"))

        return blocks

    def block(axis: int) -> Callable[[Mapping[str, Any]], int]:
        return lambda values: int(values.get(names[axis], BLOCK_SIZE if axis == 0 else 1))

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
        takes=_takes(given["arguments"]),
        grid=[grid(axis) for axis in range(3)],
        block=[block(axis) for axis in range(3)],
        shared_memory=None if shared is None else _number(shared, "smem_args"),
        constants=dict(given.get("cmem_args") or {}),
        options=[str(one) for one in given.get("compiler_options") or []],
        defines={name: str(value) for name, value in (given.get("defines") or {}).items()},
    )


def _arguments(arguments: Sequence[Any], answer: Sequence[object] | None) -> list[object]:
    """The arguments, of a `Tunable` all its arrays; arrays may be written unless answers say which are."""
    if not isinstance(arguments, list | tuple):
        raise InputError("arguments: a list of numpy arrays and numbers")
    if isinstance(answer, list | tuple) and len(answer) != len(arguments):
        raise InputError(
            f"answer has {len(answer)} entries, but there are {len(arguments)} arguments: give one for each, "
            "None for those that are not compared"
        )
    found: list[Argument] = []
    for place, one in enumerate(arguments):
        is_written = not isinstance(answer, list | tuple) or answer[place] is not None
        for name, value in _variants(place, one):
            if is_array(value):
                found.append(InOut(value, name) if is_written else In(value, name))
            else:
                found.append(Argument(NUMBER, number(value, f"argument {place + 1}"), name))
    return list(found)


def _variants(place: int, given: Any) -> Iterator[tuple[str, Any]]:
    """The values of an argument with their names: one, or those of a `Tunable`."""
    if not hasattr(given, "option_of"):
        yield f"arg{place}", given
        return
    for n, one in enumerate(given.values()):
        for name, value in _variants(place, one):
            yield f"{name}_{n}", value


def name_of(place: int, given: Any, configuration: Mapping[str, Any]) -> str:
    """The name of the argument that a configuration takes at a place."""
    numbers: list[str] = []
    while hasattr(given, "option_of"):
        option = given.option_of(configuration)
        numbers.insert(0, str(list(given).index(option)))
        given = given[option]
    return "_".join([f"arg{place}", *numbers])


def chosen(given: Any, configuration: Mapping[str, Any]) -> Any:
    """The argument of a configuration: of a `Tunable` one of its arrays."""
    return given.select_for_configuration(configuration) if hasattr(given, "option_of") else given


def _takes(arguments: Sequence[Any]) -> Callable[[Mapping[str, Any]], list[str]] | None:
    """The names of the arguments that a configuration takes; None where all take all."""
    if not any(hasattr(one, "option_of") for one in arguments):
        return None

    def names(configuration: Mapping[str, Any]) -> list[str]:
        try:
            return [name_of(place, one, configuration) for place, one in enumerate(arguments)]
        except KeyError as error:
            raise InputError(str(error.args[0])) from None

    return names


def _whole_size(size: object) -> Callable[[Mapping[str, object], int], int]:
    """The problem's size along an axis."""

    def whole(values: Mapping[str, object], axis: int) -> int:
        found = size(values) if callable(size) else size
        listed = list(found) if isinstance(found, list | tuple | np.ndarray) else [found]
        return 1 if axis >= len(listed) else _number(listed[axis], "problem_size")(values)

    return whole


def _divisor(given: object, values: Mapping[str, object]) -> float:
    if callable(given):
        given = given(values)
    listed = given if isinstance(given, list | tuple) else [given]
    return math.prod(_number(one, "grid_div")(values) for one in listed)


def _positive(divisor: Any, where: str) -> float:
    if not divisor > 0:
        raise InputError(f"{where}: the divisor is {divisor}, but must be above 0")
    return float(divisor)


def _number(given: Any, where: str) -> Callable[[Mapping[str, Any]], int]:
    """A number, an expression or a function as a function of the parameters."""
    if callable(given):
        return lambda values: int(given(dict(values)))
    if isinstance(given, str):
        found = expression(given, where)
        return lambda values: int(found(values, {}))
    return lambda values: int(given)
