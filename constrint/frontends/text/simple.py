"""Reads the simple statements of long texts, and parses what stands between them; see `lines`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from constrint.expr import And, BoolExpr, Const, IntExpr, IntVar, linear
from constrint.expr.build import MOST_FACTORS
from constrint.expr.domain import Domain
from constrint.expr.integers import Mul
from constrint.expr.position import Source, Span
from constrint.frontends.constants import as_tree
from constrint.frontends.text.expressions import ExpressionReader, compare
from constrint.frontends.text.pieces import Chunk, Compared, Declared, Worded
from constrint.frontends.text.syntax import parse, parse_part
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget, LimitExceeded

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]


class Parsed(NamedTuple):
    """A statement that lark parsed.

    Attributes:
        tree: Its tree.
        begin: The place of the text from which the tree counts.
        line: Its line.
    """

    tree: Node
    begin: int
    line: int


Statement: TypeAlias = Parsed | Declared | Compared | Worded


def statements(source: Source, budget: Budget) -> list[Statement]:
    """The statements of a text in order."""
    from constrint.frontends.text.lines import pieces  # for long texts only

    found: list[Statement] = []
    for piece in pieces(source.text):
        budget.count_steps()
        if isinstance(piece, Chunk):
            found += parsed(source, budget, piece)
        else:
            found.append(piece)
    return found


def parsed(source: Source, budget: Budget, chunk: Chunk) -> list[Parsed]:
    """The statements of a chunk; a mistake is explained at its place in the whole text."""
    tree = parse_part(source, chunk.begin, chunk.text, budget)
    begin, before = chunk.begin, chunk.line - 1
    if tree is None:
        first = source.lines[before]
        padded = Source("\n" * before + source.text[first:begin] + chunk.text, source.filename)
        tree, begin, before = parse(padded, budget), first - before, 0
    trees = map(as_tree, tree.children)
    return [Parsed(one, begin, before + one.meta.line) for one in trees]


def whole(source: Source, budget: Budget) -> list[Parsed]:
    """The statements of a text that lark parses as a whole."""
    trees = map(as_tree, parse(source, budget).children)
    return [Parsed(one, 0, one.meta.line) for one in trees]


class SimpleReader(ExpressionReader):
    """Declares, compares and defines what simple statements do."""

    model: Declarations

    def declares(self, piece: Declared) -> bool:
        """Declare the variables of a declaration; False, and nothing done, where a name is known already."""
        names = [name.strip() for name in piece.names]
        if len(set(names)) < len(names) or not self.names.keys().isdisjoint(names):
            return False
        where = partial(self._at, piece)
        domain = None if piece.lo is None else Domain.of_range(piece.lo, piece.hi, piece.step)
        if piece.values is not None:
            self.budget.values(len(piece.values), where)
            domain = Domain.of_values(piece.values)
        place = piece.begin
        for name, written in zip(names, piece.names, strict=True):
            self.budget.variable(1, where)
            variable = self.model.bool_var(name) if domain is None else self.model.variable(name, domain)
            start = place + len(written) - len(written.lstrip())
            self.names[name] = variable.at(Span(self.source, start, start + len(name)))
            place += len(written) + 1
        return True

    def _at(self, piece: Declared | Compared) -> str:
        return str(Span(self.source, piece.begin, piece.begin).resolve())

    def compares(self, piece: Compared) -> BoolExpr | None:
        """The condition of a comparison; None where lark must read it and report what is wrong."""
        try:
            self.budget.node(len(piece.tokens))
            found = self._sides(piece)
        except LimitExceeded:
            return None
        if found is None:
            return None
        sides, operators = found
        place = Span(self.source, piece.begin, piece.end)
        links = [
            compare(operator, left, right).at(place)
            for operator, left, right in zip(operators, sides, sides[1:], strict=False)
        ]
        return links[0] if len(links) == 1 else And(tuple(links)).at(place)

    def worded(self, piece: Worded) -> IntExpr | None:
        """The definition or condition read; None where lark must read it and report what is wrong."""
        from constrint.frontends.text.descent import Descent, NotPlain  # for long texts only

        try:
            return Descent(self, piece, piece.start).expression()
        except (NotPlain, LimitExceeded):
            return None

    def _sides(self, piece: Compared) -> tuple[list[IntExpr], list[str]] | None:
        sides: list[IntExpr] = []
        operators: list[str] = []
        terms: list[tuple[int, IntExpr]] = []
        factors: list[IntExpr] = []
        sign, is_negated = 1, False
        names = self.names
        # The end closes what a comparison would close.
        for token in [*piece.tokens, "=="]:
            if token == "*":
                continue
            if token == "-" and not factors:
                is_negated = True  # the first factor of a side
            elif token in _CLOSING:
                terms.append((sign, self._product_of(piece, factors) if len(factors) > 1 else factors[0]))
                factors = []
                sign = -1 if token == "-" else 1
                if token not in "+-":
                    sides.append(
                        self.moderate(cast(Any, piece), linear(terms)) if len(terms) > 1 else terms[0][1]
                    )
                    operators.append(token)
                    terms = []
            else:
                factor: Any = names.get(token)
                if factor is None and token[0] <= "9":
                    factor = Const(int(token))
                if not isinstance(factor, IntExpr):
                    return None
                factors.append(linear([(-1, factor)]) if is_negated else factor)
                is_negated = False
        return sides, operators[:-1]

    def _product_of(self, piece: Compared, factors: list[IntExpr]) -> IntExpr:
        if len(factors) <= MOST_FACTORS and set(map(type, factors)) == {IntVar}:
            return Mul(tuple(factors))
        return self.multiplied(cast(Any, piece), factors)


_CLOSING = frozenset(["+", "-", "==", "!=", "<=", ">=", "<", ">"])
