"""Models as JSON, for other programs and for storage.

An expression is an integer, true or false, the name of a variable or definition, or an array ["operator",
operand, …]. A part that occurs several times is written once, in "shared", and referred to as ["shared",
number]. docs/constrint-json.md describes the format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from constrint.errors import ModelError, Position, shown
from constrint.expr import BoolConst, BoolVar, Const, IntExpr, IntVar
from constrint.expr.domain import Domain, EnumDomain
from constrint.expr.rational import Rational
from constrint.expr.walk import Depths
from constrint.frontends.json.nodes import READERS, WRITERS
from constrint.frontends.json.places import JsonPlace
from constrint.frontends.json.symbols import (
    JsonSymbol,
    add_symbols,
    enum_domain,
    read_symbols,
    write_symbols,
)
from constrint.modelling.constraints import Constraint, Handle, in_order
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import own_sum
from constrint.support.deadline import check_deadline, watched
from constrint.support.garbage import uncollected
from constrint.support.json_text import read_json
from constrint.support.limits import Budget, LimitExceeded, recursion_room

Json: TypeAlias = Any

FORMAT, VERSION = "constrint", 1
DEEPEST_WRITTEN = 5_000
"""How deep writing may call itself: some five times for each level of an expression."""
LONG_BITS = 10_000
"""Longer integers are written in hexadecimal, because Python does not read longer decimal ones."""
_UNIT = ("denominator", "float")  # of fractions
_POSITION = ("file", "line", "column", "end_line", "end_column", "text")


def to_json(model: Declarations, indent: int | None = None) -> str:
    """The text of a model; see `Model.to_json`."""
    try:
        with recursion_room(DEEPEST_WRITTEN):
            document = _JsonWriter(model).document()
            return json.dumps(document, indent=indent, ensure_ascii=False)
    except RecursionError:
        raise ModelError("an expression is nested too deeply to be written as JSON") from None


@uncollected()
def from_json(text: str, filename: str = "<json>", budget: Budget | None = None) -> Declarations:
    """The model that a text describes; see `Model.from_json`."""
    budget = budget or Budget()
    budget.size(len(text), filename)
    document = read_json(text, filename, budget, number=_no_float, levels=4, is_text=False)
    with recursion_room(budget.frames):
        return _JsonReader(filename, budget).model(document)


def _no_float(text: str) -> int:
    raise ValueError(f"{text} is not an integer: a model in JSON has integers only")


# ---------------------------------------------------------------- writing


class _JsonWriter:
    def __init__(self, target: Declarations) -> None:
        self.target = target
        self.names: dict[int, str] = {}  # names of the definitions written so far, by identity
        self.uses: dict[int, int] = {}
        self.numbers: dict[int, int] = {}
        self.shared: list[Json] = []

    def document(self) -> Json:
        """The whole model."""
        model = self.target
        goals = [*model.goals, *model.preferences]
        constraints, disabled = list(in_order(model)), set(model.disabled)
        exprs = [*model.lets.values(), *[c.expr for c in constraints], *[expr for expr, _ in goals]]
        self._count(exprs)
        rest: dict[str, Json] = {
            "definitions": [
                {"name": name, "expr": self._definition(name, expr), **self._unit(expr)}
                for name, expr in model.lets.items()
            ],
            "constraints": [self._constraint(c, enabled=c not in disabled) for c in watched(constraints)],
            "goals": [self._goal(expr, way) for expr, way in model.goals],
            "preferences": [self._goal(expr, way) for expr, way in model.preferences],
        }
        if model.symbols:
            rest["symbols"] = write_symbols(model)
        if model.hints:
            rest["hints"] = {name: number(value) for name, value in model.hints.items()}
        variables = [_variable(variable) for variable in watched(model.variables.values())]
        head = {"format": FORMAT, "version": VERSION, "name": model.name, "variables": variables}
        return {**head, "shared": self.shared, **rest}

    def _count(self, exprs: Iterable[IntExpr]) -> None:
        """Count how often each part is referred to."""
        stack = list(exprs)
        while stack:
            check_deadline()
            expr = stack.pop()
            self.uses[id(expr)] = self.uses.get(id(expr), 0) + 1
            if self.uses[id(expr)] == 1:
                stack.extend(expr.children)

    def _definition(self, name: str, expr: IntExpr) -> Json:
        if id(expr) in self.names or not expr.children:
            return self.expr(expr)
        written = self._node(expr) if id(expr) not in self.numbers else self.expr(expr)
        self.names[id(expr)] = name
        return written

    def _constraint(self, constraint: Constraint, *, enabled: bool) -> Json:
        written: dict[str, Json] = {"expr": self.expr(constraint.expr)}
        if constraint.name is not None:
            written["name"] = constraint.name
        if constraint.assumed:
            written["assumed"] = True
        if constraint in self.target.weights:
            written["weight"] = _weight(self.target.weights[constraint].weight)
        elif not enabled:
            written["enabled"] = False
        return _with_position(written, constraint.position)

    def _goal(self, expr: IntExpr, way: str) -> Json:
        written: dict[str, Json] = {"expr": self.expr(expr), "direction": way, **self._unit(expr)}
        return _with_position(written, expr.position)

    def _unit(self, expr: IntExpr) -> dict[str, Json]:
        """The denominator of a fractional goal or definition."""
        unit = self.target.units.get(expr)
        return {} if unit is None else {"denominator": number(unit.denominator), "float": unit.is_float}

    def expr(self, expr: IntExpr) -> Json:
        """The JSON of an expression at one of its uses."""
        if id(expr) in self.names:
            return self.names[id(expr)]
        if self.uses[id(expr)] > 1 and expr.children:
            if id(expr) not in self.numbers:
                node = self._node(expr)
                self.numbers[id(expr)] = len(self.shared)
                self.shared.append(node)
            return ["shared", self.numbers[id(expr)]]
        return self._node(expr)

    def _node(self, expr: IntExpr) -> Json:
        if isinstance(expr, Const):
            value = number(expr.value)
            return value if isinstance(value, int) else ["integer", value]
        if isinstance(expr, BoolConst):
            return expr.value
        if isinstance(expr, IntVar | BoolVar):
            if self.target.variables.get(expr.name) is not expr:
                raise ModelError(f"'{expr.name}' is a variable of another model")
            return expr.name
        if type(expr) not in WRITERS:
            raise ModelError(f"{type(expr).__name__} has no form in JSON")
        return WRITERS[type(expr)](expr, self.expr, number, set_of)


def number(value: int) -> int | str:
    """The JSON of an integer: a hexadecimal string if it is too long for other programs' decimal readers."""
    return int(value) if value.bit_length() <= LONG_BITS else hex(value)


