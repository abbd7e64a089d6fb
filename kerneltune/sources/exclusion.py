"""Why a configuration of a user's kernel is excluded: the conditions that it breaks, and the nearest."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from constrint import Model
from constrint.errors import ConstrintError
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import Space, from_tune_params
from kerneltune.errors import InfeasibleError, InputError
from kerneltune.sources.kernel import Kernel
from kerneltune.sources.numbers import Configuration, Numbers
from kerneltune.sources.space import as_written

UNDEFINED = "undefined"
MOST_CHANGED = 3  # parameters of the nearest configurations that differ
_COMPARED = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "==", ast.NotEq: "!="}


@dataclass(frozen=True)
class Exclusion:
    """Why a configuration is not in a space.

    Attributes:
        configuration: It.
        reasons: The conditions that it breaks, each with its values; empty if it is in the space and can be
            launched.
        nearest: Configurations of the space that differ in the fewest parameters.
    """

    configuration: Configuration
    reasons: Sequence[str]
    nearest: Sequence[Configuration]


def why(kernel: Kernel, configuration: Configuration, nearest: int = 3) -> Exclusion:
    """The reasons why a configuration is excluded.

    Args:
        kernel: The kernel, on the GPU of its profile.
        configuration: A value of each parameter, which need not be one of those that are tried.
        nearest: How many of the nearest valid configurations are given.
    """
    reasons = list(_values(kernel.space, configuration))
    if isinstance(kernel.space, Space):
        reasons += _restrictions(kernel.space, configuration)
    elif not reasons and kernel.model is not None and configuration not in kernel.space:
        reasons += _conflict(kernel.model, configuration)
    if not reasons:
        try:
            kernel.order(configuration)
        except InfeasibleError as error:
            reasons.append(str(error))
    found = islice(_nearest(kernel.space, configuration), nearest) if reasons else ()
    return Exclusion(configuration, reasons, list(found))


def _values(space: SolutionSet, configuration: Configuration) -> Iterator[str]:
    """Parameters whose value is never tried."""
    for name, value in configuration.items():
        known = list(space.tune_params[name] if isinstance(space, Space) else space.value_counts(name))
        if value not in known:
            yield f"{name} = {value}: it is never {value}, but {', '.join(map(str, known[:20]))}"


def _restrictions(space: Space, configuration: Configuration) -> list[str]:
    one, found = {name: [value] for name, value in configuration.items()}, []
    for text in space.restrictions:
        if text is None:
            continue
        if not _allows(one, text):
            found.append(_broken(text, configuration))
    found = list(dict.fromkeys(found))  # a restriction may be a limit of the GPU, too
    if not found and None in space.restrictions and configuration not in space:
        found.append("a condition that is a function excludes it")
    return found


def _allows(one: Mapping[str, list[object]], text: str) -> bool:
    return bool(from_tune_params(one, [text]).size)


def _broken(text: str, configuration: Configuration) -> str:
    """A restriction, with the values of both sides if they are integers; or a side that has no value."""
    written = as_written(text)
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return written
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in _COMPARED:
        return written
    texts = [ast.unparse(side) for side in (tree.left, tree.comparators[0])]
    sides = [_value(side, configuration) for side in texts]
    if UNDEFINED in sides:
        return f"{texts[sides.index(UNDEFINED)]} has no value"
    if None in sides:
        return written
    return f"{written} ({sides[0]} {_COMPARED[type(tree.ops[0])]} {sides[1]} is false)"


def _value(text: str, configuration: Configuration) -> int | str | None:
    """The value of a side; `UNDEFINED` as after a division by 0, None if it is no integer."""
    try:
        values = {name: [value] for name, value in configuration.items()}
        numbers = Numbers({"side": text}, values, {})
    except InputError:
        return None
    try:
        return numbers.of(configuration)["side"]
    except InputError:
        return UNDEFINED


def _conflict(model: Model, configuration: Configuration) -> list[str]:
    """The lines of a constraint file that exclude a configuration."""
    model = model.copy()
    for name, value in configuration.items():
        model.add(model.variables[name] == int(value), name=f"asked_{name}")
    conflict = model.explain()
    lines = [] if conflict is None else [str(one) for one in conflict.constraints]
    return [line for line in lines if "asked_" not in line] or ["the constraints exclude it"]


def _nearest(space: SolutionSet, configuration: Configuration) -> Iterator[Configuration]:
    """Configurations of the space that differ in as few parameters as any do."""
    names = list(configuration)
    for count in range(1, min(MOST_CHANGED, len(names)) + 1):
        is_found = False
        for changed in combinations(names, count):
            kept = {name: value for name, value in configuration.items() if name not in changed}
            try:
                near = space.given(**kept)
            except ConstrintError:  # a value that is never tried
                continue
            for one in islice(near, 2):
                is_found = True
                yield {name: one[name] for name in names}
        if is_found:
            return
