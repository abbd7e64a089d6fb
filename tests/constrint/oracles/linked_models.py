"""Random models in which tables, orders of lists, powers and elements share variables, with an oracle.

Each constraint is drawn as an expression and as an equivalent Python function of the values. Terms that may
be undefined (an index beyond a list, a negative exponent) are drawn only in constraints that must hold. An
assignment that makes one undefined is then no solution, whatever the semantics of undefined conditions.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import constrint as ci

Row = tuple[int, ...]
Value = Callable[[Row], int | None]
"""The value of an expression; None where it has none."""
Term = tuple[ci.IntExpr, Value]


MOST_ASSIGNMENTS = 2000


@dataclass
class LinkedModel:
    """A model under construction.

    Attributes:
        model: The model.
        xs: Its variables.
        domains: Their values.
        truths: What each constraint says of a row of values.
        kept: Values that stay a solution, or None where any constraint will do.
        goal: What may be optimised, and its value.
        texts: What was drawn, to be read by people.
    """

    rng: random.Random
    model: ci.Model = field(default_factory=ci.Model)
    xs: list[ci.IntExpr] = field(default_factory=list)
    domains: list[list[int]] = field(default_factory=list)
    truths: list[Callable[[Row], bool]] = field(default_factory=list)
    kept: Row | None = None
    goal: Term = (ci.sum_([]), lambda row: 0)
    texts: list[str] = field(default_factory=list)

    def solutions(self) -> list[Row]:
        """All rows of values that are solutions, one by one."""
        return [row for row in itertools.product(*self.domains) if all(truth(row) for truth in self.truths)]

    def row_of(self, result: ci.Result) -> Row:
        """The values of the variables in an answer."""
        return tuple(int(result[x]) for x in self.xs)

    def draw_variable(self) -> None:
        """One more variable, of few values: a range, a single value, scattered values or a truth value."""
        rng, name = self.rng, f"x{len(self.xs)}"
        shape = rng.random()
        if shape < 0.3:
            self.xs.append(self.model.bool_var(name) if shape < 0.15 else self.model.int_var(name, 0, 1))
            self.domains.append([0, 1])
            return
        if shape < 0.6:
            values = sorted(rng.sample([-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 10], rng.randint(1, 4)))
            self.xs.append(self.model.int_var(name, values=values))
        else:
            low = rng.randint(-5, 3)
            values = list(range(low, low + rng.randint(1, 4)))
            self.xs.append(self.model.int_var(name, values[0], values[-1]))
        self.domains.append(values)

    def variable(self) -> tuple[int, Term]:
        """One of the variables: its number, and itself."""
        i = self.rng.randrange(len(self.xs))
        return i, (self.xs[i], lambda row: row[i])

    def require(self, condition: ci.BoolExpr, truth: Callable[[Row], bool], text: str) -> None:
        """Add a constraint, unless it would rule out what is to stay a solution."""
        if self.kept is not None and not truth(self.kept):
            return
        self.model.add(condition)
        self.truths.append(truth)
        self.texts.append(text)


def _constant(value: int) -> Term:
    return ci.sum_([value]), lambda row: value


def _power(m: LinkedModel) -> Term:
    """A power with a constant base or exponent, or none."""
    _, (x, x_value) = m.variable()
    kind = m.rng.randrange(3)
    base, exponent = m.rng.choice([-4, -2, -1, 0, 1, 2, 3]), m.rng.choice([2, 2, 3])
    if kind == 0:
        return base**x, lambda row: _raised(base, x_value(row))
    if kind == 1:
        return x**exponent, lambda row: _raised(x_value(row), exponent)
    _, (y, y_value) = m.variable()
    return x**y, lambda row: _raised(x_value(row), y_value(row))


def _raised(base: int | None, exponent: int | None) -> int | None:
    if base is None or exponent is None or exponent < 0:
        return None
    return int(base**exponent)


def _element(m: LinkedModel) -> Term:
    """An entry of a list of constants, variables or both."""
    entries = [_leaf(m) for _ in range(m.rng.randint(1, 5))]
    _, (index, index_value) = m.variable()

    def value(row: Row) -> int | None:
        k = index_value(row)
        return entries[k][1](row) if k is not None and 0 <= k < len(entries) else None

    return ci.element([expression for expression, _ in entries], index), value


def _leaf(m: LinkedModel) -> Term:
    return m.variable()[1] if m.rng.random() < 0.6 else _constant(m.rng.randint(-5, 10))


def _shifted(m: LinkedModel) -> Term:
    (x, x_value), shift, factor = m.variable()[1], m.rng.randint(-3, 3), m.rng.choice([-1, 1, 2])
    return factor * x + shift, lambda row: factor * (x_value(row) or 0) + shift


def _product(m: LinkedModel) -> Term:
    (x, x_value), (y, y_value) = m.variable()[1], m.variable()[1]
    return x * y, lambda row: (x_value(row) or 0) * (y_value(row) or 0)


def term(m: LinkedModel) -> Term:
    """An expression; seldom one that may be undefined."""
    kinds = [_leaf] * 5 + [_shifted] * 2 + [_power] * 2 + [_element, _product]
    return m.rng.choice(kinds)(m)


def _table(m: LinkedModel) -> None:
    """Rows near each other's, over variables that other constraints have too."""
    columns = [m.variable()[0] for _ in range(m.rng.randint(1, 4))]
    rows: list[Any] = []
    for _ in range(m.rng.randint(1, 6)):
        row = [m.rng.choice(m.domains[i]) for i in columns]
        if m.kept is not None and not rows:
            row = [m.kept[i] for i in columns]
        elif m.rng.random() < 0.15:
            row[m.rng.randrange(len(row))] = m.rng.randint(-6, 11)
        rows.append(tuple(row))
    allowed = set(rows)
    condition = ci.table([m.xs[i] for i in columns], rows)
    text = f"table {columns} {rows}"
    if m.rng.random() < 0.12:
        m.require(~condition, lambda row: tuple(row[i] for i in columns) not in allowed, f"not {text}")
    else:
        m.require(condition, lambda row: tuple(row[i] for i in columns) in allowed, text)


