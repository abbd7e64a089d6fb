"""Parses by tables that lark made of a grammar, without lark, whose import takes longer than most parses.

The tables are those of lark's LALR parser and basic lexer as plain data (`described`), so there is one
grammar and one language. They say nothing of mistakes: a text that they do not accept is for lark to explain.
Steps that only pass a value on, as from an operand through all levels of precedence, are taken at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from constrint.frontends.nodes import Node, Token
from constrint.settings import of_new_models

if TYPE_CHECKING:
    from lark import Lark

END = "$END"
_NAMED = re.compile(r"\(\?P<\w+>")
SEPARATOR = "_SEP"
"""The kind of what stands between statements; within one it is a newline in brackets."""


def described(parser: Lark) -> dict[str, Any]:
    """Parse tables of a grammar by lark, as data for JSON.

    Of each rule: its origin, how many symbols it has, the name of its node, which of the symbols become
    children (and whether their own children do instead), and whether a single child stands for the node. Of
    each state and symbol: the next state, or ``-1 - rule`` for a reduction.
    """
    from lark.lexer import BasicLexer
    from lark.parsers.lalr_analysis import Shift

    lexer: Any = parser._build_lexer()
    assert isinstance(lexer, BasicLexer)
    (pattern,) = [one.pattern for one in lexer.scanner._mres]
    callbacks: dict[str, Any] = lexer.callback
    table: Any = parser.parser.parser._parse_table
    rules = {rule: number for number, rule in enumerate(parser.rules)}
    states = {
        str(state): {
            symbol: target if action is Shift else -1 - rules[target]
            for symbol, (action, target) in actions.items()
        }
        for state, actions in table.states.items()
    }
    return {
        "pattern": pattern,
        "ignored": sorted(lexer.ignore_types),
        "words": {
            kind: {one.pattern.value: one.name for one in unless.scanner.terminals}
            for kind, unless in callbacks.items()
        },
        "rules": [_rule(rule) for rule in parser.rules],
        "states": states,
        "start": table.start_states["start"],
        "end": table.end_states["start"],
    }


def _rule(rule: Any) -> list[Any]:
    included = [
        [place, not symbol.is_term and symbol.name.startswith("_")]
        for place, symbol in enumerate(rule.expansion)
        if not (symbol.is_term and symbol.filter_out)
    ]
    is_passed_on = bool(rule.options.expand1 and not rule.alias)
    name = rule.alias or rule.origin.name
    return [rule.origin.name, len(rule.expansion), str(name), included, is_passed_on]


class NoTokenError(Exception):
    """A character that begins no token."""


class Tables:
    """A parser: it decides whether a text is in the language, and makes its tree.

    Args:
        kept: What `described` gave; raises `ValueError` and the like for anything else.
    """

    def __init__(self, kept: dict[str, Any]) -> None:
        self._scanner: Any = re.compile(kept["pattern"])  # its method `scanner` has no types
        self._plain: Any = re.compile(_NAMED.sub("(?:", kept["pattern"]))
        self._ignored = frozenset(kept["ignored"])
        self._words: dict[str, dict[str, str]] = kept["words"]
        self._start, self._end = int(kept["start"]), int(kept["end"])
        states: dict[int, dict[str, int]] = {int(state): row for state, row in kept["states"].items()}
        if not all(type(target) is int for row in states.values() for target in row.values()):
            raise ValueError("a target of a table is not a number")
        self._states = states
        self._rules = [_Rule(*rule) for rule in kept["rules"]]
        self._shapes: dict[tuple[str, ...], Shape] = {}
        self._kept = 0  # tokens of them
        self._passed: dict[tuple[int, int, str], int] = {}  # see `_pass`

    def tokens(self, text: str, line: int = 1) -> Iterator[Token]:
        """The tokens of a text from a line on; raises `NoTokenError` for a character that begins none."""
        place, ignored, words = 0, self._ignored, self._words
        for found in iter(self._scanner.scanner(text).match, None):
            kind, value = found.lastgroup, found[0]
            if kind not in ignored:
                token = Token(value)
                token.type = words[kind].get(value, kind) if kind in words else kind
                token.start_pos, token.line = place, line
                yield token
            if "\n" in value:
                line += value.count("\n")
            place += len(value)
        if place < len(text):
            raise NoTokenError(text[place])

    def parse(self, text: str, watch: Callable[[Token], None] | None = None, line: int = 1) -> Node | None:
        """The tree of a text; None if there is a mistake in it.

        Args:
            text: The text.
            watch: Is shown each token before it is parsed.
            line: The number of its first line.
        """
        states, values = [self._start], list[Any]()
        try:
            for token in self.tokens(text, line):
                if watch is not None:
                    watch(token)
                states.append(self._shift(token.type, states, values))
                values.append(token)
            self._shift(END, states, values)
        except (KeyError, NoTokenError):
            return None
        tree = values[-1]
        assert isinstance(tree, Node)
        return tree

    def words(self, text: str, begin: int, end: int) -> list[str]:
        """The words of a part of a text: its tokens, blanks and comments; without what is none of them."""
        found: list[str] = self._plain.findall(text, begin, end)
        return found

    def reach(self, text: str, begin: int) -> int:
        """The place of the first character from an offset on that begins no word."""
        for found in iter(self._scanner.scanner(text, begin).match, None):
            begin = found.end()
        return begin

    def kind(self, word: str) -> str:
        """The kind of a word, which may stand between brackets."""
        found = self._scanner.match(word)
        if found is None or found.end() < len(word):
            found = self._scanner.match(f"[{word}]", 1)
        kind = str(found.lastgroup)
        return self._words[kind].get(word, kind) if kind in self._words else kind

    def shape(self, kinds: tuple[str, ...]) -> Shape | None:
        """The shape of a text whose words are of these kinds; None if there is a mistake in it.

        Trees depend on the kinds alone, and many statements have the same.
        """
        found = self._shapes.get(kinds)
        if found is None:
            states, values = [self._start], list[Any]()
            try:
                for place, kind in enumerate(kinds):
                    if kind not in self._ignored and kind != SEPARATOR:
                        states.append(self._shift(kind, states, values))
                        values.append(place)
                self._shift(END, states, values)
            except KeyError:
                return None
            found = Shape(values[-1], kinds)
            self._kept += len(kinds)
            if self._kept <= of_new_models().reading.most_kept:
                self._shapes[kinds] = found
        return found

    def _shift(self, symbol: str, states: list[int], values: list[object]) -> int:
        """Reduce until a symbol can be shifted; the next state. Raises `KeyError` where it cannot stand."""
        table, rules = self._states, self._rules
        while True:
            top = states[-1]
            target = table[top][symbol]
            if target >= 0:
                return target
            rule = rules[~target]
            size = rule.size
            if rule.is_same:
                key = states[-2], top, symbol
                after = self._passed.get(key)
                states[-1] = self._pass(rule, *key) if after is None else after
                continue
            if size:
                symbols = values[-size:]
                del states[-size:], values[-size:]
                values.append(rule.made(symbols))
            else:
                values.append(rule.made([]))
            target = table[states[-1]][rule.origin]
            states.append(target)
            if target == self._end:
                return target

    def _pass(self, rule: _Rule, below: int, top: int, symbol: str) -> int:
        """The state after this rule and others have passed on one value, before a symbol."""
        table, rules = self._states, self._rules
        state = table[below][rule.origin]
        while (target := table[state].get(symbol, 0)) < 0 and rules[~target].is_same:
            state = table[below][rules[~target].origin]
        self._passed[below, top, symbol] = state
        return state


class Shape:
    """How the tree of a statement is made of its words.

    Args:
        tree: A tree whose leaves are places of words, and whose child is the statement.
        kinds: The kinds of the words.

    Attributes:
        kinds: The kinds of the words.
        steps: The nodes, inner ones first: the name, the places of the children among the words and the
            steps before, and those of the first and last word; None where there is none.
        plan: What a reader notes of the shape.
    """

    __slots__ = ("kinds", "plan", "steps")

    def __init__(self, tree: Node, kinds: tuple[str, ...]) -> None:
        self.kinds = kinds
        self.plan: object = None
        self.steps: list[tuple[str, list[int], int | None, int | None]] = []
        places: dict[int, int] = {}
        for node in tree.children[0].iter_subtrees() if tree.children else ():
            places[id(node)] = len(kinds) + len(self.steps)
            inner = [child if type(child) is int else places[id(child)] for child in node.children]
            self.steps.append((node.data, inner, node.first, node.last))

    def tree(self, words: Sequence[str], begin: int, line: int) -> Node:
        """The tree of some words of these kinds, from an offset and a line on."""
        parts: list[Any] = []
        for word, kind in zip(words, self.kinds, strict=True):
            token = Token(word)
            token.type, token.start_pos, token.line = kind, begin, line
            parts.append(token)
            begin += len(word)
            line += word.count("\n")
        for data, inner, first, last in self.steps:
            node = Node.__new__(Node)
            node.data = data
            node.children = [parts[place] for place in inner]
            node.first = None if first is None else parts[first]
            node.last = None if last is None else parts[last]
            parts.append(node)
        tree = parts[-1]
        assert isinstance(tree, Node)
        return tree


class _Rule:
    """A rule of the grammar; see `described`."""

    __slots__ = ("_included", "_is_passed_on", "_name", "is_same", "origin", "size")

    def __init__(
        self, origin: str, size: int, name: str, included: list[tuple[int, bool]], is_passed_on: bool
    ) -> None:
        self.origin, self.size, self._name = origin, size, name
        self._is_passed_on = is_passed_on
        # A rule without a node of its own gives the list of its children.
        self.is_same = size == 1 == len(included) and is_passed_on and not included[0][1]
        self._included = [(place, is_list) for place, is_list in included]

    def made(self, symbols: list[Any]) -> Any:
        """The tree or token that the symbols of the rule are reduced to."""
        children: list[Any] = []
        for place, is_list in self._included:
            if not is_list:
                children.append(symbols[place])
            elif children:
                children += symbols[place]
            else:
                children = symbols[place]  # nobody else has it: long lists grow in place
        if self._is_passed_on and len(children) == 1:
            return children[0]
        return children if self.origin.startswith("_") else Node(self._name, children)
