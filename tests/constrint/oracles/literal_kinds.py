"""The kinds of constraints that models of literals are drawn from, each with its truth by columns."""

# mypy: disable-error-code="misc"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from literal_model import Columns, LiteralModel, Term, Value, linear, literal

import constrint as ci
from constrint.propagators.arcs import are_routes


def _function(m: LiteralModel) -> None:
    """A declared variable is a sum, a difference or a distance of two others."""
    rng = m.rng
    i, j, k = m.place(), m.place(), m.place()
    a, b, c = rng.choice([1, 1, -1, 2]), rng.choice([1, -1, -1, 3]), rng.randint(-2, 2)
    x, y, z = m.xs[i], m.xs[j], m.xs[k]
    if rng.random() < 0.3:
        m.require(
            ci.abs_(a * x + b * y + c) == z,
            lambda cols: abs(a * cols[:, i] + b * cols[:, j] + c) == cols[:, k],
            "distance",
        )
    else:
        m.require(
            a * x + b * y + c == z,
            lambda cols: a * cols[:, i] + b * cols[:, j] + c == cols[:, k],
            "function",
        )


def chain(m: LiteralModel) -> None:
    """Functions in a chain or a circle, in which most variables occur once; seldom something else."""
    rng = m.rng
    order = rng.sample(range(len(m.xs)), len(m.xs))
    step = rng.choice([1, 2, 2])
    for at in range(0, max(1, len(order) - 2), step):
        i, j, k = (order[(at + way) % len(order)] for way in range(3))
        a, b, c = rng.choice([1, -1]), rng.choice([1, -1]), rng.choice([0, 0, 0, 1, -2])
        total = a * m.xs[i] + b * m.xs[j] + c

        def value(cols: Columns, i: int = i, j: int = j, a: int = a, b: int = b, c: int = c) -> np.ndarray:
            return a * cols[:, i] + b * cols[:, j] + c

        kind = rng.randrange(5)
        if kind == 0:
            d = rng.randint(0, 3)
            m.require(ci.abs_(total) != d, lambda cols, value=value, d=d: abs(value(cols)) != d, "apart")
        elif kind == 1:
            m.require(
                ci.abs_(total) == m.xs[k],
                lambda cols, value=value, k=k: abs(value(cols)) == cols[:, k],
                "distance",
            )
        else:
            m.require(total == m.xs[k], lambda cols, value=value, k=k: value(cols) == cols[:, k], "function")
    if rng.random() < 0.2:
        rng.choice(list(KINDS))(m)


def _limits(m: LiteralModel) -> None:
    """The same sum under several limits, each with a truth value."""
    total, value = linear(m, m.places(2, 4))
    for _ in range(m.rng.randint(2, 3)):
        limit = m.rng.randint(-3, 8)
        one, truth = literal(m)
        kind = m.rng.randrange(3)
        made = [ci.iff(one, total <= limit), ci.implies(one, total >= limit), ci.iff(one, total == limit)]

        def holds(cols: Columns, kind: int = kind, limit: int = limit, truth: Value = truth) -> np.ndarray:
            p, s = truth(cols).astype(bool), value(cols)
            return [p == (s <= limit), ~p | (s >= limit), p == (s == limit)][kind]  # type: ignore[no-any-return]

        m.require(made[kind], holds, "limits")


def _row(m: LiteralModel) -> None:
    total, value = linear(m, m.places(2, 5))
    limit = m.rng.randint(-2, 10)
    kind = m.rng.randrange(4)
    made = [total <= limit, total >= limit - 6, total != limit, total % 3 != limit % 3]

    def holds(cols: Columns) -> Any:
        s = value(cols)
        return [s <= limit, s >= limit - 6, s != limit, s % 3 != limit % 3][kind]

    m.require(made[kind], holds, "row")


def _clause(m: LiteralModel) -> None:
    parts = [literal(m) for _ in range(m.rng.randint(1, 3))]
    m.require(
        ci.any_of([part for part, _ in parts]),
        lambda cols: np.any([truth(cols).astype(bool) for _, truth in parts], axis=0),
        "clause",
    )


def _counted(m: LiteralModel) -> None:
    """A sum of literals under a limit."""
    parts = [literal(m) for _ in range(m.rng.randint(2, 4))]
    weights = [m.rng.choice([1, 1, 2, -1, 3]) for _ in parts]
    limit = m.rng.randint(0, 4)
    m.require(
        ci.sum_(w * part for w, (part, _) in zip(weights, parts, strict=True)) <= limit,
        lambda cols: (
            sum(w * t(cols).astype(np.int64) for w, (_, t) in zip(weights, parts, strict=True)) <= limit
        ),
        "counted",
    )


