"""The meaning of a cell's text: its declarations, and the values of its states after a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from kerneltune.cells.expressions import LARGEST_FLOAT32, Expressions
from kerneltune.cells.functions import FUNCTIONS
from kerneltune.cells.graph import Graph, Node, behind
from kerneltune.cells.syntax import Source, parsed
from kerneltune.errors import InputError, nearest

RESERVED = (
    *FUNCTIONS,
    "W",
    "R",
    "slope",
    "option",
    "learnable",
    "gain",
    "gates",
    "states",
    "weights",
    "positive",
)
MOST_NAMES = 64
"""The most names of a list: more gates than any kernel has registers for."""


class Array(NamedTuple):
    """Numbers of a channel that lie side by side in memory.

    Attributes:
        name: The array's name.
        first: The first of its numbers among all gates, or all states.
        width: How many it has.
    """

    name: str
    first: int
    width: int


@dataclass(frozen=True)
class Equations:
    """A cell as it was written.

    Attributes:
        name: The cell's name.
        summary: The comment that the text begins with.
        gates: Names of the gates.
        states: Names of the states; R is multiplied with the first.
        weights: Names of the weights that each unit has.
        positive: States that must start above zero.
        options: Numbers that may be given another value.
        learnable: Those of them that are learnt. In a recurrent cell each is a gate behind the others, whose
            W x is the number; else a weight of units behind the others. `gates` and `weights` have them.
        gain: Scale of the random R that verification draws.
        graph: The values.
        after: The states after a step.
        labels: Names of values.
        words: The names and what they stand for after the last equation.
        input_arrays: The arrays of the gates: each of one gate, unless the text says otherwise.
        state_arrays: Those of the states, likewise.
    """

    name: str
    summary: str
    gates: tuple[str, ...]
    states: tuple[str, ...]
    weights: tuple[str, ...]
    positive: tuple[str, ...]
    options: Mapping[str, float]
    learnable: tuple[str, ...]
    gain: float
    graph: Graph
    after: tuple[Node, ...]
    labels: Mapping[Node, str]
    words: Expressions
    input_arrays: tuple[Array, ...]
    state_arrays: tuple[Array, ...]

    @property
    def has_arrays(self) -> bool:
        """Whether an array has several numbers of a channel."""
        return any(one.width > 1 for one in (*self.input_arrays, *self.state_arrays))

    @cached_property
    def leaves(self) -> frozenset[tuple[str, int]]:
        """The leaves that the states after a step depend on, as operation and number."""
        return frozenset((node.op, int(node.value)) for node in behind(self.after) if not node.args)

    @property
    def recurs(self) -> bool:
        """Whether a gate has R h."""
        return any(op in ("total", "product") for op, _ in self.leaves)

    def adds_input(self, gate: int) -> bool:
        """Whether W x and R h of a gate are used as their sum only."""
        return not {("input", gate), ("product", gate)} & self.leaves


def read_equations(name: str, source: Source, options: Mapping[str, float] | None = None) -> Equations:
    """Read a cell.

    Args:
        name: The cell's name.
        source: Its text.
        options: Other values of its options.

    Raises:
        InputError: The text is wrong; the message has line and column.
    """
    found = _EquationsReader(name, source, dict(options or {})).read()
    if found.learnable and found.recurs:
        return _EquationsReader(name, source, dict(options or {}), learned_as="input").read()
    return found


@dataclass
class _EquationsReader:
    name: str
    source: Source
    given: dict[str, float]
    learned_as: str = "weight"
    learnable: list[str] = field(default_factory=list)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: dict[str, list[Array]] = field(default_factory=dict)  # of gates and states
    options: dict[str, float] = field(default_factory=dict)
    places: dict[str, object] = field(default_factory=dict)  # of declared names
    gain: float = 1.0

    def read(self) -> Equations:
        tree = parsed(self.source)
        statements = [one for one in tree.children if one is not None]
        equations = [one for one in statements if one.data == "equation"]
        for one in statements:
            if one.data != "equation":
                getattr(self, f"_{one.data}")(one)
        for kind in ("gates", "states"):
            if not self.lists.get(kind):
                raise self.source.error(None, f"the line '{kind} NAME …' is missing")
        self._check_positive()
        unknown = [name for name in self.given if name not in self.options]
        if unknown:
            raise InputError(f"{self.name} has no option '{unknown[0]}': {nearest(unknown[0], self.options)}")
        expressions = self._expressions(equations)
        for equation in equations:
            expressions.assign(equation)
        expressions.check_all_used()
        after = tuple(expressions.new[state] for state in self.lists["states"])
        lists = {kind: self.lists.get(kind, ()) for kind in ("gates", "states", "weights", "positive")}
        lists["gates" if self.learned_as == "input" else "weights"] += tuple(self.learnable)
        return Equations(
            self.name,
            _summary(self.source.text),
            **lists,
            options=self.options,
            learnable=tuple(self.learnable),
            gain=self.gain,
            graph=expressions.graph,
            after=after,
            labels=expressions.labels,
            words=expressions,
            input_arrays=(*self.arrays["gates"], *self._learnt_gates(lists["gates"])),
            state_arrays=tuple(self.arrays["states"]),
        )

    def _learnt_gates(self, gates: tuple[str, ...]) -> list[Array]:
        count = len(self.learnable) if self.learned_as == "input" else 0
        return [Array(name, len(gates) - count + n, 1) for n, name in enumerate(gates[len(gates) - count :])]

    def _expressions(self, equations: list[Any]) -> Expressions:
        lines: dict[str, int] = {}
        for equation in equations:
            lines.setdefault(str(equation.children[0]), equation.meta.line + self.source.first_line - 1)
        return Expressions(
            self.source,
            self.lists["gates"],
            self.lists["states"],
            self.lists.get("weights", ()),
            self.options,
            self.places,
            lines,
            learnable=tuple(self.learnable),
            learned_as=self.learned_as,
        )

    def _names(self, tree: Any) -> None:
        kind = str(tree.children[0])
        if kind in self.lists:
            raise self.source.error(tree, f"there is a line '{kind}' already")
        names = self._of_arrays(kind, tree.children[1:])
        if len(names) > MOST_NAMES:
            raise self.source.error(tree, f"there are more than {MOST_NAMES} {kind}")
        for name in names:
            if kind != "positive":
                self._declare(name, kind.removesuffix("s"))
        if len(set(map(str, names))) < len(names):
            raise self.source.error(tree, f"a name stands twice among the {kind}")
        self.lists[kind] = tuple(map(str, names))

    def _of_arrays(self, kind: str, entries: Sequence[Any]) -> list[Any]:
        """The names of a list, where some stand in brackets behind the name of their array."""
        names: list[Any] = []
        for entry in entries:
            array, *inside = getattr(entry, "children", [entry])
            if inside and kind not in ("gates", "states"):
                raise self.source.error(array, f"gates and states have arrays of several numbers, not {kind}")
            if hasattr(entry, "children") and len(inside) < 2:
                alone = f": write {inside[0]}" if inside else ""
                raise self.source.error(array, f"an array in brackets has two numbers and more{alone}")
            if inside:
                self._declare(array, "array")
            made = Array(str(array), len(names), len(inside) or 1)
            self.arrays.setdefault(kind, []).append(made)
            names += inside or [array]
        return names

    def _option(self, tree: Any) -> None:
        name, number, learnable = tree.children
        self._declare(name, "option")
        self.options[str(name)] = self.given.get(str(name), self._number(number))
        if learnable is not None:
            self.learnable.append(str(name))

    def _gain(self, tree: Any) -> None:
        self.gain = self._number(tree.children[0])
        if not 0 < self.gain <= LARGEST_FLOAT32:
            raise self.source.error(tree, f"the gain is {self.gain:g}, but must be above 0")

    def _number(self, tree: Any) -> float:
        value = float(tree.children[0])
        if value > LARGEST_FLOAT32:
            raise self.source.error(tree, f"{tree.children[0]} is too large for float32")
        return -value if tree.data == "negative" else value

    def _declare(self, name: object, kind: str) -> None:
        if str(name) in RESERVED:
            raise self.source.error(
                name, f"the {kind} cannot have the name '{name}', which is a word of the language"
            )
        if str(name) in self.places:
            raise self.source.error(name, f"'{name}' is declared twice")
        self.places[str(name)] = name

    def _check_positive(self) -> None:
        for name in self.lists.get("positive", ()):
            if name not in self.lists["states"]:
                hint = nearest(name, self.lists["states"])
                raise self.source.error(None, f"the positive state '{name}' is not a state: {hint}")


def _summary(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    return " ".join(lines)
