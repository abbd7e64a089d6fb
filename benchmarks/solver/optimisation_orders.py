"""Models of colours, orders and rosters, drawn with a seed: the other half of the steering set.

Each function makes one instance: the model and what `solve` is to optimise.
"""

from __future__ import annotations

from itertools import combinations, pairwise, product
from random import Random

from optimisation_choices import Problem
from projects import draw as draw_project

from constrint import (
    Model,
    abs_,
    all_different,
    cumulative,
    global_cardinality,
    inverse,
    lex_less,
    max_,
    no_overlap,
    regular,
    sum_,
    table,
)


def mycielski(k: int) -> tuple[int, list[tuple[int, int]]]:
    """Vertices and edges of a Mycielski graph without triangles; its chromatic number is k."""
    n, edges = 2, [(0, 1)]
    for _ in range(k - 2):
        edges = [*edges, *[(a, b + n) for a, b in edges], *[(b, a + n) for a, b in edges]]
        edges += [(i + n, 2 * n) for i in range(n)]
        n = 2 * n + 1
    return n, edges


def colouring(n: int, edges: list[tuple[int, int]], colours: int) -> Problem:
    """The fewest colours of a graph's vertices."""
    m = Model()
    colour = m.int_vars("colour", n, 0, colours - 1)
    m.add(*[colour[a] != colour[b] for a, b in edges])
    return m, {"minimize": max_(*colour) + 1}


def myciel(k: int) -> Problem:
    """myciel-k of DIMACS: chromatic number k + 1."""
    return colouring(*mycielski(k + 1), k + 3)


def random_colouring(n: int, density: float) -> Problem:
    """The fewest colours of a random graph."""
    draw = Random(n)
    edges = [pair for pair in combinations(range(n), 2) if draw.random() < density]
    return colouring(n, edges, 12)


def queens_colouring(n: int) -> Problem:
    """queen-n-n of DIMACS: colour the squares so that queens of one colour do not attack each other."""
    squares = list(product(range(n), repeat=2))
    edges = [
        (i, j)
        for (i, (a, b)), (j, (c, d)) in combinations(enumerate(squares), 2)
        if a == c or b == d or abs(a - c) == abs(b - d)
    ]
    return colouring(n * n, edges, n + 3)


def pigeons(n: int, holes: int) -> Problem:
    """More pigeons than holes, by pairwise disequalities."""
    m = Model()
    hole = m.int_vars("hole", n, 0, holes - 1)
    m.add(*[a != b for a, b in combinations(hole, 2)])
    return m, {}


