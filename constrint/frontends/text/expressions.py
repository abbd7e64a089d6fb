"""Builds expressions from the syntax tree of `.constrint` text.

Nodes are built directly, not by Python's operators, because each has its place in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from constrint.errors import ParseError, Undefined
from constrint.expr import (
    FUNCTIONS,
    And,
    BoolConst,
    BoolExpr,
    Comparison,
    Const,
    Divides,
    Element,
    FloorDiv,
    Iff,
    Implies,
    IntExpr,
    IntFunction,
    Member,
    Mod,
    Not,
    Or,
    Pow,
    linear,
)
from constrint.expr.arithmetic.choices import element_of
from constrint.expr.build import product
from constrint.expr.domain import Domain
from constrint.frontends.constants import ConstantReader, as_token, nearest, subtrees
from constrint.frontends.constants import as_tree as as_tree
from constrint.frontends.constants import name_of as name_of
from constrint.frontends.text import global_calls
from constrint.frontends.text.syntax import Source
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

Meaning: TypeAlias = IntExpr | tuple[int, ...]
"""The meaning of a name: a variable, an expression or constant, or a sequence of integers."""

MOST_MEMBERS = 1_000_000
"""The most members of a range in braces; a longer one belongs outside braces."""


class ExpressionReader(ConstantReader):
    """Turns trees into expressions, sets and constants, given the meanings of names."""

    def __init__(self, source: Source, names: dict[str, Meaning], budget: Budget | None = None) -> None:
        super().__init__(source, budget or Budget())
        self.names = names
        self.line = 1  # line of the present statement
        self._depth = 0

    def declared_later(self, name: str) -> int | None:
        """The line of a later declaration of the name, or None."""
        raise NotImplementedError

    # ------------------------------------------------------------ expressions

    def expression(self, tree: Node) -> IntExpr:
        """An integer or a condition."""
        self.budget.node(1, partial(self.where, tree))
        nests = tree.data in _NESTING
        self._depth += nests
        if nests:
            self.budget.depth(self._depth, partial(self.where, tree))
        expr = _EXPRESSIONS[tree.data](self, tree).at(self.span(tree))
        self._depth -= nests
        return expr

    def integer(self, tree: Node) -> IntExpr:
        """An operand of arithmetic; a condition counts as 0 or 1."""
        return self.expression(tree)

    def boolean(self, tree: Node) -> BoolExpr:
        """An operand of and, or, not, ->, <->."""
        expr = self.expression(tree)
        if not isinstance(expr, BoolExpr):
            text = self.position(tree).text
            raise self.error(tree, f"'{text}' is a number, not a condition", f"compare it: {text} != 0")
        return expr

    def constant(self, tree: Node) -> int:
        """A constant; raises `ParseError` for anything else."""
        if tree.data == "number":
            return self.number(as_token(tree.children[0]))
        expr = self.integer(tree)
        for variable in expr.variables():
            hint = "for bounds that depend on variables write comparisons: lo <= x <= hi"
            raise self.error(tree, f"'{variable.name}' is a variable; a constant is needed here", hint)
        try:
            return int(self.value_of(tree, expr))
        except Undefined as error:
            raise self.error(tree, f"this is undefined: {error}") from None

    def _number(self, tree: Node) -> IntExpr:
        return Const(self.number(as_token(tree.children[0])))

    def _truth(self, tree: Node) -> IntExpr:
        return BoolConst(tree.children[0] == "true")

    def _group(self, tree: Node) -> IntExpr:
        return self.expression(as_tree(tree.children[1]))

    def _named(self, tree: Node) -> IntExpr:
        meaning = self.lookup(tree)
        if isinstance(meaning, tuple):
            name = name_of(tree)
            raise self.error(tree, f"'{name}' is a sequence, not a number", f"write {name}[k] or x in {name}")
        return meaning

    def lookup(self, tree: Node) -> Meaning:
        """The meaning of a name."""
        name = name_of(tree)
        if name in self.names:
            return self.names[name]
        later = self.declared_later(name)
        near = nearest(name, [*self.names, "true", "false"])
        if later:
            hint = f"it is declared on line {later}; move that line up"
        elif near:
            hint = f"did you mean '{near[0]}'?"
        else:
            hint = f"declare it first: {name} in 1..64, or {name} bool"
        raise self.error(tree, f"'{name}' is not declared", hint)

    def _sum(self, tree: Node) -> IntExpr:
        first, *rest = tree.children
        terms = [(1, self.integer(as_tree(first)))]
        for sign, term in zip(rest[::2], rest[1::2], strict=True):
            terms.append((1 if sign == "+" else -1, self.integer(as_tree(term))))
        return self.moderate(tree, linear(terms))

    def _product(self, tree: Node) -> IntExpr:
        first, *rest = tree.children
        factors = [self.integer(as_tree(first))]
        quotients, remainder = 0, False
        for i in range(0, len(rest), 2):
            operator, factor = rest[i], self.integer(as_tree(rest[i + 1]))
            if operator == "*":
                if remainder:
                    raise self._ambiguous_remainder(tree, i)
                factors.append(factor)
                continue
            quotients += 1
            remainder = remainder or operator == "%"
            self.budget.depth(self._depth + quotients, partial(self.where, tree))
            kind = FloorDiv if operator == "//" else Mod
            factors = [kind(self.multiplied(tree, factors), factor)]
        return self.multiplied(tree, factors)

    def multiplied(self, tree: Node, factors: list[IntExpr]) -> IntExpr:
        """The product of factors, after a check that constants in it do not grow too long."""
        self.check_bits(tree, factors, sum)
        result = factors[0]
        for factor in factors[1:]:
            result = product(result, factor)
        return self.moderate(tree, result)

    def _ambiguous_remainder(self, tree: Node, i: int) -> ParseError:
        def text(first: int, last: int) -> str:
            start, end = (
                as_tree(tree.children[first]).meta.start_pos,
                as_tree(tree.children[last]).meta.end_pos,
            )
            return self.source.text[self.begin + start : self.begin + end]

        before, after = text(0, i), text(i + 2, i + 2)
        remainder = max(j for j in range(1, i + 1, 2) if tree.children[j] == "%")
        other = f"{text(0, remainder - 1)} % ({text(remainder + 1, i + 2)})"
        message = "'%' followed by '*' is ambiguous for readers"
        return self.error(
            cast("Token", tree.children[i + 1]), message, f"write ({before}) * {after} or {other}"
        )

    def _unary(self, tree: Node) -> IntExpr:
        operand = self.integer(as_tree(tree.children[1]))
        return linear([(-1 if tree.children[0] == "-" else 1, operand)])

    def _power(self, tree: Node) -> IntExpr:
        base, exponent = [self.integer(as_tree(child)) for child in tree.children]
        self.check_power(tree, base, exponent)
        return Pow(base, exponent)

    def _chain(self, tree: Node) -> IntExpr:
        children = tree.children
        left = self.integer(as_tree(children[0]))
        links: list[BoolExpr] = []
        for i in range(1, len(children), 2):
            operator = as_token(children[i])
            if operator.type in ("IN", "NOT"):
                inside: BoolExpr = Member(left, self.members(as_tree(children[-1])))
                links.append(inside if operator.type == "IN" else Not(inside))
                break
            right = self.integer(as_tree(children[i + 1]))
            links.append(compare(str(operator), left, right))
            left = right
        place = self.span(tree)
        for link in links:
            link.at(place)
        return links[0] if len(links) == 1 else And(tuple(links))

    def _call(self, tree: Node) -> IntExpr:
        name, *arguments = subtrees(tree)
        if name_of(name) in global_calls.NAMES:
            return global_calls.read_call(self, tree, name_of(name), arguments)
        if name_of(name) not in CALLED:
            raise self._no_function(name)
        function = CALLED[name_of(name)]
        fewest, most = function.fewest, function.most
        if not fewest <= len(arguments) <= (most or len(arguments)):
            wanted = f"{fewest}" if most == fewest else f"at least {fewest}"
            raise self.error(tree, f"{name_of(name)} takes {wanted} arguments, not {len(arguments)}")
        for condition in arguments[: function.conditions]:
            self.boolean(condition)
        parts = tuple([self.integer(argument) for argument in arguments])
        if function.grows:
            self.check_bits(tree, parts, sum)
        return function.of(parts)

    def _no_function(self, tree: Node) -> ParseError:
        name = name_of(tree)
        if name in self.names:
            return self.error(tree, f"'{name}' is not a function", f"a product is written {name} * (…)")
        known = [*CALLED, *global_calls.NAMES]
        near = nearest(name, known)
        hint = f"did you mean '{near[0]}'?" if near else f"the functions are {', '.join(known)}"
        return self.error(tree, f"there is no function '{name}'", hint)

    def _index(self, tree: Node) -> IntExpr:
        sequence, index = subtrees(tree)
        if sequence.data == "list" and self.inner_token(sequence) is None:
            entries = tuple([self.integer(entry) for entry in subtrees(sequence)])
            if any(next(entry.variables(), None) is not None for entry in entries):
                return element_of(entries, self.integer(index))
        return Element(self.sequence(sequence), self.integer(index))

    def _list(self, tree: Node) -> IntExpr:
        raise self.error(
            tree, "a list is not a number", "take an element, [3, 5, 7][k], or write x in [3, 5, 7]"
        )

    # ------------------------------------------------------------ sequences and sets

    def sequence(self, tree: Node) -> tuple[int, ...]:
        """A sequence of constants: a list, or the name of one."""
        if tree.data == "list":
            inner = self.inner_token(tree)
            if inner is not None and inner.type == "NUMBERS":
                return tuple(self.long_list(inner))
            if inner is not None:
                raise self.error(tree, "a list of lists is not a sequence", "take one of them: [3, 5, 7]")
            return tuple([self._listed(child) for child in subtrees(tree)])
        if tree.data == "name":
            meaning = self.lookup(tree)
            if isinstance(meaning, tuple):
                return meaning
        text = self.position(tree).text
        raise self.error(
            tree, f"'{text}' is not a sequence", "only lists of constants have elements: [3, 5, 7][k]"
        )

    def members(self, tree: Node) -> Domain:
        """The set after `in`."""
        if tree.data == "range":
            return self._range(tree)
        if tree.data == "braces":
            inner = self.inner_token(tree)
            if inner is not None:
                return Domain.of_values(self.long_list(inner))
            values: set[int] = set()
            for item in subtrees(tree):
                values.update(self._written_out(item) if item.data == "range" else [self._listed(item)])
            return Domain.of_values(values)
        if tree.data == "list" or (tree.data == "name" and isinstance(self.lookup(tree), tuple)):
            return Domain.of_values(self.sequence(tree))
        text = self.position(tree).text
        hint = f"write a range 1..{text}, a set {{{text}}} or the name of a sequence"
        raise self.error(tree, f"'{text}' is not a set", hint)

    def _listed(self, tree: Node) -> int:
        """A constant in a list or set."""
        self.budget.values(1, partial(self.where, tree))
        return self.constant(tree)

    def _range(self, tree: Node) -> Domain:
        lo, hi, *step = subtrees(tree)
        low = self.constant(as_tree(lo.children[0])) if lo.children else None
        high = self.constant(as_tree(hi.children[0])) if hi.children else None
        stride = self.constant(step[0]) if step else 1
        if stride < 1:
            raise self.error(step[0], f"a step must be at least 1, not {stride}")
        if low is None and high is None and stride != 1:
            raise self.error(
                step[0], "a step needs a bound to count from", "write 0.. step 4, or 4 divides x"
            )
        return Domain.of_range(low, high, stride)

    def _written_out(self, tree: Node) -> Iterable[int]:
        domain = self._range(tree)
        if domain.lo is None or domain.hi is None:
            raise self.error(tree, "a range inside braces needs both bounds")
        size = (domain.hi - domain.lo) // domain.step + 1
        if size > MOST_MEMBERS:
            raise self.error(tree, "this range is too long to stand inside braces", "write x in lo..hi")
        self.budget.values(size, partial(self.where, tree))
        return range(domain.lo, domain.hi + 1, domain.step)


def compare(operator: str, left: IntExpr, right: IntExpr) -> BoolExpr:
    """A comparison; of two conditions, equality is that both hold or neither."""
    if operator == "divides":
        return Divides(left, right)
    if operator == "==" and isinstance(left, BoolExpr) and isinstance(right, BoolExpr):
        return Iff(left, right)
    return Comparison(operator, left, right)


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
"""The functions that are called by name, without those of several values."""

_NESTING = frozenset(["group", "call", "index", "not_", "unary", "power", "implies", "iff", "list"])
"""Nodes that add to the depth of an expression; a sum in brackets is as deep as the brackets."""

_EXPRESSIONS: dict[str, Callable[[ExpressionReader, Node], IntExpr]] = {
    "iff": lambda reader, tree: Iff(*[reader.boolean(as_tree(child)) for child in tree.children]),
    "implies": lambda reader, tree: Implies(*[reader.boolean(as_tree(child)) for child in tree.children]),
    "or_": lambda reader, tree: Or(tuple([reader.boolean(as_tree(child)) for child in tree.children])),
    "and_": lambda reader, tree: And(tuple([reader.boolean(as_tree(child)) for child in tree.children])),
    "not_": lambda reader, tree: Not(reader.boolean(as_tree(tree.children[-1]))),
    "chain": ExpressionReader._chain,
    "sum": ExpressionReader._sum,
    "product": ExpressionReader._product,
    "unary": ExpressionReader._unary,
    "power": ExpressionReader._power,
    "number": ExpressionReader._number,
    "name": ExpressionReader._named,
    "truth": ExpressionReader._truth,
    "group": ExpressionReader._group,
    "call": ExpressionReader._call,
    "index": ExpressionReader._index,
    "list": ExpressionReader._list,
}
