"""Search spaces as JSON: the auto-tuning interchange format T1, and a plain format."""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from constrint.diagrams.python_text import parsed
from constrint.errors import ModelError, ParseError
from constrint.support.json_text import read_json
from constrint.support.limits import Budget, LimitExceeded, decoded, read_bytes, recursion_room

MOST_VALUES = 1_000_000
MOST_BITS = 4096
MOST_CHARACTERS = 80  # most characters of a value in a message
T1_PARTS = ("ConfigurationSpace", "General", "Search", "Budget", "KernelSpecification")
"""The parts of T1. Those after the first are about tuning, which does not change the space."""
PLAIN_PARTS = (
    "tune_params", "restrictions", "name", "note", "source", "cartesian", "valid", "verified_by",
)  # fmt: skip
"""The parts of the plain format. Those after the second describe a space."""
KINDS: Mapping[str, tuple[type, ...]] = {
    "int": (int,),
    "uint": (int,),
    "float": (float, int),
    "bool": (bool,),
    "string": (str,),
}
_OPERATORS: Mapping[type, Callable[[object, object], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def read_file(path: str | Path, budget: Budget | None = None) -> Mapping[str, object]:
    """The JSON of a file."""
    budget = budget or Budget()
    try:
        text = decoded(read_bytes(path, budget), str(path))
    except OSError as problem:
        raise ModelError(f"cannot read {path}: {(problem.strerror or str(problem)).lower()}") from problem
    return read_text(text, str(path), budget)


def read_text(text: str, filename: str = "<json>", budget: Budget | None = None) -> Mapping[str, object]:
    """The JSON object in a text; duplicate names are errors."""
    data = read_json(text, filename, budget or Budget())
    if not isinstance(data, dict):
        raise ModelError(f"{filename}: a search space is a JSON object, not a {type(data).__name__}")
    return data


def _shown(value: object) -> str:
    """A shortened value for a message."""
    if isinstance(value, str):
        return repr(value[:MOST_CHARACTERS])
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**20:
        return "a long number"
    if isinstance(value, list | tuple | dict):
        return f"a {'object' if isinstance(value, dict) else 'list'} of {len(value)}"
    return (
        json.dumps(value)
        if value is None or isinstance(value, bool | int | float)
        else repr(value)[:MOST_CHARACTERS]
    )


def is_space(data: Mapping[str, object]) -> bool:
    """Whether JSON looks like a search space of either format."""
    return "ConfigurationSpace" in data or "tune_params" in data


def described(data: Mapping[str, Any], budget: Budget | None = None) -> tuple[dict[str, Any], list[Any]]:
    """Parameters and restrictions of either format."""
    budget = budget or Budget()
    is_t1 = "ConfigurationSpace" in data
    _refuse_unknown(data, T1_PARTS if is_t1 else PLAIN_PARTS, "a search space")
    if is_t1:
        return _from_t1(data["ConfigurationSpace"], budget)
    if "tune_params" not in data:
        raise ModelError("the JSON has neither 'tune_params' nor T1's 'ConfigurationSpace'")
    restrictions = data.get("restrictions") or []
    if not isinstance(restrictions, Sequence) or isinstance(restrictions, str):
        restrictions = [restrictions]
    tune_params = data["tune_params"]
    if isinstance(tune_params, Mapping):
        budget.variable(len(tune_params))
        budget.values(sum([len(values) for values in tune_params.values() if isinstance(values, list)]))
    return tune_params, list(restrictions)


def _from_t1(space: object, budget: Budget) -> tuple[dict[str, list[object]], list[str]]:
    if not isinstance(space, Mapping) or not isinstance(space.get("TuningParameters"), list):
        raise ModelError("T1's 'ConfigurationSpace' needs a list of 'TuningParameters'")
    _refuse_unknown(space, ("TuningParameters", "Conditions"), "T1's 'ConfigurationSpace'")
    tune_params: dict[str, list[object]] = {}
    for number, parameter in enumerate(space["TuningParameters"], 1):
        if not isinstance(parameter, Mapping) or "Name" not in parameter or "Values" not in parameter:
            raise ModelError(f"tuning parameter {number} needs a Name and Values, not {_shown(parameter)}")
        _refuse_unknown(parameter, ("Name", "Type", "Values", "Default"), f"tuning parameter {number}")
        name = parameter["Name"]
        if not isinstance(name, str):
            raise ModelError(f"tuning parameter {number}: the Name must be text, not {_shown(name)}")
        if name in tune_params:
            raise ModelError(f"two tuning parameters are named {_shown(name)}")
        budget.variable()
        tune_params[name] = _values(name, parameter.get("Type"), parameter["Values"], budget)
    conditions = space.get("Conditions") or []
    if not isinstance(conditions, list):
        raise ModelError(f"the Conditions must be a list, not {_shown(conditions)}")
    return tune_params, [_restriction(one, tune_params, i) for i, one in enumerate(conditions, 1)]


def _refuse_unknown(data: Mapping[str, object], known: Sequence[str], what: str) -> None:
    """Raise `ModelError` for a name that would be ignored; names that begin with $ are JSON Schema's."""
    for name in data:
        if name not in known and not str(name).startswith("$"):
            near = get_close_matches(str(name), known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(known)}"
            raise ModelError(f"{what} has no {_shown(name)}: {hint}")


def _restriction(condition: object, tune_params: Mapping[str, object], number: int) -> str:
    """The expression of a condition; its parameters must exist."""
    if not isinstance(condition, Mapping) or not isinstance(condition.get("Expression"), str):
        raise ModelError(f"condition {number} needs an Expression as text")
    _refuse_unknown(condition, ("Expression", "Parameters"), f"condition {number}")
    expression: str = condition["Expression"]
    names = condition.get("Parameters") or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelError(f"condition {number}: the Parameters must be a list of names, not {_shown(names)}")
    unknown = [name for name in names if name not in tune_params]
    if unknown:
        listed = ", ".join(unknown)
        raise ModelError(
            f"condition {_shown(expression)}: no tuning parameter is named {listed[:MOST_CHARACTERS]}"
        )
    return expression


def _values(name: str, kind: object, given: object, budget: Budget) -> list[object]:
    """The values of a parameter, converted to its type."""
    values = given
    if isinstance(given, str):
        try:
            values = read_json(given, _shown(name), budget)  # some programs write true and false
        except LimitExceeded:
            raise
        except (ParseError, ModelError):
            values = _T1Reader(name, given, budget).values()
    if not isinstance(values, list | tuple):
        raise ModelError(f"{_shown(name)}: {_shown(given)} is not a list of values")
    budget.values(len(values))
    if kind is None:
        return list(values)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ModelError(f"{_shown(name)}: the type is one of {', '.join(KINDS)}, not {_shown(kind)}")
    if kind == "bool":
        values = [
            bool(value) if isinstance(value, int | float) and value in (0, 1) else value for value in values
        ]
    if set(map(type, values)) == {int} and (kind == "int" or (kind == "uint" and min(values) >= 0)):
        return list(values)
    for value in values:
        wrong = isinstance(value, bool) != (kind == "bool") or not isinstance(value, KINDS[kind])
        if wrong or (kind == "uint" and value < 0):
            raise ModelError(f"{_shown(name)} is of type {kind}, and {_shown(value)} is not")
    return list(values)


class _T1Reader:
    """Reads a list of values in Python's notation as data."""

    def __init__(self, name: str, text: str, budget: Budget) -> None:
        self.name = name
        self.text = text
        self.budget = budget

    def values(self) -> list[object]:
        """The values."""
        what = f"{_shown(self.name)}: {_shown(self.text)}"
        tree = parsed(self.text, f"{what} is not a list of values", self.budget)
        try:
            with recursion_room(self.budget.frames):
                return list(self._sequence(tree, {}))
        except (ValueError, ArithmeticError, TypeError, RecursionError) as problem:
            raise ModelError(f"{what} is not a list of values: {problem}") from problem

    def _sequence(self, node: ast.expr, known: Mapping[str, object]) -> Sequence[Any]:
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            self.budget.values(len(node.elts))
            return [self._item(one, known) for one in node.elts]
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self._comprehension(node, known)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id in ("list", "tuple", "sorted") and len(node.args) == 1:
                found = self._sequence(node.args[0], known)
                return sorted(found) if node.func.id == "sorted" else found
            if node.func.id == "range" and 1 <= len(node.args) <= 3:
                return self._short(range(*[self._item(one, known) for one in node.args]))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self._sequence(node.left, known), self._sequence(node.right, known)
            self.budget.values(len(left) + len(right))
            return [*left, *right]
        raise ValueError(f"{_part(node)} is not supported")

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp, known: Mapping[str, object]
    ) -> list[object]:
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.ifs or not isinstance(loop.target, ast.Name):
            raise ValueError("a comprehension has one `for` and no `if`")
        variable = loop.target.id
        listed = self._sequence(loop.iter, known)
        self.budget.values(len(listed))
        return [self._item(node.elt, {**known, variable: one}) for one in listed]

    def _item(self, node: ast.expr, known: Mapping[str, object]) -> Any:
        self.budget.node()
        if isinstance(node, ast.Constant):
            if node.value is None or isinstance(node.value, bool | int | float | str):
                return node.value
            raise ValueError(f"{_part(node)} is not a number, text or Boolean")
        if isinstance(node, ast.Name) and node.id in known:
            return known[node.id]
        if isinstance(node, ast.Tuple | ast.List):
            return tuple([self._item(one, known) for one in node.elts])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._item(node.operand, known)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return self._calculated(node, self._item(node.left, known), self._item(node.right, known))
        raise ValueError(f"{_part(node)} is not supported")

    def _calculated(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        if not all(isinstance(side, int | float) for side in (left, right)):
            raise ValueError(f"{_part(node)} is not supported")
        is_power = isinstance(node.op, ast.Pow)
        bits = _bits(left) * abs(right) if is_power else _bits(left) + _bits(right)
        if bits > MOST_BITS:
            raise ValueError(f"{_part(node)} is too large")
        found = _OPERATORS[type(node.op)](left, right)
        if not isinstance(found, int | float):
            raise ValueError(f"{_part(node)} is not a number")
        return found

    def _short(self, values: range) -> range:
        length = max(0, -((values.start - values.stop) // values.step))
        if length > MOST_VALUES:
            raise ValueError(f"{length:,} values are too many")
        self.budget.values(length)
        return values


def _part(node: ast.expr) -> str:
    """The source of a part of an expression, for a message."""
    text = ast.unparse(node)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _bits(value: float) -> int:
    return value.bit_length() if isinstance(value, int) else 1


def description(
    tune_params: Mapping[str, Sequence[object]], conditions: Sequence[tuple[str, Sequence[str]]]
) -> dict[str, Any]:
    """The T1 description of parameters and conditions, each with the names of its parameters."""
    return {
        "ConfigurationSpace": {
            "TuningParameters": [
                {"Name": name, "Type": _kind(name, values), "Values": repr(list(values))}
                for name, values in tune_params.items()
            ],
            "Conditions": [{"Expression": text, "Parameters": list(names)} for text, names in conditions],
        }
    }


def _kind(name: str, values: Sequence[object]) -> str:
    """T1's type for some values."""
    for kind, types in (("bool", (bool,)), ("int", (int,)), ("float", (int, float)), ("string", (str,))):
        if all(isinstance(value, types) and isinstance(value, bool) == (kind == "bool") for value in values):
            return kind
    raise ModelError(f"'{name}': T1 has integers, floats, Booleans and strings, each alone, not {values!r}")
