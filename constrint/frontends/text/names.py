"""Names in the text language: of the model, of generators, and of parameters of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from constrint.errors import ParseError
from constrint.expr import BoolConst, Const, IntExpr
from constrint.expr.domain import Label
from constrint.expr.position import Span
from constrint.frontends.constants import ConstantReader, Place, name_of, nearest
from constrint.frontends.text.meanings import Template, Value
from constrint.frontends.text.syntax import Source
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

MOST_SHOWN = 4
"""The most names of generators whose values a message shows."""


class _Caller(NamedTuple):
    """Where a function is called: what is set back when its body has been read."""

    source: Source
    locals: dict[str, Value]
    call: Span


class NameReader(ConstantReader):
    """Looks names up; messages show the values of local ones.

    Attributes:
        names: The names of the model.
        locals: The names of the generators around the present place, or of the present function.
    """

    def __init__(self, source: Source, names: dict[str, Value], budget: Budget) -> None:
        super().__init__(source, budget)
        self.names = names
        self.locals: dict[str, Value] = {}
        self.line = 1  # line of the present statement
        self._callers: list[_Caller] = []

    def declared_later(self, name: str) -> int | None:
        """The line of a later declaration of the name, or None."""
        raise NotImplementedError

    def element_name(self, name: str) -> IntExpr | None:
        """The variable or definition of the model with this name, which may be that of an element."""
        found = self.names.get(name)
        return found if isinstance(found, IntExpr) else None

    def lookup(self, tree: Node) -> Value:
        """The meaning of a name."""
        name = name_of(tree)
        found = self.found(name)
        if found is None:
            raise self.unknown(tree, name)
        return found

    def found(self, name: str) -> Value | None:
        """The meaning of a name; None if it has none."""
        if name in self.locals:
            return self.locals[name]
        if name in self.names:
            return self.names[name]
        return self.element_name(name) if name.endswith("]") else None

    def unknown(self, tree: Node, name: str) -> ParseError:
        """The error for a name that is not declared."""
        later = self.declared_later(name) if not self._callers else None
        near = nearest(name, [*self.locals, *self.names, "true", "false"])
        if later:
            hint = f"it is declared on line {later}; move that line up"
        elif near:
            hint = f"did you mean '{near[0]}'?"
        else:
            hint = f"declare it first: {name} in 1..64, or {name} bool"
        return self.error(tree, f"'{name}' is not declared", hint)

    def error(self, place: Place, message: str, hint: str = "") -> ParseError:
        """An error at a tree or token, with the values of generators around it and the callers."""
        shown = [f"{name} = {text}" for name in self.locals if (text := shown_value(self.locals[name]))]
        if shown:
            more = ", …" if len(shown) > MOST_SHOWN else ""
            message += f", where {', '.join(shown[:MOST_SHOWN])}{more}"
        if self._callers:
            message += f", called from {self._callers[-1].call.resolve()}"
        return super().error(place, message, hint)

    def statement_place(self) -> str:
        """The line of the present statement, for messages."""
        source = self._callers[0].source if self._callers else self.source
        return f"{source.filename}:{self.line}"

    def enter(self, template: Template, arguments: list[Value], call: Node) -> None:
        """Begin to read the body of a function."""
        self._callers.append(_Caller(self.source, self.locals, self.span(call)))
        self.source = template.source
        self.locals = dict(zip(template.parameters, arguments, strict=True))

    def leave(self) -> None:
        """The end of a function's body."""
        self.source, self.locals, _ = self._callers.pop()


def shown_value(value: Value) -> str:
    """The value of a local name for a message; empty where it is no number."""
    if isinstance(value, BoolConst):
        return "true" if value.value else "false"
    if isinstance(value, Const) and isinstance(value.value, Label):
        return str(value.value.labels[value.value])
    if isinstance(value, Const) and value.value.bit_length() < 100:
        return str(value.value)
    return ""