def _lexicographic(m: LinkedModel) -> None:
    length = m.rng.randint(1, 3)
    left, right = ([term(m) for _ in range(length)] for _ in range(2))
    strict = m.rng.random() < 0.5

    def truth(row: Row) -> bool:
        one, other = ([value(row) for _, value in side] for side in (left, right))
        if None in one or None in other:
            return False
        return one < other if strict else one <= other  # no None is left

    post = ci.lex_less if strict else ci.lex_less_equal
    condition = post([x for x, _ in left], [y for y, _ in right])
    m.require(condition, truth, f"lex {'<' if strict else '<='} {condition}")


def _comparison(m: LinkedModel) -> None:
    (x, x_value), (y, y_value) = term(m), term(m)
    kind = m.rng.randrange(4)

    def truth(row: Row) -> bool:
        a, b = x_value(row), y_value(row)
        if a is None or b is None:
            return False
        return [a == b, a != b, a <= b, a > b][kind]

    m.require([x == y, x != y, x <= y, x > y][kind], truth, f"{['==', '!=', '<=', '>'][kind]}: {x}, {y}")


def _condition(m: LinkedModel) -> None:
    """One comparison or the other; all in them is defined."""
    (i, (x, _)), (j, (y, _)), (k, (z, _)) = m.variable(), m.variable(), m.variable()
    a, b = m.rng.choice(m.domains[i]), m.rng.choice(m.domains[k])
    kind = m.rng.randrange(3)
    condition = [(x == a) | (y < z), ((x <= a) == (z == b)), (x >= a).implies((y != z) & (z <= b))][kind]

    def truth(row: Row) -> bool:
        u, v, w = row[i], row[j], row[k]
        return [u == a or v < w, (u <= a) == (w == b), u < a or (v != w and w <= b)][kind]

    m.require(condition, truth, f"condition {condition}")


def _different(m: LinkedModel) -> None:
    places = m.rng.sample(range(len(m.xs)), min(len(m.xs), m.rng.randint(2, 4)))
    m.require(
        ci.all_different([m.xs[i] for i in places]),
        lambda row: len({row[i] for i in places}) == len(places),
        f"all_different {places}",
    )


KINDS = [_table] * 5 + [_lexicographic] * 3 + [_comparison] * 3 + [_condition, _different]


def draw_linked(seed: int) -> LinkedModel:
    """The model of a seed: at most `MOST_ASSIGNMENTS` assignments."""
    m = LinkedModel(random.Random(seed))
    most = m.rng.randint(2, 8)
    while len(m.xs) < most and math.prod(map(len, m.domains)) <= MOST_ASSIGNMENTS / 4:
        m.draw_variable()
    if m.rng.random() < 0.7:
        m.kept = tuple(m.rng.choice(domain) for domain in m.domains)
    for _ in range(m.rng.randint(1, 8 if m.kept else 4)):
        m.rng.choice(KINDS)(m)
    m.goal = m.rng.choice([_leaf, _shifted, _product, _power, _element])(m)
    return m


def best_of(m: LinkedModel, solutions: Sequence[Row], direction: str) -> int | None:
    """The optimum of the goal; None where no solution has a value of it."""
    worth = [value for row in solutions if (value := m.goal[1](row)) is not None]
    return (min if direction == "minimize" else max)(worth, default=None)
