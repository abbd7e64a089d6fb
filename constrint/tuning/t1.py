"""Search spaces as JSON: the auto-tuning interchange format T1, and a plain one.

T1 gives the values of a parameter as text, in Python's notation. What stands there is read as data: lists,
ranges, arithmetic and comprehensions of numbers. Nothing is evaluated.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from constrint.errors import ModelError, ParseError

MOST_VALUES = 1_000_000
MOST_BITS = 4096
KINDS: Mapping[str, tuple[type, ...]] = {
    "int": (int,),
    "uint": (int,),
    "float": (float, int),
    "bool": (bool,),
    "string": (str,),
}
_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def read_file(path: str | Path) -> Mapping[str, Any]:
    """The JSON of a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as problem:
        raise ModelError(f"cannot read {path}: {(problem.strerror or str(problem)).lower()}") from problem
    except UnicodeDecodeError as problem:
        raise ModelError(f"{path}: this is no UTF-8 text") from problem
    return read_text(text, str(path))


def read_text(text: str, filename: str = "<json>") -> Mapping[str, Any]:
    """The JSON of a text: an object, in which no name stands twice."""
    try:
        data = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as problem:
        raise ParseError(
            f"this is no JSON: {problem.msg}",
            filename=filename,
            line=problem.lineno,
            column=problem.colno,
            source_line=text.split("\n")[problem.lineno - 1],
        ) from None
    except RecursionError:
        raise ModelError(f"{filename}: the JSON is nested too deeply") from None
    except ModelError as problem:
        raise ModelError(f"{filename}: {problem}") from None
    if not isinstance(data, dict):
        raise ModelError(f"{filename}: a search space is a JSON object, not a {type(data).__name__}")
    return data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ModelError(f"the name {name!r} stands twice in one object")
        found[name] = value
    return found


def is_space(data: Mapping[str, Any]) -> bool:
    """Whether JSON looks like a search space of either form."""
    return "ConfigurationSpace" in data or "tune_params" in data


def described(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Parameters and restrictions of either form."""
    if "ConfigurationSpace" in data:
        return _from_t1(data["ConfigurationSpace"])
    if "tune_params" not in data:
        raise ModelError("the JSON has neither 'tune_params' nor T1's 'ConfigurationSpace'")
    restrictions = data.get("restrictions") or []
    if not isinstance(restrictions, Sequence) or isinstance(restrictions, str):
        restrictions = [restrictions]
    return data["tune_params"], list(restrictions)


def _from_t1(space: Any) -> tuple[dict[str, list[Any]], list[str]]:
    if not isinstance(space, Mapping) or not isinstance(space.get("TuningParameters"), list):
        raise ModelError("T1's 'ConfigurationSpace' needs a list of 'TuningParameters'")
    tune_params: dict[str, list[Any]] = {}
    for parameter in space["TuningParameters"]:
        if not isinstance(parameter, Mapping) or "Name" not in parameter or "Values" not in parameter:
            raise ModelError(f"a tuning parameter needs a Name and Values: {parameter!r}")
        name = parameter["Name"]
        if name in tune_params:
            raise ModelError(f"two tuning parameters are named {name!r}")
        tune_params[name] = _values(name, parameter.get("Type"), parameter["Values"])
    restrictions = []
    for condition in space.get("Conditions") or []:
        if not isinstance(condition, Mapping) or not isinstance(condition.get("Expression"), str):
            raise ModelError(f"a condition needs an Expression as text: {condition!r}")
        unknown = [name for name in condition.get("Parameters") or [] if name not in tune_params]
        if unknown:
            raise ModelError(
                f"condition {condition['Expression']!r}: no tuning parameter is named {', '.join(unknown)}"
            )
        restrictions.append(condition["Expression"])
    return tune_params, restrictions


def _values(name: str, kind: str | None, given: Any) -> list[Any]:
    """The values of a parameter, of its type."""
    values = given
    if isinstance(given, str):
        try:
            values = json.loads(given)  # some programs write true and false
        except json.JSONDecodeError:
            values = _Reader(name, given).values()
    if not isinstance(values, list | tuple):
        raise ModelError(f"'{name}': {given!r} is no list of values")
    if kind is None:
        return list(values)
    if kind not in KINDS:
        raise ModelError(f"'{name}': the type is one of {', '.join(KINDS)}, not {kind!r}")
    if kind == "bool":
        values = [bool(value) if value in (0, 1) else value for value in values]
    for value in values:
        wrong = isinstance(value, bool) != (kind == "bool") or not isinstance(value, KINDS[kind])
        if wrong or (kind == "uint" and value < 0):
            raise ModelError(f"'{name}' is of type {kind}, and {value!r} is not")
    return list(values)


class _Reader:
    """Reads Python's notation of a list of values as data."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def values(self) -> list[Any]:
        """The values."""
        try:
            return list(self._sequence(ast.parse(self.text.strip(), mode="eval").body, {}))
        except (SyntaxError, ValueError, ArithmeticError, TypeError, RecursionError, MemoryError) as problem:
            why = problem.msg if isinstance(problem, SyntaxError) else str(problem)
            raise ModelError(f"'{self.name}': {self.text!r} is no list of values: {why}") from problem

    def _sequence(self, node: ast.expr, known: Mapping[str, Any]) -> Sequence[Any]:
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
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
            return [*self._sequence(node.left, known), *self._sequence(node.right, known)]
        raise ValueError(f"{ast.unparse(node)} is not understood")

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, known: Mapping[str, Any]) -> list[Any]:
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.ifs or not isinstance(loop.target, ast.Name):
            raise ValueError("a comprehension has one `for` and no `if`")
        variable = loop.target.id
        return [self._item(node.elt, {**known, variable: one}) for one in self._sequence(loop.iter, known)]

    def _item(self, node: ast.expr, known: Mapping[str, Any]) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id in known:
            return known[node.id]
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(self._item(one, known) for one in node.elts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._item(node.operand, known)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = self._item(node.left, known), self._item(node.right, known)
            if not all(isinstance(side, int | float) for side in (left, right)):
                raise ValueError(f"{ast.unparse(node)} is not understood")
            if isinstance(node.op, ast.Pow) and _bits(left) * abs(right) > MOST_BITS:
                raise ValueError(f"{ast.unparse(node)} is too large")
            return _OPERATORS[type(node.op)](left, right)
        raise ValueError(f"{ast.unparse(node)} is not understood")

    def _short(self, values: range) -> range:
        if len(values) > MOST_VALUES:
            raise ValueError(f"{len(values):,} values are too many")
        return values


def _bits(value: float) -> int:
    return value.bit_length() if isinstance(value, int) else 1


def description(
    tune_params: Mapping[str, Sequence[Any]], conditions: Sequence[tuple[str, Sequence[str]]]
) -> dict[str, Any]:
    """The T1 description of parameters, and of conditions with the names of their parameters."""
    return {
        "ConfigurationSpace": {
            "TuningParameters": [
                {"Name": name, "Type": _kind(name, values), "Values": repr(list(values))}
                for name, values in tune_params.items()
            ],
            "Conditions": [{"Expression": text, "Parameters": list(names)} for text, names in conditions],
        }
    }


def _kind(name: str, values: Sequence[Any]) -> str:
    """T1's type of some values."""
    for kind, types in (("bool", (bool,)), ("int", (int,)), ("float", (int, float)), ("string", (str,))):
        if all(isinstance(value, types) and isinstance(value, bool) == (kind == "bool") for value in values):
            return kind
    raise ModelError(f"'{name}': T1 has integers, floats, Booleans and strings, each alone, not {values!r}")
