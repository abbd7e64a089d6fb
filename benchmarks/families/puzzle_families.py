"""Families of designs and puzzles, as CPMpy models; the seed gives the size or the clues."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import cpmpy as cp


def golfers(seed: int) -> Any:
    """Social golfers (CSPLib 10): no two meet twice."""
    groups, size, weeks = 4, 3, 2 + seed % 2
    n = groups * size
    x = cp.intvar(0, groups - 1, shape=(weeks, n))
    m = cp.Model([cp.Count(x[w], g) == size for w in range(weeks) for g in range(groups)])
    m += [cp.sum(x[:, a] == x[:, b]) <= 1 for a, b in combinations(range(n), 2)]
    return m


def photo(seed: int) -> Any:
    """People in a row, most wishes of neighbours."""
    r, n = Random(seed), 9
    x = cp.intvar(0, n - 1, shape=n)
    wishes = [r.sample(range(n), 2) for _ in range(2 * n)]
    m = cp.Model(cp.AllDifferent(x))
    m.maximize(cp.sum(abs(x[a] - x[b]) == 1 for a, b in wishes))
    return m


def still_life(seed: int) -> Any:
    """A densest stable pattern of life (CSPLib 32)."""
    n = 5 + seed % 2
    x = cp.boolvar(shape=(n + 2, n + 2))
    m = cp.Model()
    for i in range(n + 2):
        for j in range(n + 2):
            if not (1 <= i <= n and 1 <= j <= n):
                m += ~x[i, j]
            near = [
                x[a, b]
                for a in range(max(0, i - 1), min(n + 2, i + 2))
                for b in range(max(0, j - 1), min(n + 2, j + 2))
                if (a, b) != (i, j)
            ]
            total = cp.sum(near)
            m += x[i, j].implies((total >= 2) & (total <= 3))
            m += (~x[i, j]).implies(total != 3)
    m.maximize(cp.sum(x))
    return m


def nonogram(seed: int) -> Any:
    """A picture by blocks of rows and columns, as automata (CSPLib 12)."""
    r, n = Random(seed), 10
    picture = [[int(r.random() < 0.6) for _ in range(n)] for _ in range(n)]
    x = cp.boolvar(shape=(n, n))
    m = cp.Model()
    lines = [(x[i], picture[i]) for i in range(n)]
    lines += [(x[:, j], [row[j] for row in picture]) for j in range(n)]
    for line, shown in lines:
        blocks = [len(part) for part in "".join(map(str, shown)).split("0") if part]
        bits = [0]
        for length in blocks:
            bits += [1] * length + [0]
        arcs, state = [], 0
        for k, bit in enumerate(bits):
            if bit == 0:
                arcs.append((f"s{state}", 0, f"s{state}"))
            if k + 1 < len(bits):
                step = bits[k + 1]
                arcs.append((f"s{state}", step, f"s{state + 1}"))
                state += 1
        last = [f"s{state}"] + ([f"s{state - 1}"] if state else [])
        m += cp.Regular(cp.cpm_array([1 * v for v in line]), arcs, "s0", last)
    return m


def quasigroup(seed: int) -> Any:
    """A Latin square with holes (CSPLib 67)."""
    r, n = Random(seed), 14
    rows, columns, names = (r.sample(range(n), n) for _ in range(3))
    x = cp.intvar(0, n - 1, shape=(n, n))
    m = cp.Model([cp.AllDifferent(x[i]) for i in range(n)], [cp.AllDifferent(x[:, i]) for i in range(n)])
    m += [
        x[i, j] == names[(rows[i] + columns[j]) % n] for i in range(n) for j in range(n) if r.random() < 0.58
    ]
    return m


def sudoku(seed: int) -> Any:
    """A 9 × 9 sudoku drawn from a shifted pattern."""
    r = Random(seed)
    names = r.sample(range(1, 10), 9)
    x = cp.intvar(1, 9, shape=(9, 9))
    m = cp.Model([cp.AllDifferent(x[i]) for i in range(9)], [cp.AllDifferent(x[:, i]) for i in range(9)])
    m += [cp.AllDifferent(x[i : i + 3, j : j + 3]) for i in (0, 3, 6) for j in (0, 3, 6)]
    m += [x[i, j] == names[(3 * i + i // 3 + j) % 9] for i in range(9) for j in range(9) if r.random() < 0.35]
    return m


def steiner_triples(seed: int) -> Any:
    """Triples of which two share at most one element (CSPLib 44)."""
    n = (7, 9)[seed % 2]
    x = cp.boolvar(shape=(n * (n - 1) // 6, n))
    m = cp.Model([cp.sum(row) == 3 for row in x])
    m += [cp.sum(x[a] & x[b]) <= 1 for a, b in combinations(range(len(x)), 2)]
    return m


def langford(seed: int) -> Any:
    """Pairs of numbers k, k + 1 apart (CSPLib 24)."""
    n = (8, 11)[seed % 2]
    x = cp.intvar(0, 2 * n - 1, shape=2 * n)
    return cp.Model(cp.AllDifferent(x), [x[k + n] == x[k] + k + 2 for k in range(n)])


def magic_sequence(seed: int) -> Any:
    """A sequence that counts itself (CSPLib 19)."""
    n = 14 + 4 * (seed % 3)
    x = cp.intvar(0, n - 1, shape=n)
    return cp.Model([cp.Count(x, k) == x[k] for k in range(n)])


def magic_square(seed: int) -> Any:
    """A magic square (CSPLib 19) with a drawn corner."""
    n = 4
    x = cp.intvar(1, n * n, shape=(n, n))
    total = n * (n * n + 1) // 2
    m = cp.Model(cp.AllDifferent(x), x[0, 0] == Random(seed).randint(1, n * n))
    m += [cp.sum(x[i]) == total for i in range(n)] + [cp.sum(x[:, i]) == total for i in range(n)]
    m += [cp.sum(x[i, i] for i in range(n)) == total, cp.sum(x[i, n - 1 - i] for i in range(n)) == total]
    return m


def costas_array(seed: int) -> Any:
    """Permutations whose differences differ in every row."""
    n = 9 + seed % 2
    x = cp.intvar(0, n - 1, shape=n)
    m = cp.Model(cp.AllDifferent(x))
    m += [cp.AllDifferent([x[i + d] - x[i] for i in range(n - d)]) for d in range(1, n - 1)]
    return m


def peaceable_queens(seed: int) -> Any:
    """Two armies of queens that do not attack (CSPLib 110)."""
    n = 5 + seed % 2
    white, black = cp.boolvar(shape=(n, n)), cp.boolvar(shape=(n, n))
    squares = [(i, j) for i in range(n) for j in range(n)]
    m = cp.Model(cp.sum(white) == cp.sum(black))
    for (i, j), (k, l) in [(a, b) for a in squares for b in squares]:  # noqa: E741
        if i == k or j == l or abs(i - k) == abs(j - l):
            m += (~white[i, j]) | (~black[k, l])
    m.maximize(cp.sum(white))
    return m


def block_design(seed: int) -> Any:
    """Balanced incomplete block designs (CSPLib 28)."""
    v, b, r, k, shared = ((7, 7, 3, 3, 1), (6, 10, 5, 3, 2), (9, 12, 4, 3, 1))[seed % 3]
    x = cp.boolvar(shape=(v, b))
    m = cp.Model([cp.sum(x[i]) == r for i in range(v)], [cp.sum(x[:, j]) == k for j in range(b)])
    m += [cp.sum(x[i] & x[j]) == shared for i, j in combinations(range(v), 2)]
    return m


def all_interval(seed: int) -> Any:
    """An all-interval series (CSPLib 7) with a drawn first note."""
    n = 10
    x, gap = cp.intvar(0, n - 1, shape=n), cp.intvar(1, n - 1, shape=n - 1)
    m = cp.Model(cp.AllDifferent(x), cp.AllDifferent(gap), x[0] == Random(seed).randint(1, n - 2))
    return m + [gap[i] == abs(x[i + 1] - x[i]) for i in range(n - 1)]


def crossfigure(seed: int) -> Any:
    """Digits in a grid whose lines are squares or multiples."""
    r = Random(seed)
    x = cp.intvar(0, 9, shape=(3, 3))
    m = cp.Model([x[i, 0] > 0 for i in range(3)], [x[0, i] > 0 for i in range(3)])
    for i in range(3):
        root, times = cp.intvar(10, 31), cp.intvar(4, 90)
        m += 100 * x[i, 0] + 10 * x[i, 1] + x[i, 2] == root * root
        m += 100 * x[0, i] + 10 * x[1, i] + x[2, i] == times * r.randint(2, 7)
    m.maximize(cp.sum(x))
    return m


def golomb_ruler(seed: int) -> Any:
    """A shortest ruler with distinct distances (CSPLib 6)."""
    n = 7 + seed % 2
    x = cp.intvar(0, n * n, shape=n)
    m = cp.Model(x[0] == 0, [x[i] < x[i + 1] for i in range(n - 1)])
    m += cp.AllDifferent([x[j] - x[i] for i, j in combinations(range(n), 2)])
    m.minimize(x[n - 1])
    return m


def radiation(seed: int) -> Any:
    """Intensities as a sum of patterns with consecutive ones: least time, then patterns."""
    r, rows, columns, top = Random(seed), 4, 4, 5
    shown = [[r.randint(0, top) for _ in range(columns)] for _ in range(rows)]
    time, k = cp.intvar(0, rows * columns * top), cp.intvar(0, rows * columns)
    used = cp.intvar(0, rows * columns, shape=top)
    q = cp.intvar(0, top, shape=(rows, columns, top))
    m = cp.Model(time == cp.sum((b + 1) * used[b] for b in range(top)), k == cp.sum(used))
    for i in range(rows):
        for j in range(columns):
            m += cp.sum((b + 1) * q[i, j, b] for b in range(top)) == shown[i][j]
        for b in range(top):
            rises = [cp.max([q[i, j, b] - q[i, j - 1, b], 0]) for j in range(1, columns)]
            m += used[b] >= q[i, 0, b] + cp.sum(rises)
    m.minimize(time * (rows * columns + 1) + k)
    return m


def median_string(seed: int) -> Any:
    """A string nearest to given ones by differing letters, least greatest distance."""
    r, n, strings = Random(seed), 12, 6
    given = [[r.randint(0, 3) for _ in range(n)] for _ in range(strings)]
    x = cp.intvar(0, 3, shape=n)
    m = cp.Model()
    m.minimize(cp.max([cp.sum(x[i] != word[i] for i in range(n)) for word in given]))
    return m


def black_hole(seed: int) -> Any:
    """Patience with piles of three: each card next in rank to the one before (CSPLib 81)."""
    r, ranks, suits = Random(seed), 7, 4
    n = ranks * suits
    order = [0, *r.sample(range(1, n), n - 1)]
    card, at = cp.intvar(0, n - 1, shape=n), cp.intvar(0, n - 1, shape=n)
    near = [[a, b] for a in range(n) for b in range(n) if (a - b) % ranks in (1, ranks - 1)]
    m = cp.Model(cp.Inverse(card, at), card[0] == 0)
    m += [cp.Table([card[i], card[i + 1]], near) for i in range(n - 1)]
    for k in range(1, n - 2, 3):
        m += [at[order[k]] < at[order[k + 1]], at[order[k + 1]] < at[order[k + 2]]]
    return m


def traffic_lights(seed: int) -> Any:
    """Lights of a crossing by tables (CSPLib 16), fewest in red and amber."""
    n = 4
    v, p = cp.intvar(0, 3, shape=n), cp.intvar(0, 1, shape=n)
    allowed = [[0, 0, 2, 1], [1, 0, 3, 0], [2, 1, 0, 0], [3, 0, 1, 0]]
    m = cp.Model([cp.Table([v[i], p[i], v[(i + 1) % n], p[(i + 1) % n]], allowed) for i in range(n)])
    r = Random(seed)
    m.minimize(cp.sum(r.randint(1, 5) * v[i] for i in range(n)))
    return m


def pigeonhole(seed: int) -> Any:
    """One pigeon too many, by pairwise disequalities: there is no solution."""
    holes = 8 + seed % 3
    x = cp.intvar(0, holes - 1, shape=holes + 1)
    return cp.Model([a != b for a, b in combinations(x, 2)])


FAMILIES = [
    golfers, photo, still_life, nonogram, quasigroup, sudoku, steiner_triples, langford, magic_sequence,
    magic_square, costas_array, peaceable_queens, block_design, all_interval, crossfigure, golomb_ruler,
    radiation, median_string, black_hole, traffic_lights, pigeonhole,
]  # fmt: skip
