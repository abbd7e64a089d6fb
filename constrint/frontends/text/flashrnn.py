"""Reads models in FlashRNN's ConstrINT dialect: constraints over undeclared positive integers.

docs/constrint-flashrnn.md defines how this reader understands that language, and what it refuses. Most
expressions are read as in the main language; a list stands for any one of its values.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any, TypeAlias, cast

from constrint.errors import ParseError, Position
from constrint.expr import And, BoolExpr, Comparison, Const, IntExpr, Member, Mod
from constrint.expr.domain import Domain
from constrint.expr.position import Span
from constrint.frontends.text.expressions import RULES
from constrint.frontends.text.flashrnn_bounds import with_bounds
from constrint.frontends.text.flashrnn_plain import LONGEST_NUMBER, Plain, PlainReader
from constrint.frontends.text.flashrnn_syntax import COMMENT, parse, trees
from constrint.frontends.text.meanings import Value
from constrint.frontends.text.syntax import Source
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget, LimitExceeded

Node: TypeAlias = Any
"""A tree or a token of lark's."""

MOST_CHOICES = 10_000
"""The most combinations of list values in a comparison that are enumerated."""
SHORT_NUMBER = 3  # digits; shorter numbers are not counted
_LONG_NUMBER = re.compile(rf"[0-9][0-9]{{{SHORT_NUMBER},}}+")
_ANY_BRACKET = re.compile(r"[()\[\]]")
_BRACKET = re.compile(r"[()]")
POSITIVE = Domain(1, None)
_WORD = re.compile(r"\w")


def read_constraints(
    source: Source, model: Declarations, constants: dict[str, Value], budget: Budget | None = None
) -> None:
    """Add the constraints of a text to a model, and the variables that they mention.

    Args:
        source: The text.
        model: A model without variables.
        constants: Names that stand for integers or sequences of them.
        budget: The limits of reading.
    """
    code = COMMENT.sub(lambda found: " " * len(found[0]), source.text)
    budget = budget or Budget()
    _check_size(source, code, budget)
    reader = _FlashrnnReader(source, code, model, constants, budget)
    for begin, piece in parse(source, code):
        if isinstance(piece, Plain):
            reader.add_plain(piece)
        else:
            reader.add(begin, piece)


