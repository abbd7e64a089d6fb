"""A model read from FlatZinc, and the parts of a text beside its constraints: output, objective, search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from constrint.expr import BoolExpr, BoolVar, Const, IntExpr, IntVar
from constrint.expr.domain import Domain
from constrint.frontends.flatzinc.items import Call, Declaration, Document, Name, Value, shortened
from constrint.frontends.flatzinc.typed_arguments import Builder
from constrint.modelling.declarations import Declarations
from constrint.modelling.symbols import SetExpr

if TYPE_CHECKING:
    from constrint.expr.rational import Rational

DIVISOR = "objective_divided_by"
"""The annotation that says by what the values of the objective are divided."""


@dataclass(frozen=True)
class Output:
    """An item that is printed for each solution.

    Attributes:
        name: The name of the variable or array.
        exprs: Its value, or its values.
        ranges: For an array, the range of each of its indices.
    """

    name: str
    exprs: tuple[IntExpr | SetExpr, ...]
    ranges: tuple[tuple[int, int], ...] | None = None


@dataclass
class FlatModel:
    """A model read from FlatZinc.

    Attributes:
        model: The model, with its goal.
        outputs: The printed items, in order.
        document: The text as data.
        searched: The variables of the search annotations in order, with their selectors.
    """

    model: Declarations
    outputs: list[Output] = field(default_factory=list)
    document: Document = field(default_factory=Document)
    searched: list[tuple[tuple[IntExpr, ...], str, str]] = field(default_factory=list)


def read_outputs(builder: Builder, flat: FlatModel) -> None:
    """Add the printed items."""
    for declaration in builder.document.declarations.values():
        for annotation in declaration.annotations:
            if annotation == Name("output_var"):
                expr = _read(builder, declaration, Name(declaration.name))
                _show(flat, declaration.name, expr)
                flat.outputs.append(Output(declaration.name, (expr,)))
            if isinstance(annotation, Call) and annotation.name == "output_array":
                output = _array(builder, declaration, annotation)
                flat.outputs.append(output)
                entries = builder.entries(Name(declaration.name), declaration.line)
                for entry, expr in zip(entries, output.exprs, strict=True):
                    if isinstance(entry, Name) and entry.index is None:
                        _show(flat, entry.name, expr)


def _show(flat: FlatModel, name: str, expr: IntExpr | SetExpr) -> None:
    """Have results show a value that is no variable of the model."""
    model = flat.model
    if isinstance(expr, IntExpr) and not any(
        name in one for one in (model.variables, model.symbols, model.lets)
    ):
        model.let(name, expr)


def _read(builder: Builder, declaration: Declaration, value: Value) -> IntExpr | SetExpr:
    if declaration.is_set:
        return builder.set_of(value, declaration.line)
    if declaration.domain is None:
        return builder.condition(value, declaration.line)
    return builder.number(value, declaration.line)


def _array(builder: Builder, declaration: Declaration, annotation: Call) -> Output:
    document, line = builder.document, declaration.line
    entries = builder.entries(Name(declaration.name), line)
    exprs = tuple(_read(builder, declaration, entry) for entry in entries)
    ranges, size = [], 1
    for part in builder.entries(annotation.args[0], line):
        if not isinstance(part, Domain | Name):
            raise document.error(line, "output_array needs sets of indices")
        domain = builder.members(part, line)
        ranges.append((domain.lo or 0, domain.hi or 0) if not domain.is_empty else (1, 0))
        size *= domain.size or 0
    if size != len(exprs):
        from constrint.support.long_numbers import counted

        name = shortened(declaration.name)
        raise document.error(
            line,
            f"'{name}' has {counted(len(exprs), 'entry')}, "
            f"but its output_array is for {shortened(str(size))}",
        )
    return Output(declaration.name, exprs, tuple(ranges))


def read_solve_item(builder: Builder, flat: FlatModel) -> None:
    """Add the objective and the annotations of the search."""
    document = builder.document
    if document.objective is not None:
        goal: IntExpr | Rational = builder.number(document.objective, document.solve_line)
        for annotation in document.search:
            if isinstance(annotation, Call) and annotation.name == DIVISOR:
                goal = _divided(builder, goal, annotation)
        (flat.model.minimize if document.goal == "minimize" else flat.model.maximize)(goal)
    for annotation in document.search:
        _search(builder, flat, annotation)


def _divided(builder: Builder, goal: IntExpr | Rational, annotation: Call) -> Rational:
    """A goal whose values are divided by an integer, as its annotation says; as floats where that is true."""
    from constrint.expr.rational import Rational

    divisor, is_float = annotation.args if len(annotation.args) == 2 else (0, None)
    if not isinstance(goal, IntExpr) or not isinstance(divisor, int) or divisor < 1:
        message = f"{DIVISOR} takes a divisor of at least 1, and whether values are floats, and stands once"
        raise builder.document.error(builder.document.solve_line, message)
    return Rational(goal, divisor, is_float is True)


def _search(builder: Builder, flat: FlatModel, annotation: Value) -> None:
    """One annotation; others are ignored, as FlatZinc says: annotations change no solution."""
    if not isinstance(annotation, Call):
        return
    line, arguments = builder.document.solve_line, annotation.args
    if annotation.name in ("seq_search", "warm_start_array") and arguments:
        for part in builder.entries(arguments[0], line):
            _search(builder, flat, part)
    elif annotation.name in ("warm_start", "warm_start_int", "warm_start_bool") and len(arguments) == 2:
        _hint(builder, flat, *[builder.entries(part, line) for part in arguments])
    elif annotation.name in ("int_search", "bool_search", "set_search") and len(arguments) >= 3:
        selectors = [part.name if isinstance(part, Name | Call) else "" for part in arguments[1:3]]
        entries = builder.entries(arguments[0], line)
        if annotation.name != "set_search":
            exprs = tuple(builder.number(entry, line) for entry in entries)
            flat.searched.append((exprs, selectors[0], selectors[1]))
            return
        is_first_out, is_greatest = selectors[1].startswith("outdomain"), selectors[1].endswith("_max")
        inside = [_elements(builder.set_of(entry, line), is_greatest) for entry in entries]
        exprs = tuple(one for members in inside for one in members)
        flat.searched.append((exprs, selectors[0], "indomain_min" if is_first_out else "indomain_max"))


def _elements(found: SetExpr, is_greatest: bool) -> list[BoolExpr]:
    """The truth values of the elements of a set in order."""
    return [found.members[one] for one in sorted(found.members, reverse=is_greatest)]


def _hint(builder: Builder, flat: FlatModel, names: list[Value], values: list[Value]) -> None:
    """Hint the variables of a warm start; its constants and defined variables are passed over."""
    line = builder.document.solve_line
    pairs = [(builder.number(x, line), builder.number(v, line)) for x, v in zip(names, values, strict=False)]
    known = [(x.name, v) for x, v in pairs if isinstance(x, IntVar | BoolVar)]
    flat.model.hint({name: v.value for name, v in known if isinstance(v, Const)})
