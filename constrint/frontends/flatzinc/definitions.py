"""The variables that constraints define, so that search need not decide them, and errors with their line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from constrint.errors import ModelError
from constrint.expr import IntExpr
from constrint.expr.build import linear
from constrint.expr.domain import Domain
from constrint.frontends.flatzinc.builtins import CONDITIONS, FUNCTIONS, relation
from constrint.frontends.flatzinc.items import Document, Item, Name, Value, shortened
from constrint.frontends.flatzinc.library import GLOBALS
from constrint.frontends.flatzinc.typed_arguments import Arguments, Builder
from constrint.support.limits import LimitExceeded

ONCE = 2  # constraints that name a variable: the one that defines it, and one that uses it


class Guarded:
    """A block whose errors get the line of a constraint; a class, as a text has many of them."""

    __slots__ = ("_document", "_item")

    def __init__(self, document: Document, item: Item) -> None:
        self._document = document
        self._item = item

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        document, item = self._document, self._item
        if isinstance(problem, IndexError | ValueError | TypeError):
            message = f"'{shortened(item.name)}' has arguments that do not fit ({problem})"
            raise document.error(item.line, message) from None
        if isinstance(problem, LimitExceeded):
            where = problem.where or document.place(item.line)
            raise LimitExceeded(problem.name, problem.limit, where) from None
        if isinstance(problem, ModelError):
            raise document.error(item.line, f"{shortened(item.name)}: {problem}") from None


def found_definitions(builder: Builder, arrays: Mapping[str, list[Value]]) -> dict[str, Item]:
    """Find for each variable that search need not decide the constraint that defines it."""
    document, found = builder.document, dict[str, Item]()
    uses: dict[str, int] | None = None
    for item in document.constraints:
        name = item.defines
        last = item.args[-1]
        if item.name == "bool2int" and isinstance(last, Name) and last.index is None:
            name = last.name
        declaration = document.declarations.get(name or "")
        if name is None or declaration is None or declaration.value is not None or declaration.is_array:
            continue
        domain = declaration.domain
        is_partial = item.name in FUNCTIONS and FUNCTIONS[item.name].is_partial
        if is_partial and domain is not None and domain.lo is None and domain.hi is None:
            continue  # otherwise no bound would require that it is defined, wherever it is used
        with Guarded(document, item):
            if _is_bounded(domain) and _is_long_sum(builder, item):
                if uses is None:  # most texts define no such sums
                    uses = _uses(builder, arrays)
                if uses.get(name, 0) > ONCE:
                    continue
            if name not in found and target_of(builder, item, name) is not None:
                found[name] = item
    return found


def _uses(builder: Builder, arrays: Mapping[str, list[Value]]) -> dict[str, int]:
    """How many constraints name each variable, by itself or in an array."""
    uses: dict[str, int] = {}
    entries: dict[str, set[str]] = {}  # of arrays: the variables in them
    for item in builder.document.constraints:
        names: set[str] = set()
        for arg in item.args:
            if type(arg) is list:
                names.update([x.name for x in arg if type(x) is Name])
            elif type(arg) is Name:
                names.add(arg.name)
                if arg.name in arrays:
                    if arg.name not in entries:
                        parts = builder.entries(Name(arg.name), item.line)
                        entries[arg.name] = {x.name for x in _names(parts)}
                    names |= entries[arg.name]
        for name in names:
            uses[name] = uses.get(name, 0) + 1
    return uses


def _is_long_sum(builder: Builder, item: Item) -> bool:
    """Whether a constraint is a linear equation of three variables or more."""
    return item.name == "int_lin_eq" and len(_names(builder.entries(item.args[1], item.line))) > 2


def target_of(builder: Builder, item: Item, name: str) -> Any:
    """The function of the arguments by which a constraint defines a variable; None if it does not."""
    if item.name in FUNCTIONS:
        defined = FUNCTIONS[item.name]
        return defined.number if item.args[defined.place] == Name(name) else None
    if item.name in CONDITIONS:
        condition, place = CONDITIONS[item.name]
        return condition if len(item.args) > place and item.args[place] == Name(name) else None
    if item.name == "int_lin_eq":
        return _solved_for(builder, item, name)
    if item.name.endswith("_reif") and item.args[-1] == Name(name):
        inner = relation(item.name.removesuffix("_reif"), GLOBALS)
        return None if inner is None else lambda a: inner(a.but_last())
    return None


def _solved_for(builder: Builder, item: Item, name: str) -> Any:
    """A linear equation solved for a variable with coefficient 1 or -1."""
    factors, variables = (builder.entries(part, item.line) for part in item.args[:2])
    if variables.count(Name(name)) != 1:
        return None
    place = variables.index(Name(name))
    sign = factors[place]
    if sign not in (1, -1):
        return None

    def solved(a: Arguments) -> IntExpr:
        numbers = builder.numbers(variables[:place] + variables[place + 1 :], item.line, a.depth)
        scales = builder.constants(factors[:place] + factors[place + 1 :], item.line)
        terms = [(-sign * factor, x) for factor, x in zip(scales, numbers, strict=True)]
        return linear(terms, sign * int(a.constant(2)))

    return solved


def _names(entries: Sequence[Value]) -> list[Name]:
    return [entry for entry in entries if isinstance(entry, Name)]


def _is_bounded(domain: Domain | None) -> bool:
    return domain is not None and domain.lo is not None and domain.hi is not None
