"""Counts by joins of tables, against the list of solutions."""

from __future__ import annotations

from random import Random
from time import perf_counter

import pytest

import constrint as ci
from constrint.diagrams.table_joins import count_joined
from constrint.settings import DEFAULT


def drawn(draw: Random) -> ci.Model:
    """A model of a few tables with shared, repeated and free variables, and conditions on one of them."""
    m = ci.Model()
    x: list[ci.IntExpr] = []
    for i in range(draw.randint(3, 6)):
        kind = draw.randrange(4)
        if kind == 0:
            x.append(m.int_var(f"x{i}", -1, 3))
        elif kind == 1:
            x.append(m.int_var(f"x{i}", 0, 4, step=2))
        else:
            x.append(m.bool_var(f"x{i}") if kind == 2 else m.int_var(f"x{i}", values=[-1, 0, 3]))
    for _ in range(draw.randint(2, 4)):
        scope = [draw.choice(x) for _ in range(draw.randint(1, 3))]
        rows = [tuple(draw.randint(-1, 4) for _ in scope) for _ in range(draw.randint(0, 30))]
        m.add(ci.table(scope, rows))
        if draw.random() < 0.4:
            m.add(draw.choice([scope[0] + scope[-1] <= 4, scope[0] * 3 % 2 == 0, scope[-1] != 1]))
    return m


@pytest.mark.parametrize("seed", range(80))
def test_counts_are_those_of_the_list(seed: int) -> None:
    m = drawn(Random(seed))
    m.settings = DEFAULT.with_fields(building={"least_joined": 0})
    expected = len(list(m.iter_solutions()))
    assert count_joined(m, None) == expected
    assert m.count() == expected


def test_counts_beyond_int64_are_exact() -> None:
    m = ci.Model()
    hub = m.int_var("hub", 0, 9)
    for i in range(80):
        m.add(
            ci.table([hub, m.int_var(f"x{i}", 0, 2)], [(a, b) for a in range(10) for b in range(a % 3 + 1)])
        )
    assert m.count() == sum((a % 3 + 1) ** 80 for a in range(10))


@pytest.mark.parametrize(
    "build",
    [
        lambda m, x, rows: m.add(ci.table(x[:2], rows), x[0] + x[2] == 3),
        lambda m, x, rows: m.add(ci.table(x[:2], rows), ci.table(x[1:], rows), x[0] + x[2] == 3),
        lambda m, x, rows: m.add(~ci.table(x[:2], rows), ci.table(x[1:], rows), ci.table(x[::2], rows)),
        lambda m, x, rows: m.add(ci.table(x[:2], rows) | ci.table(x[1:], rows)),
    ],
)
def test_what_no_table_decides_is_left_to_others(build: object) -> None:
    m = ci.Model()
    x = m.int_vars("x", 3, 0, 3)
    assert callable(build)
    build(m, x, [(0, 1), (1, 2), (2, 2), (3, 0)])
    m.settings = DEFAULT.with_fields(building={"least_joined": 0})
    assert count_joined(m, None) is None
    assert m.count() == len(list(m.iter_solutions()))


def test_a_join_of_too_many_rows_is_left_to_others() -> None:
    m = ci.Model()
    x = m.int_vars("x", 3, 0, 9)
    for i in range(3):
        m.add(ci.table([x[i], x[(i + 1) % 3]], [(a, b) for a in range(10) for b in range(10) if a != b]))
    m.settings = DEFAULT.with_fields(building={"least_joined": 0, "most_joined": 100})
    assert count_joined(m, None) is None
    assert m.count() == 10 * 9 * 8


def test_two_tables_of_many_rows() -> None:
    """Layer by layer it took more than 40 s for a tenth of the rows."""
    draw = Random(1)
    m = ci.Model()
    x = m.int_vars("x", 8, 0, 299)
    first, second = ({tuple(draw.randrange(300) for _ in range(5)) for _ in range(30_000)} for _ in range(2))
    m.add(ci.table(x[:5], first), ci.table(x[3:], second))
    pairs: dict[tuple[int, ...], int] = {}
    for row in first:
        pairs[row[3:]] = pairs.get(row[3:], 0) + 1
    began = perf_counter()
    assert m.count(time_limit=20) == sum(pairs.get(row[:2], 0) for row in second)
    assert perf_counter() - began < 20
