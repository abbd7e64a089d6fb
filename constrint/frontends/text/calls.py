"""Calls of functions: the aggregates, the registered functions, global constraints, and those of the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from constrint.errors import ParseError
from constrint.expr import (
    FUNCTIONS,
    And,
    BoolExpr,
    Const,
    FloorDiv,
    IfThenElse,
    IntExpr,
    IntFunction,
    Or,
    linear,
)
from constrint.expr.build import product
from constrint.expr.domain import Domain
from constrint.expr.walk import Depths
from constrint.frontends.constants import Place, name_of, nearest, subtrees
from constrint.frontends.text import global_calls
from constrint.frontends.text.indexing import IndexReader
from constrint.frontends.text.labels import check_alike, check_numbers
from constrint.frontends.text.meanings import (
    Array,
    EnumerationType,
    Items,
    Number,
    Template,
    Value,
    has_fractions,
    is_number,
    kind_of,
)
from constrint.frontends.text.refusals import no_fractions, unusable
from constrint.frontends.text.syntax import Source
from constrint.globals import GLOBALS
from constrint.support.limits import Budget, LimitExceeded
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from lark import Token, Tree

    from constrint.frontends.text.expressions import ExpressionReader

    Node: TypeAlias = Tree[Token]


_STEPS_OF_CALL = 4


class CallReader(IndexReader):
    """Reads calls."""

    def __init__(self, source: Source, names: dict[str, Value], budget: Budget) -> None:
        super().__init__(source, names, budget)
        self.depths = Depths(budget.limits.depth)
        self._noted: dict[int, tuple[int, Value]] = {}  # by identity; kept, so that it stays theirs

    def called(self, tree: Node) -> Value:
        """The value of a call."""
        name, *arguments = subtrees(tree)
        word = name_of(name)
        found = self.found(word)
        if isinstance(found, Template):
            return self._applied(tree, found, arguments)
        if word in AGGREGATES:
            return AGGREGATES[word].read(self, tree, arguments)
        if word in global_calls.NAMES:
            return global_calls.read_call(self, tree, word, arguments)
        if word not in CALLED:
            raise self.no_function(name)
        return self._function(tree, word, arguments)

    def _function(self, tree: Node, name: str, arguments: list[Node]) -> Number:
        function = CALLED[name]
        fewest, most = function.fewest, function.most
        takes_fractions = name in _OF_FRACTIONS
        parts: tuple[Number, ...]
        if most is None and len(arguments) == 1:
            parts = tuple(self.numbers(arguments) if takes_fractions else self.spread(arguments))
            if len(parts) < fewest:
                raise self.error(tree, f"{name} of no values", f"{name} needs at least {fewest}")
        elif not fewest <= len(arguments) <= (most or len(arguments)):
            wanted = f"{'' if most == fewest else 'at least '}{counted(fewest, 'argument')}"
            raise self.error(tree, f"{name} takes {wanted}, not {len(arguments)}")
        else:
            conditions = function.conditions
            read: Callable[[Node], Number] = self.operand if takes_fractions else self.expression
            parts = tuple(
                [
                    self.boolean(argument) if place < conditions else read(argument)
                    for place, argument in enumerate(arguments)
                ]
            )
        if takes_fractions and not all(isinstance(part, IntExpr) for part in parts):
            from constrint.frontends.text.fractions import applied

            return applied(cast("ExpressionReader", self), tree, name, parts)
        return self.applied(tree, function, cast("tuple[IntExpr, ...]", parts))

    def applied(self, place: Place, function: type[IntFunction], parts: tuple[IntExpr, ...]) -> IntExpr:
        """A function of these arguments, whose number is right."""
        if function.grows:
            self.check_bits(place, parts, sum)
        if function is IfThenElse:
            check_alike(self, place, *parts[1:])
        else:
            check_numbers(self, place, parts)
        return function.of(parts)

    def spread(self, arguments: Sequence[Node]) -> list[IntExpr]:
        """The expressions that arguments are; a single list, array, set or comprehension is its entries."""
        found = self.numbers(arguments)
        for place, one in enumerate(found):
            if not isinstance(one, IntExpr):
                several = len(arguments) > 1 or arguments[0].data not in _COLLECTIONS
                raise (
                    unusable(self, arguments[place if len(arguments) > 1 else 0], one)
                    if several
                    else no_fractions(self, arguments[0])
                )
        return cast("list[IntExpr]", found)

    def numbers(self, arguments: Sequence[Node]) -> list[Number]:
        """As `spread`, with fractions."""
        if len(arguments) != 1:
            return [self.operand(argument) for argument in arguments]
        only = arguments[0]
        if only.data == "comprehension":
            found: list[Number] = []
            for value in self.expanded(only, self.value):
                found += self._as_entries(only, value)
            return found
        if only.data not in _COLLECTIONS:
            return [self.operand(only)]
        return list(self._as_entries(only, self.value(only)))

    def _as_entries(self, tree: Node, value: Value) -> Sequence[Number]:
        if is_number(value):
            return [value]
        found = self._in_one_list(tree, value)
        if found is None:
            text = self.position(tree).text
            raise self.error(tree, f"'{text}' is {kind_of(value)}, not a list of numbers")
        return found

    def in_one_list(self, tree: Node, value: Value) -> tuple[IntExpr, ...] | None:
        """The entries of a list, an array or a set; None for another value.

        Lists within a list are refused: as pairs, arcs or rows they have a meaning that would be lost. So are
        fractions.
        """
        found = self._in_one_list(tree, value)
        if found is not None and not all(isinstance(one, IntExpr) for one in found):
            raise no_fractions(self, tree)
        return cast("tuple[IntExpr, ...] | None", found)

    def _in_one_list(self, tree: Node, value: Value) -> Sequence[Number] | None:
        """As `in_one_list`, with fractions."""
        if isinstance(value, Items) and any(isinstance(item, Items | tuple) for item in value.items):
            hint = "write its entries in one list, or name it and write [row[j] for row in …]"
            raise self.error(tree, "one list is needed here, and this one has lists in it", hint)
        if isinstance(value, Array):
            self.budget.elements(len(value.entries), self.statement_place)
            return value.entries
        if isinstance(value, Items) and has_fractions(value):
            self.budget.elements(len(value.items), self.statement_place)
            return cast("tuple[Number, ...]", value.items) if all(map(is_number, value.items)) else None
        return self.flat(value)

    def is_one_number(self, tree: Node) -> bool:
        """Whether an argument is a number, and no list."""
        return tree.data not in _COLLECTIONS or (tree.data != "comprehension" and is_number(self.value(tree)))

    def no_function(self, tree: Node) -> ParseError:
        """The error for a call of what is no function."""
        name = name_of(tree)
        if self.found(name) is not None:
            return self.error(tree, f"'{name}' is not a function", f"a product is written {name} * (…)")
        templates = [other for other, value in self.names.items() if isinstance(value, Template)]
        known = [*AGGREGATES, *CALLED, *global_calls.NAMES, *templates]
        near = nearest(name, known)
        later = self.declared_later(f"{name}(")
        hint = f"did you mean '{near[0]}'?" if near else f"the functions are {', '.join(known)}"
        from constrint.frontends.text.hints import FUNCTIONS

        hint = FUNCTIONS.get(name, hint)
        if later:
            hint = f"it is defined on line {later}; move that line up (a function cannot call itself)"
        return self.error(tree, f"there is no function '{name}'", hint)

    def is_word(self, name: str) -> bool:
        """Whether a name may be a word of a global constraint."""
        return any(name in field.words for one in GLOBALS.values() for field in one.fields)

    # ------------------------------------------------------------ functions of the text

    def _applied(self, tree: Node, template: Template, arguments: list[Node]) -> Value:
        """The body of a function, with these arguments."""
        wanted = len(template.parameters)
        if len(arguments) != wanted or any(argument.data == "comprehension" for argument in arguments):
            given = (
                "a comprehension" if arguments and arguments[0].data == "comprehension" else len(arguments)
            )
            parameters = f"{counted(wanted, 'argument')} ({', '.join(template.parameters)})"
            message = f"{template.name} takes {parameters}, not {given}"
            hint = "put brackets around a list: f([… for …])" if given == "a comprehension" else ""
            raise self.error(tree, message, hint)
        values = [self.value(argument) for argument in arguments]
        self._depth += 1
        self.budget.depth(self._depth, partial(self.where, tree))
        self.budget.count_steps(_STEPS_OF_CALL + len(values), partial(self.where, tree))
        self.enter(template, values, tree)
        try:
            found = self.value(template.body)
        finally:
            self.leave()
        self._depth -= 1
        if isinstance(found, IntExpr) and any(
            isinstance(value, IntExpr) and value.children for value in values
        ):
            self.note_depth(tree, found)
        return found

    def note_depth(self, tree: Place, expr: IntExpr) -> None:
        """Refuse an expression that is nested too deeply by what its names stand for."""
        try:
            self.depths.note(expr)
        except LimitExceeded as error:
            raise LimitExceeded(error.name, error.limit, self.where(tree)) from None

    def noted(self, tree: Node, value: Value) -> Value:
        """A value that gets a name, after a check that it is not nested too deeply."""
        self._levels(tree, value)
        return value

    def _levels(self, tree: Node, value: Value) -> int:
        """How deep lists stand in each other by what their names stand for; each list is visited once."""
        value = getattr(value, "numerator", value)  # of a fraction
        if isinstance(value, IntExpr):
            if value.children:
                self.note_depth(tree, value)
            return 0
        if not isinstance(value, Items | Array):
            return 0
        known = self._noted.get(id(value))
        if known is not None:
            return known[0]
        parts = value.items if isinstance(value, Items) else value.entries
        self.budget.elements(len(parts), partial(self.where, tree))
        levels = 1 + max([self._levels(tree, part) for part in parts], default=0)
        self.budget.depth(levels, partial(self.where, tree))
        self._noted[id(value)] = levels, value
        return levels

    # ------------------------------------------------------------ aggregates

    def total(self, tree: Node, arguments: list[Node]) -> Number:
        """A sum of any number of terms."""
        found = self.numbers(arguments)
        if not all(isinstance(term, IntExpr) for term in found):
            from constrint.frontends.text.fractions import applied

            return applied(cast("ExpressionReader", self), tree, "sum", found)
        terms = cast("list[IntExpr]", found)
        check_numbers(self, tree, terms)
        return self.moderate(tree, linear([(1, term) for term in terms]))

    def times(self, tree: Node, arguments: list[Node]) -> Number:
        """A product of any number of factors."""
        found = self.numbers(arguments)
        if not all(isinstance(factor, IntExpr) for factor in found):
            from constrint.frontends.text.fractions import applied

            return applied(cast("ExpressionReader", self), tree, "product", found)
        factors = cast("list[IntExpr]", found)
        check_numbers(self, tree, factors)
        self.check_bits(tree, factors, sum)
        result: IntExpr = Const(1)
        for factor in factors:
            result = product(result, factor)
        return self.moderate(tree, result)

    def conditions(self, tree: Node, arguments: list[Node]) -> tuple[BoolExpr, ...]:
        """The conditions in arguments."""
        if len(arguments) != 1:
            return tuple([self.boolean(argument) for argument in arguments])
        if arguments[0].data == "comprehension":
            head = subtrees(arguments[0])[0]
            if head.data not in _COLLECTIONS:
                return tuple(self.expanded(arguments[0], self.boolean))
        found = self.spread(arguments)
        for entry in found:
            if not isinstance(entry, BoolExpr):
                text = self.position(arguments[0]).text
                raise self.error(
                    arguments[0], f"'{text}' has numbers, not conditions", "compare them: … != 0"
                )
        return tuple(cast("list[BoolExpr]", found))

    def all_hold(self, tree: Node, arguments: list[Node]) -> IntExpr:
        """Whether all conditions hold."""
        found = self.conditions(tree, arguments)
        return found[0] if len(found) == 1 else And(found)

    def some_hold(self, tree: Node, arguments: list[Node]) -> IntExpr:
        """Whether some condition holds."""
        found = self.conditions(tree, arguments)
        return found[0] if len(found) == 1 else Or(found)

    def length(self, tree: Node, arguments: list[Node]) -> IntExpr:
        """How many members a list or set has, or the first axis of an array."""
        if len(arguments) != 1:
            raise self.error(tree, f"len takes 1 list or set, not {len(arguments)} arguments")
        if arguments[0].data == "comprehension":
            return Const(len(self.expanded(arguments[0], self.value)))
        value = self.value(arguments[0])
        if isinstance(value, tuple | EnumerationType):
            return Const(len(value))
        if isinstance(value, Items):
            return Const(len(value.items))
        if isinstance(value, Array):
            return Const(len(value.axes[0]))
        if isinstance(value, Domain) and value.size is not None:
            return Const(value.size)
        text = self.position(arguments[0]).text
        raise self.error(arguments[0], f"'{text}' is {kind_of(value)} without a length")


class Aggregate(NamedTuple):
    """A function of any number of arguments, or of one list.

    Attributes:
        read: Reads a call.
        meaning: What it stands for, in a few words.
    """

    read: Callable[[CallReader, Node, list[Node]], Number]
    meaning: str


AGGREGATES: dict[str, Aggregate] = {
    "sum": Aggregate(CallReader.total, "the sum; 0 of no terms"),
    "product": Aggregate(CallReader.times, "the product; 1 of no factors"),
    "forall": Aggregate(CallReader.all_hold, "all conditions hold; true of none"),
    "exists": Aggregate(CallReader.some_hold, "some condition holds; false of none"),
    "len": Aggregate(CallReader.length, "the number of members of a list or set"),
}
"""The functions of lists that are not registered functions."""


class _CeilDiv(FloorDiv):
    """The quotient rounded up, which has no node of its own."""

    __slots__ = ()

    @classmethod
    def of(cls, operands: tuple[IntExpr, ...]) -> IntExpr:
        dividend, divisor = operands
        return -FloorDiv(-dividend, divisor)


CALLED: dict[str, type[IntFunction]] = {
    **{name: function for name, function in FUNCTIONS.items() if not function.infix},
    "ceildiv": _CeilDiv,
}
"""The registered functions that are called by name."""

_OF_FRACTIONS = frozenset(["abs", "if_then_else", "max", "min"])
"""Registered functions that take fractions, too; `sum` and `product` do as well."""


_COLLECTIONS = frozenset(["list", "name", "index", "call", "range", "braces", "group", "comprehension"])
"""Trees that may stand for a list."""