def _check_size(source: Source, code: str, budget: Budget) -> None:
    """Count nested brackets and the digits of numbers before parsing."""
    depth, most = 0, budget.limits.depth
    if most is not None and code.count("(") + code.count("[") > most:
        for bracket in _ANY_BRACKET.finditer(code):
            depth += 1 if bracket[0] in "([" else -1
            budget.depth(depth, partial(_where, source, bracket.start()))
    for number in _LONG_NUMBER.finditer(code):
        budget.digits(number[0], partial(_where, source, number.start()))
    budget.node(len(code) // 8, source.filename)


def _where(source: Source, start: int) -> str:
    line = source.text.count("\n", 0, start) + 1
    return f"{source.filename}:{line}:{start - source.text.rfind(chr(10), 0, start)}"


class _FlashrnnReader(PlainReader):
    """Turns statements into constraints; a name is declared at its first use."""

    def __init__(
        self, source: Source, code: str, model: Declarations, constants: dict[str, Value], budget: Budget
    ) -> None:
        super().__init__(source, constants, budget)
        self.code = code
        self.model = model
        self.begin = 0
        self._knows_lists = any(isinstance(meaning, tuple) for meaning in constants.values())
        self._has_lists = False
        self._chosen: dict[int, IntExpr] = {}

    def add_plain(self, plain: Plain) -> None:
        """Add the constraint for a plain one."""
        try:
            self.budget.node(len(plain.tokens))
            condition = self._condition_of(plain)
        except LimitExceeded:  # lark's trees know its place
            condition = None
        if condition is None:
            begin, piece = plain.piece
            for tree in trees(piece):
                self.add(begin, tree)
            return
        where = plain.begin, plain.end
        condition.at(Span(self.source, *(_with_brackets(self.code, *where) if plain.has_brackets else where)))
        self.model.add(condition)

    def _condition_of(self, plain: Plain) -> BoolExpr | None:
        if plain.values is not None:
            (name,) = plain.tokens
            subject = self.names[name] if name in self.names else self.declared(name, plain)
            if not isinstance(subject, IntExpr):
                return None
            return Member(subject, Domain.of_values(map(int, plain.values)))
        found = self.plain_sides(plain)
        return None if found is None else _compared(*found)

    def declared(self, name: str, plain: Plain) -> IntExpr:
        """A new variable."""
        self.budget.variable()
        start = self.code.find(name, plain.begin)
        while _WORD.match(self.code, start - 1, start) or _WORD.match(self.code, start + len(name)):
            start = self.code.find(name, start + 1)
        variable = self.names[name] = self.model.variable(name, POSITIVE).at(
            Span(self.source, start, start + len(name))
        )
        return variable

    def add(self, begin: int, tree: Node) -> None:
        """Add the constraint of a statement whose token positions count from `begin`."""
        self.begin = begin
        start, end = self._span(tree)
        self._has_lists = self._knows_lists or "[" in self.code[start:end]
        condition = self.boolean(tree)
        condition.at(Span(self.source, *_with_brackets(self.code, start, end)))
        self.model.add(condition)

    # ------------------------------------------------------------ places

    def _span(self, tree: Node) -> tuple[int, int]:
        """Start and end of a tree in the text."""
        first = last = tree
        while hasattr(first, "children"):
            first = first.children[0]
        while hasattr(last, "children"):
            last = last.children[-1]
        return self.begin + first.start_pos, self.begin + last.end_pos

    def span(self, tree: Node) -> Span:
        """The place of a tree, resolved later."""
        return Span(self.source, *self._span(tree))

    def position(self, tree: Node) -> Position:
        """The source position of a tree."""
        return self.span(tree).resolve()

    def where(self, tree: Node) -> str:
        """The place of a tree for messages of limits; empty for what lark reads again."""
        if isinstance(tree, Plain):
            return ""
        at = self.position(tree)
        return f"{self.source.filename}:{at.line}:{at.column}"

    def error(self, place: Node, message: str, hint: str = "") -> ParseError:
        """An error at a tree or token."""
        where = self.position(place)
        return self.source.error(where.line, where.column, message, hint)

    # ------------------------------------------------------------ expressions

    def expression(self, tree: Node) -> IntExpr:
        """An integer or a condition; only whole constraints and variables get source positions."""
        self.budget.node(1, lambda: self.where(tree))
        kind = tree.data if hasattr(tree, "data") else tree.type
        return _EXPRESSIONS[kind](self, tree)

    def _name(self, token: Node) -> IntExpr:
        meaning = self.names.get(token)
        if meaning is None:
            self.budget.variable(1, lambda: self.where(token))
            meaning = self.model.variable(str(token), POSITIVE).at(self.span(token))
            self.names[str(token)] = meaning
        return meaning if isinstance(meaning, IntExpr) else self._list(token)

    def _number(self, token: Node) -> IntExpr:
        from lark import Tree

        if (token[0] == "0" and len(token) > 1) or len(token) > LONGEST_NUMBER:
            return super()._number(Tree("number", [token]))
        return Const(int(token))

    def _list(self, tree: Node) -> IntExpr:
        if id(tree) not in self._chosen:
            raise self.error(tree, "a list cannot stand in a list", "write all values in one list")
        return self._chosen[id(tree)]

    def _alternating(self, tree: Node) -> IntExpr:
        """A sum or product: operands, with operators between them."""
        parts = [child if place % 2 else self.integer(child) for place, child in enumerate(tree.children)]
        return RULES[tree.data](self, tree, parts)

    def _power(self, tree: Node) -> IntExpr:
        return RULES["power"](self, tree, list(map(self.integer, tree.children)))

    def _remainder(self, tree: Node) -> IntExpr:
        dividend, divisor = map(self.integer, tree.children)
        return Mod(dividend, divisor)

    # ------------------------------------------------------------ comparisons

    def _comparison(self, tree: Node) -> IntExpr:
        lists = list(self._lists(tree)) if self._has_lists else []
        if not lists:
            return self._plain(tree)
        if "!=" in tree.children:
            hint = "a list stands for any one of its values; to exclude values write x != 1; x != 2"
            raise self.error(lists[0], "a list cannot be compared with !=", hint)
        if len(tree.children) == 3 and tree.children[1] == "==" and len(lists) == 1:
            left, _, right = tree.children
            if lists[0] is left or lists[0] is right:
                return self._allowed(left if lists[0] is right else right, lists[0])
        return self._some_choice(tree, lists)

    def _plain(self, tree: Node) -> BoolExpr:
        """Each side compared with the next."""
        sides = [self.integer(side) for side in tree.children[::2]]
        return _compared(sides, list(map(str, tree.children[1::2])))

    def _lists(self, tree: Node) -> Iterator[Node]:
        """The lists in an expression, each of which stands for any one of its values."""
        if isinstance(tree, str):
            if isinstance(self.names.get(tree), tuple):
                yield tree
        elif tree.data == "list":
            yield tree
        else:
            for child in tree.children:
                yield from self._lists(child)

    def _items(self, tree: Node) -> Sequence[IntExpr]:
        if isinstance(tree, str):
            return [Const(value) for value in cast("tuple[int, ...]", self.names[tree])]
        return [self.integer(child) for child in tree.children[1:-1]]

    def _some_choice(self, tree: Node, lists: list[Node]) -> BoolExpr:
        """The comparison for some value of each list."""
        items = [self._items(one) for one in lists]
        if prod(map(len, items)) > MOST_CHOICES:
            hint = "give each list a name of its own: t == [1, 2, 3]; x + t == 5"
            raise self.error(tree, f"these lists allow more than {MOST_CHOICES} choices of values", hint)
        cases = []
        for choice in itertools.product(*items):
            self._chosen = {id(one): value for one, value in zip(lists, choice, strict=True)}
            cases.append(self._plain(tree))
        self._chosen = {}
        return with_bounds(cases)

    def _allowed(self, subject: Node, values: Node) -> BoolExpr:
        """The subject has one of these values; each value that is not a constant gives an equation."""
        wanted = self.integer(subject)
        items = self._items(values)
        constants = [item.value for item in items if isinstance(item, Const)]
        if len(constants) == len(items):
            return Member(wanted, Domain.of_values(constants))
        return with_bounds([Comparison("==", wanted, item) for item in items])

    def _alternatives(self, tree: Node) -> BoolExpr:
        return with_bounds([self.boolean(child) for child in tree.children])


def _compared(sides: Sequence[IntExpr], operators: Sequence[str]) -> BoolExpr:
    """Each side compared with the next."""
    if len(sides) == 2:
        return Comparison(operators[0], sides[0], sides[1])
    links = [
        Comparison(operator, left, right)
        for operator, left, right in zip(operators, sides, sides[1:], strict=False)
    ]
    return And(tuple(links))


def _with_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """The range of a constraint, from the brackets before its first operand to those after its last.

    Brackets that enclose a ';' belong to several constraints, and are left out.
    """
    depth = lowest = 0
    for bracket in _BRACKET.finditer(text, start, end):
        depth += 1 if bracket[0] == "(" else -1
        if depth < lowest:
            lowest = depth
    before, after = text.rfind(";", 0, start) + 1, text.find(";", end)
    for _ in range(-lowest):
        place = text.rfind("(", before, start)
        start = place if place >= 0 else start
    for _ in range(depth - lowest):
        place = text.find(")", end, after if after >= 0 else len(text))
        end = place + 1 if place >= 0 else end
    return start, end


_EXPRESSIONS: dict[str, Callable[[_FlashrnnReader, object], IntExpr]] = {
    "NAME": _FlashrnnReader._name,
    "NUMBER": _FlashrnnReader._number,
    "list": _FlashrnnReader._list,
    "chain": _FlashrnnReader._comparison,
    "or_": _FlashrnnReader._alternatives,
    "remainder": _FlashrnnReader._remainder,
    "sum": _FlashrnnReader._alternating,
    "product": _FlashrnnReader._alternating,
    "power": _FlashrnnReader._power,
}
