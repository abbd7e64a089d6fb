"""Search spaces of auto-tuners as solution sets: parameters with lists of values, and restrictions on them.

space = from_tune_params({"bx": [16, 32, 64], "tile": [1, 2, 3]}, ["bx * tile <= 96", lambda p: …])
space.size, space[5], space.sample(10, seed=1), space.to_numpy(), space.neighbours(config)
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from constrint.diagrams.diagram import Diagram
from constrint.diagrams.layers import EdgeBudget, TooLargeDiagram, planning
from constrint.diagrams.parameters import checked, coded
from constrint.diagrams.planner import Condition, Planner, built_by
from constrint.diagrams.reading import read
from constrint.diagrams.restrictions import Parameters, Restriction
from constrint.diagrams.terms import Unsupported
from constrint.diagrams.tracing import Called, trace
from constrint.errors import EmptySpaceError, LimitError, ModelError
from constrint.solutions.solutionset import SolutionSet
from constrint.support.arguments import check_bytes, check_seconds
from constrint.support.deadline import Deadline, check_deadline
from constrint.support.limits import LimitExceeded, Limits, budget_for
from constrint.support.long_numbers import counted
from constrint.tuning import t1
from constrint.tuning.diagnostics import Given, Remarks

if TYPE_CHECKING:
    from concurrent.futures import Executor

Restrictions = Iterable["str | Callable[..., object]"]

__all__ = ["Space", "from_json", "from_tune_params", "to_t1"]


class Space(SolutionSet):
    """The set of valid configurations of a tuner's search space.

    An empty space has size 0 and iterates over nothing; samples and lists raise `EmptySpaceError` with the
    reason.

    Attributes:
        tune_params: The parameters with their values, as given.
        restrictions: The restrictions as Python expressions; None for those that could only be called.
        notes: Notes for the user: restrictions that could only be called or are undefined somewhere; for an
            empty space, the last one is the reason.
    """

    def __init__(
        self,
        tune_params: Mapping[str, Sequence[object]],
        diagrams: Sequence[Diagram] | None,
        labels: Mapping[int, Mapping[object, object]],
        notes: Sequence[str],
        restrictions: Sequence[str | None] = (),
    ) -> None:
        super().__init__(list(tune_params), diagrams, labels)
        self.tune_params = {name: list(values) for name, values in tune_params.items()}
        self.notes = tuple(notes)
        self.restrictions = tuple(restrictions)

    def __repr__(self) -> str:
        return (
            f"Space({self.size:,} of {counted(self.cartesian, 'configuration')} of {', '.join(self.names)})"
        )

    @property
    def cartesian(self) -> int:
        """Number of configurations before restrictions."""
        return prod(len(values) for values in self.tune_params.values())

    def facts(self) -> list[str]:
        """Facts about the space for people, except its size; one line each."""
        share = f"{self.size / self.cartesian:.3g} of all {self.cartesian:,} combinations of values"
        return [share, *super().facts(), *self.notes]

    def to_t1(self) -> dict[str, Any]:
        """The space in the auto-tuning interchange format T1, as data for JSON."""
        if None in self.restrictions:
            place = self.restrictions.index(None)
            raise ModelError(
                f"restriction {place + 1} can only be called, so T1 cannot hold it: give it as a string"
            )
        return to_t1(self.tune_params, [text for text in self.restrictions if text is not None])

    def _demand_any(self) -> None:
        if not self.size:
            raise EmptySpaceError(self.notes[-1])


def from_tune_params(
    tune_params: Mapping[str, Iterable[object]],
    restrictions: Restrictions | str | Callable[..., object] = (),
    *,
    memory_limit: int | None = None,
    time_limit: float | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
) -> Space:
    """Build the space of all configurations that every restriction allows.

    Args:
        tune_params: The values of each parameter: numbers, Booleans, or anything else with equality.
        restrictions: Python expressions over the names as strings (parsed, never evaluated), or callables
            that take parameters by name or one mapping of all. A restriction that raises an arithmetic error
            for a configuration, such as a division by zero, excludes it.
        memory_limit: Bytes that the space may take while it is built; 2 GB by default.
        time_limit: Seconds for the whole call; a single call of a callable is not interrupted.
        executor: Builds large spaces with the workers of any executor of `concurrent.futures`.
        workers: How many workers; without an executor, threads of this process.

    Returns:
        The space. The `notes` of an empty one say which restrictions exclude everything.

    Raises:
        ModelError: The parameters or restrictions are invalid.
        LimitError: The space cannot be built within the limits.
    """
    check_bytes(memory_limit)
    check_seconds(time_limit)
    started = perf_counter()
    if isinstance(restrictions, str) or callable(restrictions):
        restrictions = [restrictions]
    if isinstance(restrictions, Mapping) or not isinstance(restrictions, Iterable):
        raise ModelError(f"the restrictions are a list of strings and callables, not {restrictions!r}")
    budget = EdgeBudget.of_memory(memory_limit)
    budget.deadline = None if time_limit is None else started + time_limit
    try:
        with planning(Deadline(time_limit, started)):
            return _space(checked(tune_params), list(restrictions), budget, executor, workers)
    except (TooLargeDiagram, Unsupported) as problem:
        raise LimitError(
            f"the space cannot be built: {problem}. Give it more memory, or fewer values"
        ) from problem


def _space(
    values: dict[str, list[object]],
    listed: Sequence[str | Callable[..., object]],
    budget: EdgeBudget,
    executor: Executor | None,
    workers: int | None,
) -> Space:
    """The space of checked values and a list of restrictions."""
    domains, limits, labels = coded(values)
    parameters = Parameters({name: v for v, name in enumerate(values)}, labels)
    given = [_parts(restriction, parameters, list(values.values())) for restriction in listed]
    texts = [one if isinstance(one, str) else _text(parts) for one, parts in zip(listed, given, strict=True)]
    conditions: list[Condition] = [part for parts in given for part in parts]
    planner = Planner(domains, limits, conditions)
    built = built_by(planner, budget, executor, workers, lambda: _source(values, texts))
    feasible = planner.feasible and (built or not values)
    notes = Remarks(list(values), domains, limits, labels, given).all(not feasible)
    return Space(values, [c.diagram for c in built] if feasible else None, labels, notes, texts)


def _source(values: Mapping[str, list[object]], texts: Sequence[str | None]) -> dict[str, object]:
    """The plan that a worker builds the space from: plain values and texts."""
    if None in texts:
        raise ModelError(
            f"restriction {texts.index(None) + 1} can only be called, so it cannot be sent to workers: "
            "give it as a string, or build with workers= and no executor"
        )
    for name, given in values.items():
        for value in given:
            if not isinstance(value, bool | int | float | str | None):
                raise ModelError(
                    f"'{name}' has the value {value!r}, which cannot be sent to workers: only numbers, "
                    "strings, Booleans and None can. Build without an executor"
                )
    return {"tune_params": dict(values), "restrictions": list(texts)}


def _parts(
    restriction: str | Callable[..., object], parameters: Parameters, values: Sequence[Sequence[object]]
) -> Given:
    """The parts of a restriction: parsed, traced, or to be called."""
    check_deadline()
    if isinstance(restriction, str):
        return read(restriction, parameters, values)
    if callable(restriction):
        traced = trace(restriction, parameters, values)
        return [traced] if isinstance(traced, Called) else traced
    raise ModelError(f"a restriction is a string or a callable, not {restriction!r}")


def _text(parts: Given) -> str | None:
    """A restriction as an expression; None if it can only be called."""
    trees = [part.tree for part in parts if isinstance(part, Restriction)]
    if len(trees) < len(parts):
        return None
    names = {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if any(map(keyword.iskeyword, names)):
        return None
    try:
        return ast.unparse(trees[0] if len(trees) == 1 else ast.BoolOp(ast.And(), trees))
    except ValueError:  # Python refuses to print integers of more than 4300 digits
        return None


def from_json(
    source: str | Path | Mapping[str, object],
    *,
    filename: str = "",
    limits: Limits | None = None,
    memory_limit: int | None = None,
    time_limit: float | None = None,
) -> Space:
    """The space of a JSON file or of parsed JSON.

    Two formats are read: `{"tune_params": {…}, "restrictions": […]}`, and the auto-tuning interchange format
    T1 (`ConfigurationSpace` with `TuningParameters` and `Conditions`).

    Args:
        source: The file, or its content.
        filename: The name in messages of content that is not from a file.
        limits: Limits of its size; `Limits()` has the defaults.
        memory_limit: Bytes that the space may take while it is built; 2 GB by default.
        time_limit: Seconds for reading and building.
    """
    budget = budget_for(limits, time_limit)
    file = filename if isinstance(source, Mapping) else str(source)
    prefix = f"{file}: " if file else ""
    data = source if isinstance(source, Mapping) else t1.read_file(source, budget)
    try:
        tune_params, restrictions = t1.described(data, budget)
        return from_tune_params(
            tune_params, restrictions, memory_limit=memory_limit, time_limit=budget.seconds_left
        )
    except LimitExceeded as problem:
        raise LimitExceeded(
            problem.name, problem.limit, f"{prefix}{problem.where}".removesuffix(": ")
        ) from None
    except LimitError as problem:
        raise type(problem)(f"{prefix}{problem}") from None
    except ModelError as problem:
        raise ModelError(f"{prefix}{problem}") from None


def to_t1(tune_params: Mapping[str, Sequence[object]], restrictions: Sequence[str]) -> dict[str, Any]:
    """The T1 description of parameters and restrictions, as data for JSON."""
    values = checked(tune_params)
    parameters = Parameters({name: v for v, name in enumerate(values)}, coded(values)[2])
    names = list(values)
    scopes = []
    for text in restrictions:
        scope = 0
        for part in read(text, parameters, list(values.values())):
            scope |= part.scope
        scopes.append([name for v, name in enumerate(names) if scope >> v & 1])
    return t1.description(values, list(zip(restrictions, scopes, strict=True)))