def _different(m: LiteralModel) -> None:
    places = m.places(2, 4)
    shifts = [m.rng.choice([0, 0, 0, 1, i]) for i in range(len(places))]
    m.require(
        ci.all_different([m.xs[i] + s for i, s in zip(places, shifts, strict=True)]),
        lambda cols: _distinct(cols[:, places] + np.array(shifts)) == len(places),
        "different",
    )


def _distinct(values: np.ndarray) -> Any:
    """How many different values each row has."""
    ordered = np.sort(values, axis=1)
    return 1 + (np.diff(ordered, axis=1) != 0).sum(axis=1)


def _nvalue(m: LiteralModel) -> None:
    places, k = m.places(2, 4), m.place()
    kind = m.rng.randrange(3)
    number = ci.nvalue([m.xs[i] for i in places])
    n = m.xs[k]

    def holds(cols: Columns) -> Any:
        found, wanted = _distinct(cols[:, places]), cols[:, k]
        return [found == wanted, found != wanted, found <= wanted][kind]

    m.require([number == n, number != n, number <= n][kind], holds, "nvalue")


def _count(m: LiteralModel) -> None:
    places, k = m.places(2, 4), m.place()
    value = m.constant(places[0])
    m.require(
        ci.count([m.xs[i] for i in places], value) == m.xs[k],
        lambda cols: (cols[:, places] == value).sum(axis=1) == cols[:, k],
        "count",
    )


def _element(m: LiteralModel) -> None:
    entries = [m.rng.randint(-2, 6) for _ in range(m.rng.randint(2, 6))]
    i, k = m.place(), m.place()
    shift = -min(m.domains[i])

    def holds(cols: Columns) -> Any:
        index = cols[:, i] + shift
        inside = (index >= 0) & (index < len(entries))
        return inside & (np.array(entries)[np.clip(index, 0, len(entries) - 1)] == cols[:, k])

    m.require(ci.element(entries, m.xs[i] + shift) == m.xs[k], holds, "element")


def _selection(m: LiteralModel) -> None:
    places, i, k = m.places(2, 4), m.place(), m.place()
    shift = -min(m.domains[i])

    def holds(cols: Columns) -> Any:
        index = cols[:, i] + shift
        inside = (index >= 0) & (index < len(places))
        chosen = cols[:, places][np.arange(len(cols)), np.clip(index, 0, len(places) - 1)]
        return inside & (chosen == cols[:, k])

    m.require(ci.element([m.xs[p] for p in places], m.xs[i] + shift) == m.xs[k], holds, "selection")


def _table(m: LiteralModel) -> None:
    places = m.places(1, 3)
    rows: list[list[int | None]] = []
    for _ in range(m.rng.randint(1, 7)):
        row: list[int | None] = [m.rng.choice(m.domains[i]) for i in places]
        if m.rng.random() < 0.2:
            row[m.rng.randrange(len(row))] = None
        rows.append(row)

    def holds(cols: Columns) -> Any:
        return np.any(
            [
                np.all([cols[:, i] == v for i, v in zip(places, row, strict=True) if v is not None], axis=0)
                if any(v is not None for v in row)
                else np.ones(len(cols), bool)
                for row in rows
            ],
            axis=0,
        )

    m.require(ci.table([m.xs[i] for i in places], rows), holds, "table")


def _extreme(m: LiteralModel) -> None:
    places, k = m.places(2, 4), m.place()
    is_max = m.rng.random() < 0.5
    made = (ci.max_ if is_max else ci.min_)(*[m.xs[i] for i in places])
    m.require(
        made == m.xs[k],
        lambda cols: (cols[:, places].max(axis=1) if is_max else cols[:, places].min(axis=1)) == cols[:, k],
        "extreme",
    )


def _product(m: LiteralModel) -> None:
    i, j, k = m.place(), m.place(), m.place()
    c = m.rng.randint(1, 4)
    kind = m.rng.randrange(3)
    x, y, z = m.xs[i], m.xs[j], m.xs[k]

    def holds(cols: Columns) -> Any:
        a, b, d = cols[:, i], cols[:, j], cols[:, k]
        return [a * b == d, a * b <= d + c, (a * b) % c == 0][kind]

    m.require([x * y == z, x * y <= z + c, ci.divides(c, x * y)][kind], holds, "product")


