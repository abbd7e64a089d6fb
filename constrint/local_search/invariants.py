"""A problem as functions of decided variables: what is computed, what is decided, and what stays a condition.

Van Hentenryck and Michel, "Constraint-Based Local Search", 2005. Variables that constraints define are
computed from the others, and constraints that exchanges of values keep, such as permutations and given
numbers of values, hold throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from constrint import propagators as c
from constrint.local_search.annealed_functions import AnnealedFunction, AnnealedTerm, arguments
from constrint.local_search.annealed_layout import (
    CHOSEN,
    COUNTED,
    EQUAL,
    FACTOR,
    HIGHEST,
    HIT,
    LOWEST,
    NOT_ABOVE,
    NUMBER,
    PRODUCT,
    SIZE,
    SUM,
)
from constrint.local_search.dependencies import Dependencies, Inputs
from constrint.presolve import Root
from constrint.propagators import Propagator
from constrint.propagators.handlers import Rules
from constrint.support.deadline import check_deadline

SAFE = 1 << 36  # a bound of totals, and of costs, so that their products with temperatures fit into 64 bits


class Invariants(Dependencies):
    """The functions of a root.

    Args:
        root: The root.
        inputs: What each function is a function of, as lowering notes it.
        goal: The objective's variable.

    Attributes:
        functions: The functions, each after those whose values it needs.
        exchanged: Groups of decided variables that only exchange their values.
        wanted: The values of each group.
        count: The number of variables, and of values of functions that are none.
        refused: Why it cannot be used, such as a constraint without a form here; None if it can.
        size: A bound of the absolute value of each variable, those of functions without one last.
        most_penalty: The greatest cost of a violation with which all costs are below `SAFE`.
    """

    def __init__(self, root: Root, inputs: Inputs, goal: int | None) -> None:
        super().__init__(root, inputs, goal)
        self.functions: list[AnnealedFunction] = []
        self.exchanged: list[tuple[int, ...]] = []
        self.wanted: list[Sequence[int]] = []
        self.refused: str | None = None
        self.count = len(self.box.lo)
        self._goal = goal
        self._entries = 0
        self._grouped = set[int]()
        self._tables: dict[tuple[object, ...], list[int]] = {}
        self._computes: dict[int, AnnealedFunction] = {}
        self._of_literals = set[int]()  # variables that a clause defines
        self._different = set[tuple[tuple[int, int, int], ...]]()
        wide = self.rules.most_numbers
        if not self.decided:
            self.refused = "nothing is left to decide"
        elif any(self.box.hi[v] - self.box.lo[v] > wide for v in self.decided):
            self.refused = f"a decided variable has more than {wide:,} values (local_search.most_numbers)"
        else:
            self._state()
        self.size = [max(abs(lo), abs(hi)) for lo, hi in zip(self.box.lo, self.box.hi, strict=True)]
        self._measure()

    def holds(self, values: Sequence[int]) -> bool:
        """Whether values are a solution of the root."""
        box = self.box
        for v, x in enumerate(values[: len(box.lo)]):
            known = box.values[v]
            if not box.lo[v] <= x <= box.hi[v] or (known is not None and x not in known):
                return False
            if (x - box.lo[v]) % box.step[v]:
                return False
        return all(node.holds(values) for node in self.nodes)

    # Functions

    def _state(self) -> None:
        """Make the functions, then the conditions."""
        for v, i in self.defined.items():
            check_deadline()
            function = _FUNCTIONS[type(self.nodes[i])](self, self.nodes[i], v)
            function.out = v
            self._computes[v] = function
            if v != self._goal:
                function.low, function.high = self.box.lo[v], self.box.hi[v]
            self._put(function)
        used = set(self.defined.values())
        for i, node in enumerate(self.nodes):
            check_deadline()
            if self.refused is None and i not in used and not _CONDITIONS[type(node)](self, node):
                self.refused = f"a constraint of the kind {type(node).__name__} has no form in it"

    def _put(self, function: AnnealedFunction) -> None:
        if function.out < 0:
            function.out = self.count
            self.count += 1
        self._entries += len(function.terms) + len(function.parts) + function.width
        self.functions.append(function)
        if self._entries > self.rules.most_entries and self.refused is None:
            most = self.rules.most_entries
            self.refused = f"its functions have more than {most:,} entries (local_search.most_entries)"

    def _measure(self) -> None:
        """Bound all numbers."""
        violation = 0
        for function in self.functions:
            total, reach = function.reach(self.size)
            if function.out < len(self.size):
                reach = max(reach, self.size[function.out])
                self.size[function.out] = reach
            else:
                self.size.append(reach)
            if max(total, reach) > SAFE and self.refused is None:
                self.refused = "its numbers are too great"
            violation += max(function.excess(reach), function.excess(-reach), 1)
        goal = 0 if self._goal is None else self.size[self._goal]
        self.most_penalty = (SAFE - goal) // (1 + violation)
        if self.most_penalty < 1 and self.refused is None:
            self.refused = "its numbers are too great"

    def _sum(
        self, terms: Sequence[tuple[int, int]], bound: int, kind: int = SUM, sign: int = 1
    ) -> AnnealedFunction:
        """A function of ``sum - bound``."""
        return AnnealedFunction(kind, [AnnealedTerm(v, FACTOR, sign * a) for a, v in terms], -sign * bound)

    def _sum_function(self, node: c.LinearEq, v: int) -> AnnealedFunction:
        ((a, _),) = [term for term in node.terms if term[1] == v]
        return self._sum([term for term in node.terms if term[1] != v], node.bound, SUM, -a)

    def _condition_function(self, node: c.LinearLeIf | c.LinearEqIf, _: int = 0) -> AnnealedFunction:
        function = self._sum(node.terms, node.bound, NOT_ABOVE if isinstance(node, c.LinearLeIf) else EQUAL)
        if function.kind == EQUAL and len(node.terms) == 1 and node.bound % node.terms[0][0] == 0:
            a, v = node.terms[0]
            function.constant, function.terms = -1, [AnnealedTerm(v, HIT, 1, node.bound // a)]
        function.is_opposite = bool(node.literal & 1)
        return function

    def _clause_function(self, node: c.Clause, v: int) -> AnnealedFunction:
        others = [literal for literal in node.literals if literal >> 1 != v]
        is_conjunction = not any(literal & 1 for literal in node.literals if literal >> 1 == v)
        self._of_literals.add(v)
        function = self._literals(others, NOT_ABOVE)  # none of them is true
        function.is_opposite = not is_conjunction
        return function

    def _literals(self, literals: Sequence[int], kind: int) -> AnnealedFunction:
        """A function of the number of true literals."""
        terms = [AnnealedTerm(literal >> 1, FACTOR, -1 if literal & 1 else 1) for literal in literals]
        return AnnealedFunction(kind, terms, sum(literal & 1 for literal in literals))

    def _element_function(self, node: c.Element, _: int) -> AnnealedFunction:
        return AnnealedFunction(NUMBER, [AnnealedTerm(node.index)], parts=node.table)

    def _selection_function(self, node: c.Selection, _: int) -> AnnealedFunction:
        return AnnealedFunction(CHOSEN, arguments([node.index, *node.xs]))

    def _extreme_function(self, node: c.Maximum | c.Minimum, _: int) -> AnnealedFunction:
        return AnnealedFunction(HIGHEST if isinstance(node, c.Maximum) else LOWEST, arguments(node.xs))

    def _product_function(self, node: c.Product, _: int) -> AnnealedFunction:
        return AnnealedFunction(PRODUCT, arguments([node.x, node.y]))

    def _size_function(self, node: c.Absolute, _: int) -> AnnealedFunction:
        return AnnealedFunction(SIZE, [AnnealedTerm(node.x)])

    def _table_function(self, node: c.Table, v: int) -> AnnealedFunction:
        at = node.variables.index(v)
        others = [w for w in node.variables if w != v]
        rows = {(*row[:at], *row[at + 1 :]): row[at] for row in node.rows}
        return self._numbers(others, rows, self.box.lo[v] - 1)

    def _numbers(self, over: Sequence[int], known: dict[tuple[int, ...], int], rest: int) -> AnnealedFunction:
        """A function that looks its value up by those of some variables."""
        low = [self.box.lo[v] for v in over]
        factors, constant, size = [], 0, 1
        for v in reversed(over):
            factors.append(size)
            constant -= size * self.box.lo[v]
            size *= self.box.hi[v] - self.box.lo[v] + 1
        factors.reverse()
        widths = [self.box.hi[v] - x + 1 for v, x in zip(over, low, strict=True)]
        key = (tuple(widths), tuple(low), rest, tuple(sorted(known.items())))
        parts = self._tables.get(key)
        if parts is None:
            parts = self._tables[key] = [rest] * size
            for row, number in known.items():
                shifted = [x - least for x, least in zip(row, low, strict=True)]
                if all(0 <= x < width for x, width in zip(shifted, widths, strict=True)):
                    parts[sum(a * x for a, x in zip(factors, shifted, strict=True))] = number
        terms = [AnnealedTerm(v, FACTOR, a) for v, a in zip(over, factors, strict=True)]
        return AnnealedFunction(NUMBER, terms, constant, parts=parts)

    # Conditions

    def _demand(self, function: AnnealedFunction, low: int | None = None, high: int | None = None) -> bool:
        function.low = function.low if low is None else low
        function.high = function.high if high is None else high
        self._put(function)
        return True

    def _linear(self, node: c.LinearLe | c.LinearEq | c.LinearNe) -> bool:
        function = self._sum(node.terms, node.bound)
        if isinstance(node, c.LinearNe):
            return self._demand(function, 0, -1)
        return self._demand(function, 0 if isinstance(node, c.LinearEq) else None, 0)

    def _equal_to(self, function: AnnealedFunction, z: int) -> bool:
        """The condition that a function's value is that of a variable."""
        self._put(function)
        return self._demand(
            AnnealedFunction(SUM, [AnnealedTerm(function.out), AnnealedTerm(z, FACTOR, -1)]), 0, 0
        )

    def _linear_if(self, node: c.LinearLeIf | c.LinearEqIf) -> bool:
        return self._equal_to(self._condition_function(node), node.literal >> 1)

    def _result(self, node: c.Element | c.Selection | c.Product | c.Absolute | c.Maximum | c.Minimum) -> bool:
        return self._equal_to(_FUNCTIONS[type(node)](self, node, node.z), node.z)

    def _clause(self, node: c.Clause) -> bool:
        if len(node.literals) == 2:
            for literal, other in (node.literals, node.literals[::-1]):
                if self._follows(literal, other):
                    return True
        return self._demand(self._literals(node.literals, SUM), 1)

    def _follows(self, literal: int, other: int) -> bool:
        """Whether a clause of two literals follows from the function that computes the first one's variable.

        The function is of literals of which none is true, or, if it is opposite, one is.
        """
        function = self._computes.get(literal >> 1)
        if function is None or function.kind != NOT_ABOVE or literal >> 1 not in self._of_literals:
            return False
        given = other >> 1, 1 if other & 1 else -1
        is_positive = not literal & 1
        return is_positive == function.is_opposite and any((one.v, one.a) == given for one in function.terms)

    def _differ(self, node: c.AllDifferent | c.AllDifferentBounds | c.AllDifferentDomain) -> bool:
        if node.views in self._different:
            return True
        self._different.add(node.views)
        ends = [(a * self.box.lo[v] + b, a * self.box.hi[v] + b) for a, v, b in node.views]
        least, most = min(map(min, ends)), max(map(max, ends))
        variables = tuple(v for _, v, _ in node.views)
        is_plain = all(a == 1 and b == 0 for a, _, b in node.views)
        values = range(least, most + 1)
        if is_plain and len(values) == len(variables) and self._exchange(variables, values):
            return True
        width = most - least + 1
        terms = [AnnealedTerm(v, COUNTED, a, b) for a, v, b in node.views]
        if width > self.rules.most_numbers or any(v in self.defined for v in variables):
            return False
        return self._demand(AnnealedFunction(SUM, terms, least=least, width=width), 0, 0)

    def _exchange(self, variables: tuple[int, ...], values: Sequence[int]) -> bool:
        """Let variables exchange their values, if nothing else decides them."""
        if self._grouped.intersection(variables) or any(v in self.defined for v in variables):
            return False
        if len(set(variables)) < len(variables):
            return False
        self._grouped.update(variables)
        self.exchanged.append(variables)
        self.wanted.append(values)
        return True

    def _count(self, node: c.Cardinality) -> bool:
        is_given = all(map(self.is_fixed, node.counts))
        if is_given and sum(self.box.lo[v] for v in node.counts) == len(node.variables):
            counts = zip(node.values, node.counts, strict=True)
            if self._exchange(node.variables, [x for x, v in counts for _ in range(self.box.lo[v])]):
                return True
        for value, count in zip(node.values, node.counts, strict=True):
            hits = [AnnealedTerm(v, HIT, 1, value) for v in node.variables]
            self._demand(AnnealedFunction(SUM, [*hits, AnnealedTerm(count, FACTOR, -1)]), 0, 0)
        return True

    def _table(self, node: c.Table) -> bool:
        over = node.variables if self.is_true(node.literal) else (node.literal >> 1, *node.variables)
        if over != node.variables or self.cells(over) > self.rules.most_numbers:
            return False
        return self._demand(self._numbers(over, dict.fromkeys(node.rows, 1), 0), 1, 1)