def _weight(weight: object) -> Json:
    """The JSON of a weight: an integer, or a string with a decimal number or a quotient."""
    if isinstance(weight, int):
        return number(weight)
    return repr(float(weight)) if isinstance(weight, float) else str(weight)  # of a fraction, a quotient


def set_of(domain: Domain) -> Json:
    """A set of integers: an array, or an object with bounds."""
    if domain.values is not None:
        return [number(value) for value in domain.values]
    if domain.is_empty:
        return []
    bounds: dict[str, Json] = {
        "lo": None if domain.lo is None else number(domain.lo),
        "hi": None if domain.hi is None else number(domain.hi),
    }
    return bounds if domain.step == 1 else {**bounds, "step": number(domain.step)}


def _variable(variable: IntVar | BoolVar) -> Json:
    domain = "bool" if isinstance(variable, BoolVar) else set_of(variable.domain)
    return _with_position({"name": variable.name, "domain": domain}, variable.position)


def _with_position(written: dict[str, Json], position: Position | None) -> dict[str, Json]:
    if position is not None:
        written["position"] = {name: getattr(position, name) for name in _POSITION}
    return written


# ---------------------------------------------------------------- reading


class _JsonReader:
    def __init__(self, filename: str, budget: Budget) -> None:
        self.filename = filename
        self.budget = budget
        self._depth = 0
        self._depths = Depths(budget.limits.depth)
        self.names: dict[str, IntExpr] = {}
        self.shared: list[IntExpr] = []
        self.written: list[Json] = []
        self.begun: set[int] = set()  # shared parts whose reading has begun

    def model(self, document: Json) -> Declarations:
        """The model of a document."""
        top = JsonPlace(self.filename, budget=self.budget)
        head = top.object(
            document,
            required=("format", "version", "variables", "constraints"),
            optional=("name", "shared", "definitions", "goals", "preferences", "symbols", "hints"),
        )
        if head["format"] != FORMAT:
            raise top.error(f"the format is {shown(repr(head['format']))}, not '{FORMAT}'")
        if head["version"] != VERSION:
            given = shown(repr(head["version"]))
            raise top.error(f"this is version {given} of the format; version {VERSION} is known")
        model = Declarations(top.at("name").text(head.get("name", "model")))
        symbols = read_symbols(top.at("symbols"), head.get("symbols", []))
        for place, item in top.at("variables").items(head["variables"]):
            self._variable(model, place, item, symbols)
        # A shared part may use a definition and vice versa, so each is read on first use.
        self.written = top.at("shared").array(head.get("shared", []))
        self._definitions(model, top, head)
        handles = [
            self._constraint(model, place, item)
            for place, item in top.at("constraints").items(head["constraints"])
        ]
        off = [handle for handle in handles if handle is not None]
        model.disable(*[handle for handle in off if handle[0] not in model.weights])
        for key, goals in (("goals", model.goals), ("preferences", model.preferences)):
            for place, item in top.at(key).items(head.get(key, [])):
                entry = place.object(item, required=("expr", "direction"), optional=("position", *_UNIT))
                if entry["direction"] not in ("max", "min"):
                    raise place.error(f'the direction is "max" or "min", not {entry["direction"]!r}')
                expr = self.expr(entry["expr"], place.at("expr")).at(_position(place, entry))
                goals.append((self._in_units(model, expr, place, entry), entry["direction"]))
        self._hints(model, top.at("hints"), head.get("hints", {}))
        add_symbols(model, symbols)
        return model

    def _in_units(self, model: Declarations, expr: IntExpr, place: JsonPlace, entry: Json) -> IntExpr:
        """The expression of a goal, whose denominator is noted if it has one."""
        if "denominator" not in entry:
            return expr
        whole = own_sum(expr).at(expr.position)
        model.units[whole] = self._fraction(expr, place, entry)
        return whole

    def _fraction(self, expr: IntExpr, place: JsonPlace, entry: Json) -> Rational:
        """An expression with the denominator that is written beside it."""
        denominator = place.at("denominator").integer(entry["denominator"])
        if denominator < 1:
            raise place.at("denominator").error(f"a denominator is at least 1, not {denominator}")
        return Rational(expr, denominator, entry.get("float") is True)

    def _hints(self, model: Declarations, place: JsonPlace, written: Json) -> None:
        hints = place.object(written, required=(), optional=tuple(model.variables))
        try:
            numbers = {name: place.at(name).integer(value) for name, value in hints.items()}
            model.hint({model.variables[name]: value for name, value in numbers.items()})
        except ModelError as error:
            raise error if str(error).startswith(self.filename) else place.error(str(error)) from None

    def _variable(
        self, model: Declarations, place: JsonPlace, item: Json, symbols: Mapping[str, JsonSymbol]
    ) -> None:
        entry = place.object(item, required=("name", "domain"), optional=("position",))
        name = place.at("name").text(entry["name"])
        self.budget.variable(1, place.__str__)
        try:
            variable: IntVar | BoolVar
            if entry["domain"] == "bool":
                variable = model.bool_var(name)
            else:
                domain = enum_domain(symbols.get(name), place.at("domain").domain(entry["domain"]))
                if isinstance(domain, EnumDomain):
                    variable = model.variable(name, domain)
                elif domain.values is not None or domain.is_empty:
                    variable = model.int_var(name, values=domain.values or [])
                else:
                    variable = model.int_var(name, domain.lo, domain.hi, step=domain.step)
        except ModelError as error:
            raise error if str(error).startswith(self.filename) else place.error(str(error)) from None
        variable.at(_position(place, entry))
        self.names[name] = variable

    def _definitions(self, model: Declarations, top: JsonPlace, head: Json) -> None:
        for place, item in top.at("definitions").items(head.get("definitions", [])):
            entry = place.object(item, required=("name", "expr"), optional=_UNIT)
            name = place.at("name").text(entry["name"])
            if name in self.names:
                raise place.error(f"'{name}' is declared twice")
            if not name:
                raise place.error("a name must not be empty")
            expr = self.kept(entry["expr"], place.at("expr"))
            if "denominator" not in entry:
                self.names[name] = model.let(name, expr)
                continue
            model.let(name, self._fraction(expr, place, entry))  # it can be no part of expressions

    def _constraint(self, model: Declarations, place: JsonPlace, item: Json) -> Handle | None:
        """Add a constraint; returns its handle if it is switched off."""
        entry = place.object(
            item, required=("expr",), optional=("name", "assumed", "enabled", "weight", "position")
        )
        name = None if entry.get("name") is None else place.at("name").text(entry["name"])
        expr = place.at("expr").condition(self.expr(entry["expr"], place.at("expr")))
        add = model.assume if entry.get("assumed", False) is True else model.add
        handle = add(expr, name=name)
        expr.at(_position(place, entry))
        enabled = entry.get("enabled", True)
        if not isinstance(enabled, bool):
            raise place.at("enabled").error(f"enabled is true or false, not {shown(repr(enabled))}")
        if "weight" in entry:
            self._soften(model, handle, place.at("weight"), entry["weight"])
        return None if enabled else handle

    def _soften(self, model: Declarations, handle: Handle, place: JsonPlace, written: Json) -> None:
        try:
            weight: Any = written
            if isinstance(written, str):
                weight = Fraction(written) if "/" in written else float(written)
            model.soften(handle, weight=weight)
        except (ModelError, ValueError, ZeroDivisionError) as error:
            raise place.error(f'a weight is a number above 0, such as 2 or "0.5" ({error})') from None

    def kept(self, written: Json, place: JsonPlace) -> IntExpr:
        """An expression that others may refer to."""
        expr = self.expr(written, place)
        try:
            self._depths.note(expr)
        except LimitExceeded as error:
            raise LimitExceeded(error.name, error.limit, str(place)) from None
        return expr

    def expr(self, written: Json, place: JsonPlace) -> IntExpr:
        """An expression."""
        self.budget.node(1, place.__str__)
        if isinstance(written, bool):
            return BoolConst(written)
        if isinstance(written, int):
            return Const(written)
        if isinstance(written, str):
            if written not in self.names:
                raise place.error(f"there is no variable or definition '{written}' before this")
            return self.names[written]
        operator, *operands = place.array(written) or [None]
        if operator == "integer" and len(operands) == 1:
            return Const(place.integer(operands[0]))
        if operator == "shared" and len(operands) == 1:
            return self._shared(place, operands[0])
        if not isinstance(operator, str) or operator not in READERS:
            raise place.error(f"there is no operator {operator!r}")
        self._depth += 1
        self.budget.depth(self._depth, place.__str__)
        expr = READERS[operator](place, operands, self.expr)
        self._depth -= 1
        return expr

    def _shared(self, place: JsonPlace, index: Json) -> IntExpr:
        position = place.integer(index)
        if not 0 <= position < len(self.written):
            raise place.error(f"there is no shared part {position}")
        while len(self.shared) <= position:
            i = len(self.shared)
            where = JsonPlace(self.filename, "shared", budget=self.budget).at(i)
            if i in self.begun:
                raise where.error("a shared part may use earlier parts only")
            self.begun.add(i)
            self.shared.append(self.kept(self.written[i], where))
        return self.shared[position]


def _position(place: JsonPlace, entry: Json) -> Position | None:
    if entry.get("position") is None:
        return None
    where = place.at("position")
    given = where.object(entry["position"], required=("file", "line", "column"), optional=_POSITION[3:])
    numbers = [None if given.get(key) is None else where.integer(given[key]) for key in _POSITION[1:5]]
    line, column, end_line, end_column = numbers
    text = where.text(given.get("text", ""))
    return Position(where.text(given["file"]), line or 1, column or 1, end_line, end_column, text)
