"""Reads models in the first ConstrINT dialect: constraints over positive integers that nobody declares.

docs/constrint-flashrnn.md says what this reader makes of that language, and what it refuses. Brackets are
stripped from the stream of tokens before the parser sees it; the rest is a grammar of its own and the
expressions of the main language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias, cast

from constrint.errors import ParseError, Position
from constrint.expr import BoolExpr, Comparison, IntExpr, Member, Mod, Or
from constrint.expr.domain import Domain
from constrint.frontends.parsers import parser_of
from constrint.frontends.text.expressions import ExpressionReader, Meaning, as_tree, name_of
from constrint.frontends.text.syntax import Source
from constrint.model import Model
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from lark import Token, Tree
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    Node: TypeAlias = Tree[Token]

_OPENING = {"LPAR": ")", "LSQB": "]"}
_CLOSING = {"RPAR": "(", "RSQB": "["}
_OPERAND_START = frozenset(["NAME", "NUMBER", "LSQB"])
_OPERAND_END = frozenset(["NAME", "NUMBER", "RSQB"])
_SIDE_START = frozenset(["COMPARE", "VBAR", "COMMA", "LSQB", "_SEP"])
"""Tokens before which an operand of a comparison, or an item of a list, has ended."""

_MAIN = "the constrint dialect has brackets that group"
_CHARACTER_HINTS = {
    "/": "there is no division: multiply the other side, as in a == b * c",
    "&": "'and' is written ;",
    "!": "there is no 'not'; 'differs from' is written !=",
    "~": "there is no 'not'; 'differs from' is written !=",
    "=": "an equation is written ==",
    "{": "allowed values are a list: x == [16, 32]",
    ".": "numbers are integers; a range is written 1 <= x <= 8",
    ":": "constraints have no names here, and nothing is declared",
    "\\": "a backslash joins two lines only as the last character of a line",
}
_WORD_HINTS = {
    "and": "'and' is written ;",
    "or": "'or' is written |",
    "in": "allowed values are a list: x == [16, 32]",
    "divides": "write x % d == 0",
}


class _BracketError(Exception):
    """A bracket that does not pair up."""

    def __init__(self, token: Token, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.token, self.message, self.hint = token, message, hint


class _StripBrackets:
    """Drops round brackets, and the line ends inside brackets of either kind.

    All tokens are looked at before the first is handed on: a bracket that is never closed swallows the line
    ends after it, so any other error would point at an innocent place.
    """

    always_accept = ("LPAR", "RPAR")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        kept: list[Token] = []
        stack: list[Token] = []
        last = None
        for token in stream:
            if token.type in _OPENING:
                stack.append(token)
            elif token.type in _CLOSING:
                _close(stack, token)
                if last is not None and last.type == "LPAR":
                    raise _BracketError(
                        last, "these brackets are empty", "there are no functions; leave them out"
                    )
            elif stack and token.value == ";":
                hint = f"write {_OPENING[stack[-1].type]!r}, or leave it out: brackets do not group here"
                raise _BracketError(stack[-1], f"{stack[-1].value!r} is not closed before ';'", hint)
            line_end = token.type == "_SEP" and bool(stack)
            if token.type not in self.always_accept and not line_end:
                kept.append(token)
            if not line_end:
                last = token
        if stack:
            hint = f"write {_OPENING[stack[-1].type]!r}"
            raise _BracketError(stack[-1], f"{stack[-1].value!r} is never closed", hint)
        return iter(kept)


def _close(stack: list[Token], token: Token) -> None:
    if not stack:
        hint = f"write a {_CLOSING[token.type]!r} before it or remove it"
        raise _BracketError(token, f"{token.value!r} closes nothing", hint)
    opening = stack.pop()
    if _OPENING[opening.type] != token.value:
        raise _BracketError(token, f"{token.value!r} does not match {opening.value!r} in line {opening.line}")


def read_constraints(
    source: Source, model: Model, constants: dict[str, Meaning], budget: Budget | None = None
) -> None:
    """Add the constraints of a text to a model, and the variables that they mention.

    Args:
        source: The text.
        model: A model without variables.
        constants: Names that stand for integers or sequences of them.
        budget: What the text may ask for.
    """
    reader = _Reader(source, model, constants, budget or Budget())
    for statement in _parse(source).children:
        reader.add(as_tree(statement))


# ---------------------------------------------------------------- from text to a tree


def _parse(source: Source) -> Node:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        return parser_of("text/flashrnn", _StripBrackets).parse(source.text)
    except _BracketError as error:
        line, column = error.token.line or 1, error.token.column or 1
        raise source.error(line, column, error.message, error.hint) from None
    except UnexpectedCharacters as error:
        raise _explain_character(source, error) from None
    except UnexpectedToken as error:
        raise _explain_token(source, error) from None


def _explain_character(source: Source, error: UnexpectedCharacters) -> ParseError:
    character = source.text[error.pos_in_stream or 0]
    hint = _CHARACTER_HINTS.get(character, "names are letters, digits and _; comments begin with #")
    return source.error(error.line, error.column, f"unexpected character {character!r}", hint)


def _explain_token(source: Source, error: UnexpectedToken) -> ParseError:
    """What to say about a token that the grammar does not allow where it stands."""
    token = error.token
    tokens = list(parser_of("text/flashrnn", _StripBrackets).lex(source.text))
    if token.type == "$END":
        last = tokens[-1]
        line, column, before = last.end_line or 1, last.end_column or 1, tokens
    else:
        line, column = token.line or 1, token.column or 1
        before = [other for other in tokens if (other.start_pos or 0) < (token.start_pos or 0)]
    return source.error(line, column, *_describe(source, token, before))


def _describe(source: Source, token: Token, before: list[Token]) -> tuple[str, str]:
    """Message and hint; `before` are the tokens before the one that cannot stand where it does."""
    last = before[-1] if before else None
    if last is not None and last.type in _OPERAND_END:
        if token.type in _OPERAND_START:
            return _missing_operator(source, token, last)
        if token.type == "_POWER":
            return "powers in a row can be read in two ways", "name the inner one: t == y ^ z; x ^ t <= 64"
        if token.type == "_REMAINDER" and "%" in _side(before):
            return "remainders in a row can be read in two ways", f"{_MAIN}: (a % b) % c"
        if token.type in ("_REMAINDER", "PLUS_MINUS"):
            hint = f"move it to the other side of the comparison, or: {_MAIN}"
            return "'%' beside '+' or '-' can be read in two ways", hint
        return f"'{token}' cannot stand here", "a constraint ends at a line end or ';'"
    if token.type in ("$END", "_SEP"):
        return "the constraint ends too early", "what goes on over several lines stands in brackets"
    message = f"an operand is missing before '{token}'"
    if last is not None and last == token == "*":
        return message, "a power is written ^"
    if last is not None and last == token == "|":
        return message, "'or' is written |"
    if token.type == "PLUS_MINUS":
        return message, "there are no signs: names are positive, and -3 is written 0 - 3"
    return message, ""


def _side(before: list[Token]) -> list[str]:
    """The tokens from the beginning of the side of a comparison that the last one belongs to."""
    begin = max((i + 1 for i, token in enumerate(before) if token.type in _SIDE_START), default=0)
    return [str(token) for token in before[begin:]]


def _missing_operator(source: Source, token: Token, last: Token) -> tuple[str, str]:
    message = f"an operator is missing between '{last}' and '{token}'"
    between = source.text[last.end_pos : token.start_pos]
    if word := _WORD_HINTS.get(token.value) or _WORD_HINTS.get(last.value):
        return message, word
    if last.type == "NAME" and between.strip() == "(":
        return message, f"there are no functions; a product is written {last} * {token}"
    if token.type == "LSQB":
        return message, "allowed values are a list after ==: x == [16, 32]"
    if "\n" not in between and last.type != "RSQB":
        return message, f"a product is written {last} * {token}; a constraint ends at a line end or ';'"
    return message, "a constraint ends at ';', or at a line end outside brackets"


# ---------------------------------------------------------------- from the tree to a model


class _Reader(ExpressionReader):
    """Turns statements into constraints; a name is declared where it is mentioned first."""

    def __init__(self, source: Source, model: Model, constants: dict[str, Meaning], budget: Budget) -> None:
        super().__init__(source, constants, budget)
        self.model = model
        self._statement: Node | None = None

    def add(self, tree: Node) -> None:
        """Add the constraint of a statement."""
        self._statement = tree
        self.model.add(self.boolean(tree))

    def position(self, tree: Node) -> Position:
        """Where a tree stands; a whole constraint is shown with the brackets that the parser did not see."""
        inner = super().position(tree)
        if tree is not self._statement or not ("(" in inner.text or ")" in inner.text):
            return inner
        text = self.source.text
        start, end = _with_brackets(text, tree.meta.start_pos, tree.meta.end_pos)
        return Position(
            inner.file, *_line_and_column(text, start), *_line_and_column(text, end), text[start:end]
        )

    def expression(self, tree: Node) -> IntExpr:
        """An integer or a condition."""
        own = _EXPRESSIONS.get(tree.data)
        return own(self, tree).at(self.position(tree)) if own else super().expression(tree)

    def lookup(self, tree: Node) -> Meaning:
        """What a name means: a positive integer, unless it is a constant."""
        name = name_of(tree)
        if name not in self.names:
            self.budget.variable(1, lambda: self.where(tree))
            self.names[name] = self.model.int_var(name, 1).at(self.position(tree))
        return self.names[name]

    def _name(self, tree: Node) -> IntExpr:
        meaning = self.lookup(tree)
        if isinstance(meaning, tuple):
            name = name_of(tree)
            raise self.error(tree, f"'{name}' is a list, not a number", f"allowed values: x == {name}")
        return meaning

    def _list(self, tree: Node) -> IntExpr:
        raise self.error(tree, "a list is not a number", "allowed values stand alone: x == [16, 32]")

    def _remainder(self, tree: Node) -> IntExpr:
        dividend, divisor = (self.integer(as_tree(child)) for child in tree.children)
        return Mod(dividend, divisor)

    def _comparison(self, tree: Node) -> IntExpr:
        lists = [side for side in tree.children[::2] if self._is_list(as_tree(side))]
        if not lists:
            return super()._chain(tree)
        if len(tree.children) > 3 or tree.children[1] != "==" or len(lists) > 1:
            hint = "allowed values stand alone on one side of '==': x == [16, 32]"
            raise self.error(as_tree(lists[0]), "a list cannot be compared like this", hint)
        left, _, right = (as_tree(child) for child in tree.children)
        return self._allowed(left, right) if right is lists[0] else self._allowed(right, left)

    def _is_list(self, tree: Node) -> bool:
        return tree.data == "list" or (
            tree.data == "name" and isinstance(self.names.get(name_of(tree)), tuple)
        )

    def _allowed(self, subject: Node, values: Node) -> BoolExpr:
        """The subject has one of these values; values that are not constants give one equation each."""
        wanted = self.integer(subject)
        if values.data == "name":
            return Member(wanted, Domain.of_values(cast("tuple[int, ...]", self.lookup(values))))
        items = [(as_tree(child), self.integer(as_tree(child))) for child in values.children]
        if all(next(item.variables(), None) is None for _, item in items):
            return Member(wanted, Domain.of_values([self.constant(tree) for tree, _ in items]))
        return Or(tuple(Comparison("==", wanted, item) for _, item in items))


def _with_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """The place of a constraint from the brackets before its first operand to those after its last."""
    depth = lowest = 0
    for character in text[start:end]:
        depth += (character == "(") - (character == ")")
        lowest = min(lowest, depth)
    for _ in range(-lowest):
        start = text.rindex("(", 0, start)
    for _ in range(depth - lowest):
        end = text.index(")", end) + 1
    return start, end


def _line_and_column(text: str, place: int) -> tuple[int, int]:
    return text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)


_EXPRESSIONS: dict[str, Callable[[_Reader, Node], IntExpr]] = {
    "chain": _Reader._comparison,
    "remainder": _Reader._remainder,
    "name": _Reader._name,
    "list": _Reader._list,
}
"""What this language reads in its own way; the rest is read as in the main one."""
