"""A random model of literals under construction: its variables, truths, sums and literals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

import numpy as np

import constrint as ci

Columns: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.int64]]"
Value = Callable[[Columns], Any]
Term = tuple[ci.IntExpr, Value]


@dataclass
class LiteralModel:
    """A model under construction.

    Attributes:
        model: The model.
        xs: Its variables.
        domains: Their values.
        truths: What each constraint says of the columns of values.
        goal: An objective, and its value.
        literals: The conditions drawn so far.
        kinds: The kinds of constraints drawn so far.
        only_values: Whether literals compare single variables only, so that results occur nowhere else.
        kept: An assignment that stays a solution; None where any constraint will do.
    """

    rng: Random
    model: ci.Model = field(default_factory=ci.Model)
    xs: list[ci.IntExpr] = field(default_factory=list)
    domains: list[list[int]] = field(default_factory=list)
    truths: list[Value] = field(default_factory=list)
    goal: Term = (ci.sum_([]), lambda cols: np.zeros(len(cols), np.int64))
    literals: list[Term] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    only_values: bool = False
    kept: np.ndarray | None = None

    def rows(self) -> np.ndarray:
        """All assignments."""
        grids = np.meshgrid(*map(np.array, self.domains), indexing="ij")
        return np.stack([grid.ravel() for grid in grids], axis=1)

    def solutions(self) -> np.ndarray:
        """All solutions, a row each."""
        rows = self.rows()
        for truth in self.truths:
            rows = rows[truth(rows).astype(bool)]
        return rows

    def require(self, condition: ci.BoolExpr, truth: Value, kind: str) -> None:
        """Add a constraint, unless it would rule out what is to stay a solution."""
        if self.kept is not None and not truth(self.kept).all():
            return
        self.model.add(condition)
        self.truths.append(truth)
        self.kinds.append(kind)

    def declare(self, values: list[int]) -> int:
        """A variable with these values; its place."""
        name, is_range = f"x{len(self.xs)}", values == list(range(values[0], values[-1] + 1))
        if values == [0, 1] and self.rng.random() < 0.5:
            self.xs.append(self.model.bool_var(name))
        elif is_range:
            self.xs.append(self.model.int_var(name, values[0], values[-1]))
        else:
            self.xs.append(self.model.int_var(name, values=values))
        self.domains.append(values)
        return len(self.xs) - 1

    def place(self) -> int:
        """The place of a variable."""
        return self.rng.randrange(len(self.xs))

    def places(self, least: int, most: int) -> list[int]:
        """Places of several variables; seldom one of them twice."""
        count = min(self.rng.randint(least, most), len(self.xs))
        if self.rng.random() < 0.1:
            return [self.place() for _ in range(count)]
        return self.rng.sample(range(len(self.xs)), count)

    def constant(self, i: int) -> int:
        """A value of a variable, or one beside."""
        return self.rng.choice(self.domains[i]) + (self.rng.random() < 0.15)


def linear(m: LiteralModel, places: list[int]) -> Term:
    factors = [m.rng.choice([1, 1, 1, -1, -1, 2, 3, -2]) for _ in places]
    expr = ci.sum_(a * m.xs[i] for a, i in zip(factors, places, strict=True))
    return expr, lambda cols: cols[:, places] @ np.array(factors, np.int64)


def literal(m: LiteralModel) -> Term:
    """A condition on a variable, a difference or a distance; sometimes one that was drawn before."""
    rng = m.rng
    if m.literals and rng.random() < 0.3:
        return rng.choice(m.literals)
    i, j = m.place(), m.place()
    x, y, c = m.xs[i], m.xs[j], m.constant(i)
    d = rng.randint(-2, 4)
    made: list[tuple[ci.IntExpr, Value]] = [
        (x == c, lambda cols: cols[:, i] == c),
        (x == c, lambda cols: cols[:, i] == c),
        (x != c, lambda cols: cols[:, i] != c),
        (x <= c, lambda cols: cols[:, i] <= c),
        (x >= c, lambda cols: cols[:, i] >= c),
        (x - y == d, lambda cols: cols[:, i] - cols[:, j] == d),
        (x + y == d, lambda cols: cols[:, i] + cols[:, j] == d),
        (ci.abs_(x - y) == d, lambda cols: abs(cols[:, i] - cols[:, j]) == d),
        (ci.abs_(x - y) <= d, lambda cols: abs(cols[:, i] - cols[:, j]) <= d),
        (x == y, lambda cols: cols[:, i] == cols[:, j]),
        (x + y <= d, lambda cols: cols[:, i] + cols[:, j] <= d),
        (x.is_in([c, c + 2]), lambda cols: (cols[:, i] == c) | (cols[:, i] == c + 2)),
    ]
    chosen = made[0] if m.only_values and rng.random() < 0.9 else rng.choice(made)
    m.literals.append(chosen)
    return chosen
