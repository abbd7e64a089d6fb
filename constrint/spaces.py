"""Search spaces of auto-tuners as solution sets: parameters with lists of values, and restrictions on them.

space = from_tune_params({"bx": [16, 32, 64], "tile": [1, 2, 3]}, ["bx * tile <= 96", lambda p: …])
space.size, space[5], space.sample(10, seed=1), space.to_numpy(), space.neighbours(config)
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from constrint.errors import LimitError, ModelError
from constrint.plan.diagram import Diagram
from constrint.plan.evaluate import Frame, Parts
from constrint.plan.layers import Budget, TooLarge
from constrint.plan.restrictions import Parameters, Restriction, parse
from constrint.plan.terms import FLOAT, INT64, OBJECT, Array, Terms, Unsupported
from constrint.plan.tracing import Called, trace
from constrint.planner import Condition, Planner
from constrint.solutionset import SolutionSet

Restrictions = Iterable["str | Callable[..., Any]"]
MOST_CHECKED = 100_000  # combinations of values that are looked at to report undefined restrictions


class Space(SolutionSet):
    """The valid configurations of a tuner's search space.

    Attributes:
        tune_params: The parameters with their values, as given.
        notes: What a user should know: restrictions that could only be called, or are undefined somewhere.
    """

    def __init__(
        self,
        tune_params: Mapping[str, Sequence[Any]],
        diagrams: Sequence[Diagram] | None,
        labels: Mapping[int, Mapping[Any, Any]],
        notes: Sequence[str],
    ) -> None:
        super().__init__(list(tune_params), diagrams, labels)
        self.tune_params = {name: list(values) for name, values in tune_params.items()}
        self.notes = tuple(notes)

    @property
    def cartesian(self) -> int:
        """Number of configurations before restrictions."""
        return prod(len(values) for values in self.tune_params.values())


def from_tune_params(
    tune_params: Mapping[str, Iterable[Any]],
    restrictions: Restrictions | str | Callable[..., Any] = (),
    *,
    memory_limit: int | None = None,
) -> Space:
    """Build the space of all configurations that every restriction allows.

    Args:
        tune_params: The values of each parameter: numbers, Booleans, or anything else with equality.
        restrictions: Python expressions over the names as strings (parsed, never evaluated), or callables
            that take parameters by name or one mapping of all. A restriction that raises an arithmetic
            error for a configuration, such as a division by zero, does not allow it.
        memory_limit: Bytes that the space may take while it is built; 1 GB by default.

    Returns:
        The space. An empty one says in its `notes` which restriction excludes all, where one does.
    """
    if isinstance(restrictions, str) or callable(restrictions):
        restrictions = [restrictions]
    values = _checked(tune_params)
    domains, limits, labels = _coded(values)
    parameters = Parameters({name: v for v, name in enumerate(values)}, labels)
    conditions: list[Restriction | Called] = []
    for restriction in restrictions:
        if isinstance(restriction, str):
            conditions += parse(restriction, parameters)
        elif callable(restriction):
            traced = trace(restriction, parameters, list(values.values()))
            conditions += [traced] if isinstance(traced, Called) else traced
        else:
            raise ModelError(f"a restriction is a string or a callable, not {restriction!r}")
    return _build(values, domains, limits, labels, conditions, memory_limit)


def _build(
    values: Mapping[str, list[Any]],
    domains: Sequence[Array],
    limits: Sequence[tuple[int, int]],
    labels: Mapping[int, Mapping[Any, Any]],
    conditions: Sequence[Restriction | Called],
    memory_limit: int | None,
) -> Space:
    budget = Budget()
    if memory_limit is not None:
        budget.edges = max(1, memory_limit // 20)
    listed: list[Condition] = list(conditions)
    try:
        planner = Planner(domains, limits, listed)
        built = planner.build(budget)
    except (TooLarge, Unsupported) as problem:
        raise LimitError(
            f"the space cannot be built: {problem}. Give it more memory, or fewer values"
        ) from problem
    notes = [
        f"{c.text} could not be traced and was called for each combination of {', '.join(c.names)}"
        for c in conditions
        if isinstance(c, Called)
    ]
    notes += _undefined(domains, limits, conditions)
    feasible = planner.feasible and (built or not values)
    if not feasible:
        notes += _why_empty(domains, limits, conditions)
    return Space(values, [c.diagram for c in built] if feasible else None, labels, notes)


def _checked(tune_params: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    """The values as lists of Python objects."""
    checked: dict[str, list[Any]] = {}
    for name, given in tune_params.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ModelError(f"a parameter's name must be an identifier, not {name!r}")
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ModelError(f"'{name}': the values must be a list, not {given!r}")
        values = [value.item() if isinstance(value, np.generic) else value for value in given]
        if not values:
            raise ModelError(f"'{name}' has no values")
        seen: list[Any] = []
        if len({_key(value) for value in values}) < len(values):
            for value in values:
                if value in seen:
                    raise ModelError(f"'{name}' has the value {value!r} twice")
                seen.append(value)
        checked[name] = values
    return checked


def _key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def _coded(
    values: Mapping[str, list[Any]],
) -> tuple[list[Array], list[tuple[int, int]], dict[int, dict[Any, Any]]]:
    """Numbers for the values of each parameter, their limits, and what numbers stand for what is none."""
    domains: list[Array] = []
    limits: list[tuple[int, int]] = []
    labels: dict[int, dict[Any, Any]] = {}
    for v, given in enumerate(values.values()):
        if all(type(value) is int for value in given):
            wide = max(map(abs, given)) >= 1 << 62
            domains.append(np.array(sorted(given), dtype=OBJECT if wide else INT64))
        elif all(isinstance(value, bool | int | float) for value in given):
            labels[v] = dict(sorted((_number(value), value) for value in given))
            domains.append(np.array(list(labels[v])))
        else:
            labels[v] = dict(enumerate(given))
            domains.append(np.arange(len(given)))
        low, high = domains[-1][0], domains[-1][-1]
        limits.append((0, 0) if domains[-1].dtype == FLOAT else (int(low), int(high)))
    return domains, limits, labels


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _undefined(
    domains: Sequence[Array], limits: Sequence[tuple[int, int]], conditions: Sequence[Restriction | Called]
) -> list[str]:
    """Notes on restrictions that have no value for some combination of their parameters."""
    notes: dict[str, None] = {}
    terms = Terms(tuple(domains), tuple(limits))
    for condition in conditions:
        if isinstance(condition, Called):
            if condition.undefined:
                notes[f"{condition.text} raised an arithmetic error for some values: not allowed"] = None
            continue
        term = condition.term(terms)
        if term.safe:
            continue
        frame = _combinations(terms, domains, term.mask)
        if frame is None:
            notes[f"{condition.text!r} may be undefined for some values: those are not allowed"] = None
            continue
        frame.value(term)
        if frame.ok is not None and not np.all(frame.ok):
            notes[f"{condition.text!r} is undefined for some values: those are not allowed"] = None
    return list(notes)


def _combinations(terms: Terms, domains: Sequence[Array], mask: int) -> Frame | None:
    """All combinations of the values of some parameters as rows; None where they are too many."""
    scope = [v for v in range(len(domains)) if mask >> v & 1]
    rows = prod(len(domains[v]) for v in scope)
    if rows > MOST_CHECKED:
        return None
    frame = Frame(Parts(terms), 0, mask, {}, None)
    inner = rows
    for v in scope:
        inner //= len(domains[v])
        column = np.repeat(domains[v], inner)
        frame.put(terms.var(v), np.tile(column, rows // len(column)))
    return frame


def _why_empty(
    domains: Sequence[Array], limits: Sequence[tuple[int, int]], conditions: Sequence[Restriction | Called]
) -> list[str]:
    """The first restriction, or pair of them, that alone excludes everything."""
    singles: list[Condition] = list(conditions)
    pairs = product(range(len(singles)), repeat=2) if len(singles) <= 40 else ()
    tried = [[condition] for condition in singles]
    tried += [[singles[i], singles[j]] for i, j in pairs if i < j and singles[i].scope & singles[j].scope]
    for few in tried:
        try:
            planner = Planner(domains, limits, few)
            if not planner.build(Budget(1_000_000, 5_000_000)) and domains:
                texts = " and ".join(dict.fromkeys(repr(getattr(c, "text", "")) for c in few))
                return [f"no configuration is valid: {texts} alone exclude all"]
        except (TooLarge, Unsupported):
            continue
    return ["no configuration is valid: the restrictions exclude all together"]


# Files


def from_json(source: str | Path | Mapping[str, Any], *, memory_limit: int | None = None) -> Space:
    """The space of a JSON file or of its content.

    Two forms are read: `{"tune_params": {…}, "restrictions": […]}`, and the auto-tuning interchange format T1
    (`ConfigurationSpace` with `TuningParameters` and `Conditions`).
    """
    if isinstance(source, Mapping):
        data = source
    else:
        data = json.loads(Path(source).read_text(encoding="utf-8"))
    if "ConfigurationSpace" in data:
        tune_params, restrictions = _from_t1(data["ConfigurationSpace"])
    elif "tune_params" in data:
        tune_params, restrictions = data["tune_params"], data.get("restrictions", [])
    else:
        raise ModelError("the JSON has neither 'tune_params' nor T1's 'ConfigurationSpace'")
    return from_tune_params(tune_params, restrictions, memory_limit=memory_limit)


def _from_t1(space: Mapping[str, Any]) -> tuple[dict[str, list[Any]], list[str]]:
    tune_params: dict[str, list[Any]] = {}
    for parameter in space.get("TuningParameters", []):
        name, values = parameter.get("Name"), parameter.get("Values")
        if isinstance(values, str):
            try:
                values = ast.literal_eval(values)
            except (ValueError, SyntaxError) as problem:
                raise ModelError(f"'{name}': {values!r} is no list of values") from problem
        if name is None or values is None:
            raise ModelError(f"a tuning parameter needs a Name and Values: {dict(parameter)}")
        tune_params[name] = list(values)
    return tune_params, [condition["Expression"] for condition in space.get("Conditions") or []]


def to_t1(tune_params: Mapping[str, Sequence[Any]], restrictions: Sequence[str]) -> dict[str, Any]:
    """The T1 description of parameters and restrictions, to be written as JSON."""
    names = list(tune_params)
    kinds = {bool: "bool", int: "int", float: "float"}
    return {
        "ConfigurationSpace": {
            "TuningParameters": [
                {"Name": name, "Type": kinds.get(type(values[0]), "string"), "Values": repr(list(values))}
                for name, values in tune_params.items()
            ],
            "Conditions": [
                {
                    "Expression": text,
                    "Parameters": [
                        names[v]
                        for v in range(len(names))
                        if any(part.scope >> v & 1 for part in parse(text, _named(names)))
                    ],
                }
                for text in restrictions
            ],
        }
    }


def _named(names: Sequence[str]) -> Parameters:
    return Parameters({name: v for v, name in enumerate(names)}, {})