def _rest(m: LiteralModel) -> None:
    i, k = m.place(), m.place()
    c = m.rng.randint(2, 5)
    is_rest = m.rng.random() < 0.5
    x, z = m.xs[i], m.xs[k]
    m.require(
        (x % c == z) if is_rest else (x // c == z),
        lambda cols: (cols[:, i] % c if is_rest else cols[:, i] // c) == cols[:, k],
        "rest",
    )


def _tasks(m: LiteralModel) -> None:
    """Tasks, one at a time or on a shared resource; lengths and the capacity may be variables."""
    rng, places = m.rng, m.places(2, 4)
    counts = [i for i, domain in enumerate(m.domains) if domain[0] >= 0]
    is_alone = rng.random() < 0.4

    def size(low: int, high: int, share: float) -> Term:
        if counts and rng.random() < share:
            i = rng.choice(counts)
            for _ in range(2):  # whether there is any of it is likely to be asked elsewhere
                m.literals.append((m.xs[i] <= 0, lambda cols: cols[:, i] <= 0))
            return m.xs[i], lambda cols: cols[:, i]
        constant = rng.randint(low, high)
        return ci.sum_([constant]), lambda cols: np.full(len(cols), constant)

    lengths = [size(1, 2, 0.25) for _ in places]
    demands = [size(1, 3, 0.1) for _ in places]
    capacity, limit = size(3, 4, 0.3)

    def holds(cols: Columns) -> Any:
        begun = cols[:, places]
        ends = begun + np.stack([value(cols) for _, value in lengths], axis=1)
        use = np.stack([np.ones(len(cols), int) if is_alone else value(cols) for _, value in demands], axis=1)
        fits = np.ones(len(cols), bool)
        for t in range(int(begun.min(initial=0)), int(ends.max(initial=0)) + 1):
            in_use = (use * ((begun <= t) & (t < ends))).sum(axis=1)
            fits &= in_use <= (1 if is_alone else limit(cols))
        if is_alone:  # a task without length may not lie within another one
            for i in range(len(places)):
                for j in range(i):
                    fits &= (ends[:, i] <= begun[:, j]) | (ends[:, j] <= begun[:, i])
        return fits

    starts, sizes = [m.xs[i] for i in places], [length for length, _ in lengths]
    if is_alone:
        m.require(ci.no_overlap(starts, sizes), holds, "no_overlap")
    else:
        m.require(
            ci.cumulative(starts, sizes, [demand for demand, _ in demands], capacity), holds, "cumulative"
        )


def journey(m: LiteralModel) -> None:
    """Arcs of a circuit or of routes, by successors and, from the depot, by literals of their own."""
    n, depot = m.rng.choice([(3, None), (4, None), (3, 0), (4, 0)])
    ends = [(i, j) for i in range(n) for j in range(n) if i != j or (i != depot and m.rng.random() < 0.3)]
    places = {i: m.declare(list(range(n))) for i in range(n) if i != depot}
    leaving = {j: m.declare([0, 1]) for i, j in ends if i == depot}

    def column(cols: Columns, i: int, j: int) -> Any:
        return cols[:, leaving[j]] == 1 if i == depot else cols[:, places[i]] == j

    def holds(cols: Columns) -> Any:
        taken = [column(cols, i, j) for i, j in ends]
        rows = zip(*taken, strict=True)
        return np.array(
            [are_routes([e for e, t in zip(ends, row, strict=True) if t], range(n), depot) for row in rows],
            bool,
        )

    arcs = [(i, j, m.xs[leaving[j]] == 1 if i == depot else m.xs[places[i]] == j) for i, j in ends]
    m.require(ci.circuit(arcs) if depot is None else ci.routes(arcs, depot), holds, "journey")


def tour(m: LiteralModel) -> None:
    """New variables that are the successors of a tour, which may leave out nodes."""
    n = m.rng.choice([3, 4, 4])
    places = [m.declare(list(range(n))) for _ in range(n)]
    may_leave_out = m.rng.random() < 0.4
    post = ci.subcircuit if may_leave_out else ci.circuit

    def holds(cols: Columns) -> Any:
        after = cols[:, places]
        stays = (after == np.arange(n)) if may_leave_out else np.zeros_like(after, bool)
        fits = _distinct(after) == n
        at = np.argmin(stays, axis=1)  # the first node of the tour
        length = n - stays.sum(axis=1)
        place = at.copy()
        for step in range(1, n + 1):
            place = after[np.arange(len(cols)), place]
            fits &= (place != at) | (step >= length)
        return fits

    m.require(post([m.xs[i] for i in places]), holds, "tour")


KINDS: dict[Callable[[LiteralModel], None], int] = {
    _function: 8,
    _limits: 3,
    _row: 3,
    _clause: 3,
    _counted: 2,
    _different: 2,
    _nvalue: 1,
    _count: 1,
    _element: 1,
    _selection: 1,
    _table: 1,
    _extreme: 1,
    _product: 1,
    _rest: 1,
    _tasks: 3,
}