_FUNCTIONS: dict[type[Propagator], Callable[[Invariants, Any, int], AnnealedFunction]] = {
    c.LinearEq: Invariants._sum_function,
    c.LinearLeIf: Invariants._condition_function,
    c.LinearEqIf: Invariants._condition_function,
    c.Element: Invariants._element_function,
    c.Selection: Invariants._selection_function,
    c.Product: Invariants._product_function,
    c.Absolute: Invariants._size_function,
    c.Maximum: Invariants._extreme_function,
    c.Minimum: Invariants._extreme_function,
    c.Clause: Invariants._clause_function,
    c.Table: Invariants._table_function,
}
"""The function by which it does."""


_CONDITIONS: Rules[Invariants, bool] = Rules(
    "annealing",
    {
        (c.LinearLe, c.LinearEq, c.LinearNe): Invariants._linear,
        (c.LinearLeIf, c.LinearEqIf): Invariants._linear_if,
        (c.Element, c.Selection, c.Product, c.Absolute, c.Maximum, c.Minimum): Invariants._result,
        c.Clause: Invariants._clause,
        c.DIFFERENT: Invariants._differ,
        c.Cardinality: Invariants._count,
        c.Table: Invariants._table,
    },
    generic=lambda functions, node: False,
    rest="refused",
)


def unsuited(root: Root) -> str | None:
    """Why a root has no functions, as far as its constraints say before any is made; None if it may have."""
    entries, most = 0, root.settings.local_search.most_annealed
    for node in root.propagators:
        if type(node) not in _CONDITIONS.own:
            return f"a constraint of the kind {type(node).__name__} has no form in it"
        entries += len(node.scope())
        if entries > most:
            return f"constraints have more than {most:,} variables in all (local_search.most_annealed)"
    return None