def sudoku(order: int, holes: float) -> Problem:
    """A Sudoku of order^2 lines: a shuffled cyclic pattern with holes."""
    draw = Random(order)
    n = order * order
    rows = [
        block * order + r
        for block in draw.sample(range(order), order)
        for r in draw.sample(range(order), order)
    ]
    columns = [
        block * order + c
        for block in draw.sample(range(order), order)
        for c in draw.sample(range(order), order)
    ]
    symbols = draw.sample(range(n), n)
    m = Model()
    cell = m.int_vars("cell", (n, n), 0, n - 1)
    for i in range(n):
        m.add(all_different(list(cell[i, :])), all_different(list(cell[:, i])))
    for a, b in product(range(order), repeat=2):
        m.add(all_different([cell[a * order + i, b * order + j] for i in range(order) for j in range(order)]))
    for i, j in product(range(n), repeat=2):
        if draw.random() >= holes:
            r, c = rows[i], columns[j]
            m.add(cell[i, j] == symbols[(order * (r % order) + r // order + c) % n])
    return m, {}


def roster(nurses: int, days: int) -> Problem:
    """Shifts (0 off, 1 early, 2 late, 3 night): rules as an automaton, demands by day, weighted wishes."""
    draw = Random(100 * nurses + days)
    m = Model()
    shift = m.int_vars("shift", (nurses, days), 0, 3)
    # The state: the last shift, and how many days in a row were worked; at most five, no earlier shift next.
    arcs = []
    number = {(0, 0): 0}
    for last, run in product((1, 2, 3), range(1, 6)):
        number[last, run] = len(number)
    for (last, run), state in number.items():
        arcs.append((state, 0, 0))
        arcs += [(state, s, number[s, run + 1]) for s in (1, 2, 3) if s >= last and run < 5]
    for i in range(nurses):
        m.add(regular(shift[i, :], arcs, 0, range(len(number))))
    wishes = []
    for t in range(days):
        need = {s: m.int_var(f"need{t}_{s}", nurses // 4, nurses // 3) for s in (1, 2, 3)}
        m.add(global_cardinality(shift[:, t], need))
        for i in range(nurses):
            wishes += [draw.randint(0, 9) * (shift[i, t] == s) for s in draw.sample(range(4), 3)]
    for i in range(nurses):
        m.add(sum_((shift[i, t] != 0) for t in range(days)) >= days // 2)
    return m, {"minimize": sum_(wishes)}


def golfers(groups: int, size: int, weeks: int) -> Problem:
    """Social golfers (CSPLib 10): nobody meets anybody twice."""
    m = Model()
    n = groups * size
    group = m.int_vars("group", (weeks, n), 0, groups - 1)
    for w in range(weeks):
        m.add(global_cardinality(group[w, :], dict.fromkeys(range(groups), size)))
    for a, b in combinations(range(n), 2):
        m.add(sum_((group[w, a] == group[w, b]) for w in range(weeks)) <= 1)
    for a in range(n):
        m.add(group[0, a] == a // size)
    return m, {}


def black_hole(piles: int, height: int) -> Problem:
    """A patience like Black Hole: cards off the piles, each next in rank to the one before; it comes out."""
    draw = Random(piles)
    n = piles * height
    ranks = 9
    m = Model()
    at = m.int_vars("at", n + 1, 0, n)  # the place of each card; card 0 is in the hole
    card = m.int_vars("card", n + 1, 0, n)
    m.add(inverse(at, card), at[0] == 0)
    # A play that comes out, dealt to the piles so that each is taken off from the top.
    order, rank = [0], {0: 0}
    for number in draw.sample(range(1, n + 1), n):
        rank[number] = (rank[order[-1]] + draw.choice((1, ranks - 1))) % ranks
        order.append(number)
    pairs = [(a, b) for a in rank for b in rank if (rank[a] - rank[b]) % ranks in (1, ranks - 1)]
    for x, y in pairwise(card):
        m.add(table([x, y], pairs))
    deal = draw.sample([pile for pile in range(piles) for _ in range(height)], n)
    for pile in range(piles):
        cards = [number for number, where in zip(order[1:], deal, strict=True) if where == pile]
        m.add(*[at[a] < at[b] for a, b in pairwise(cards)])
    return m, {}


def still_life(n: int) -> Problem:
    """The densest still life of n by n cells (CSPLib 32)."""
    m = Model()
    x = m.bool_vars("x", (n + 4, n + 4))
    for i, j in product(range(n + 4), repeat=2):
        if not (2 <= i < n + 2 and 2 <= j < n + 2):
            m.add(x[i, j] == 0)
    for i, j in product(range(1, n + 3), repeat=2):
        near = sum_(x[a, b] for a in (i - 1, i, i + 1) for b in (j - 1, j, j + 1) if (a, b) != (i, j))
        m.add((x[i, j] == 0) | ((near >= 2) & (near <= 3)), (x[i, j] == 1) | (near != 3))
    return m, {"maximize": sum_(x.flat)}


def photo(people: int, wishes: int) -> Problem:
    """A row for a photo: as many wishes of who stands beside whom as possible."""
    draw = Random(people)
    m = Model()
    at = m.int_vars("at", people, 0, people - 1)
    m.add(all_different(at), at[0] < at[1])
    pairs = draw.sample(list(combinations(range(people), 2)), wishes)
    return m, {"maximize": sum_((abs_(at[a] - at[b]) == 1) for a, b in pairs)}


def frequencies(links: int) -> Problem:
    """Frequency assignment: distances between near transmitters, the least span."""
    draw = Random(links)
    m = Model()
    f = m.int_vars("f", links, 0, 60)
    for a, b in combinations(range(links), 2):
        if draw.random() < 0.3:
            m.add(abs_(f[a] - f[b]) >= draw.randint(1, 6))
    return m, {"minimize": max_(*f)}


def tardiness(jobs: int) -> Problem:
    """One machine, least weighted tardiness."""
    draw = Random(jobs)
    m = Model()
    length = [draw.randint(2, 20) for _ in range(jobs)]
    horizon = sum(length)
    start = [m.int_var(f"s{i}", 0, horizon - length[i]) for i in range(jobs)]
    m.add(no_overlap(start, length))
    late = [
        draw.randint(1, 9) * max_(0, start[i] + length[i] - draw.randint(horizon // 4, horizon))
        for i in range(jobs)
    ]
    return m, {"minimize": sum_(late)}


def project(tasks: int, seed: int) -> Problem:
    """A project on four resources (projects.py), least span."""
    drawn = draw_project(tasks, seed)
    m = Model()
    horizon = sum(drawn.durations)
    starts = [m.int_var(f"s{i}", 0, horizon - d) for i, d in enumerate(drawn.durations)]
    for i, j in drawn.arcs:
        m.add(starts[i] + drawn.durations[i] <= starts[j])
    for demands, capacity in drawn.resources:
        m.add(cumulative(starts, drawn.durations, demands, capacity))
    return m, {"minimize": max_(*[s + d for s, d in zip(starts, drawn.durations, strict=True)])}


def open_stacks(orders: int, products: int) -> Problem:
    """The fewest open stacks: in which order to make products."""
    draw = Random(orders)
    m = Model()
    at = m.int_vars("at", products, 0, products - 1)
    m.add(all_different(at))
    wants = [draw.sample(range(products), draw.randint(2, 4)) for _ in range(orders)]
    first = [m.int_var(f"first{c}", 0, products - 1) for c in range(orders)]
    last = [m.int_var(f"last{c}", 0, products - 1) for c in range(orders)]
    for c, wanted in enumerate(wants):
        for p in wanted:
            m.add(first[c] <= at[p], at[p] <= last[c])
    span = m.int_var("stacks", 0, orders)
    for t in range(products):
        m.add(sum_(((first[c] <= t) & (last[c] >= t)) for c in range(orders)) <= span)
    return m, {"minimize": span}


def block_design(n: int) -> Problem:
    """A projective plane of order n as a block design with ordered rows (CSPLib 28)."""
    v = n * n + n + 1
    m = Model()
    x = m.bool_vars("x", (v, v))
    for i in range(v):
        m.add(x[i, :].sum() == n + 1, x[:, i].sum() == n + 1)
        for h in range(i):
            m.add(sum_(x[i, j] * x[h, j] for j in range(v)) == 1)
    for i in range(v - 1):
        m.add(lex_less(list(x[i + 1, :]), list(x[i, :])))
    return m, {}
