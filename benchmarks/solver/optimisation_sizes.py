"""Models at several sizes, drawn with a seed: covers of vertices, flexible shops, flows, units, drafts, rows.

Each function makes one instance: the model and what `solve` is to optimise.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from optimisation_choices import Problem

from constrint import Model, all_different, element, max_, no_overlap, sum_, table


def vertex_cover(n: int, density: float, heaviest: int = 1) -> Problem:
    """The lightest vertices of a random graph that touch all edges."""
    draw = Random(n + heaviest)
    m = Model()
    taken = [m.bool_var(f"x{i}") for i in range(n)]
    for i in range(n):
        for j in range(i):
            if draw.random() < density:
                m.add(taken[i] + taken[j] >= 1)
    return m, {"minimize": sum_(draw.randint(1, heaviest) * x for x in taken)}


def flexible_shop(jobs: int, machines: int, tasks: int = 4) -> Problem:
    """Jobs of several tasks, each on one of two or three machines with their own lengths; least makespan."""
    draw = Random(100 * jobs + machines)
    m = Model()
    horizon = jobs * tasks * 12 // machines * 2
    on: list[list[object]] = [[] for _ in range(machines)]
    ends = []
    for job in range(jobs):
        end: object = 0
        for task in range(tasks):
            start = m.int_var(f"s_{job}_{task}", 0, horizon)
            m.add(start >= end)
            ways = draw.sample(range(machines), min(machines, draw.randint(2, 3)))
            use = [m.bool_var(f"u_{job}_{task}_{k}") for k in ways]
            m.add(sum_(use) == 1)
            lengths = [draw.randint(3, 20) for _ in ways]
            for k, x, length in zip(ways, use, lengths, strict=True):
                on[k].append(m.interval(f"t_{job}_{task}_{k}", start, length, presence=x))
            end = start + sum_(length * x for x, length in zip(use, lengths, strict=True))
        ends.append(end)
    m.add(*[no_overlap(tasks) for tasks in on])
    return m, {"minimize": max_(ends)}


def steiner(n: int, terminals: int) -> Problem:
    """The cheapest arcs of a sparse graph that carry one unit from a root to each terminal."""
    draw = Random(10 * n + terminals)
    m = Model()
    places = [(draw.randint(0, 100), draw.randint(0, 100)) for _ in range(n)]

    def far(i: int, j: int) -> int:
        return round(((places[i][0] - places[j][0]) ** 2 + (places[i][1] - places[j][1]) ** 2) ** 0.5)

    links = {
        tuple(sorted((i, j)))
        for i in range(n)
        for j in sorted((j for j in range(n) if j != i), key=lambda j: far(i, j))[:4]
    }
    links |= {(i - 1, i) for i in range(1, n)}
    arcs = [arc for i, j in sorted(links) for arc in ((i, j), (j, i))]
    used = {arc: m.bool_var(f"x_{arc[0]}_{arc[1]}") for arc in arcs}
    flow = {arc: m.int_var(f"f_{arc[0]}_{arc[1]}", 0, terminals) for arc in arcs}
    ends = set(draw.sample(range(1, n), terminals))
    for arc in arcs:
        m.add(flow[arc] <= terminals * used[arc])
    for node in range(1, n):
        enters = sum_(flow[arc] for arc in arcs if arc[1] == node)
        leaves = sum_(flow[arc] for arc in arcs if arc[0] == node)
        m.add(enters - leaves == int(node in ends))
    return m, {"minimize": sum_(far(*arc) * x for arc, x in used.items())}


def units(count: int, hours: int) -> Problem:
    """Which units run in which hour: demand, least and most output, times up and down, costs of starting."""
    draw = Random(100 * count + hours)
    m = Model()
    least = [draw.randint(10, 40) for _ in range(count)]
    most = [low + draw.randint(30, 120) for low in least]
    on = m.bool_vars("on", (count, hours))
    begun = m.bool_vars("begun", (count, hours))
    output = [[m.int_var(f"p_{i}_{t}", 0, most[i]) for t in range(hours)] for i in range(count)]
    cost = []
    for i in range(count):
        fixed, each, start, stay = (
            draw.randint(50, 300),
            draw.randint(2, 12),
            draw.randint(100, 900),
            draw.randint(2, 4),
        )
        for t in range(hours):
            m.add(output[i][t] >= least[i] * on[i, t], output[i][t] <= most[i] * on[i, t])
            if t:
                m.add(begun[i, t] >= on[i, t] - on[i, t - 1])
                m.add(output[i][t] - output[i][t - 1] <= most[i] // 2 + least[i])
            else:
                m.add(begun[i, t] == on[i, t])
            m.add(sum_(begun[i, s] for s in range(max(0, t - stay + 1), t + 1)) <= on[i, t])
            cost.append(fixed * on[i, t] + each * output[i][t] + start * begun[i, t])
    for t in range(hours):
        demand = round(sum(most) * draw.uniform(0.35, 0.75))
        m.add(sum_(output[i][t] for i in range(count)) == demand)
        m.add(sum_(most[i] * on[i, t] for i in range(count)) >= demand * 11 // 10)
    return m, {"minimize": sum_(cost)}


def draft(players: int, teams: int) -> Problem:
    """Players to teams of equal size: first the worst wish, then all wishes, then the strongest team."""
    draw = Random(100 * players + teams)
    m = Model()
    strength = [draw.randint(10, 99) for _ in range(players)]
    wish = [draw.sample(range(teams), teams) for _ in range(players)]
    at = m.bool_vars("at", (players, teams))
    for i in range(players):
        m.add(sum_(at[i, k] for k in range(teams)) == 1)
    for k in range(teams):
        m.add(sum_(at[i, k] for i in range(players)) == players // teams)
    for _ in range(players // 3):
        i, j = draw.sample(range(players), 2)
        for k in range(teams):
            m.add(at[i, k] + at[j, k] <= 1)
    rank = [sum_(wish[i][k] * at[i, k] for k in range(teams)) for i in range(players)]
    total = [sum_(strength[i] * at[i, k] for i in range(players)) for k in range(teams)]
    return m, {"minimize": [max_(rank), sum_(rank), max_(total)]}


def integer_rows(n: int, rows: int) -> Problem:
    """A knapsack of integers up to 20 in several rows."""
    draw = Random(1000 * n + rows)
    m = Model()
    xs = [m.int_var(f"x{i}", 0, 20) for i in range(n)]
    for _ in range(rows):
        weights = [draw.randint(5, 60) for _ in xs]
        m.add(sum_(w * x for w, x in zip(weights, xs, strict=True)) <= 4 * sum(weights))
    return m, {"maximize": sum_(draw.randint(10, 99) * x for x in xs)}


def crossword(size: int, words: int) -> Problem:
    """A square of different words across and down, each a row of a table; the most frequent letters."""
    draw = Random(100 * size + words)
    m = Model()
    cell = m.int_vars("cell", (size, size), 0, 25)
    known = {tuple(draw.choices(range(8), k=size)) for _ in range(words)}
    score = [draw.randint(0, 9) for _ in range(26)]
    lines = [*cell, *cell.T]
    names = []
    rows = sorted((k, *word) for k, word in enumerate(sorted(known)))
    for i, line in enumerate(lines):
        number = m.int_var(f"word{i}", 0, len(known) - 1)
        names.append(number)
        m.add(table([number, *line], rows))
    m.add(all_different(names))
    return m, {"maximize": sum_(element(score, x) for line in cell for x in line)}


INSTANCES: dict[str, Callable[[], Problem]] = {
    **{f"vertex cover {n}": lambda n=n: vertex_cover(n, 0.1) for n in (60, 100, 140)},
    **{f"weighted cover {n}": lambda n=n: vertex_cover(n, 0.1, 40) for n in (60, 100, 140)},
    **{f"flexible {a} x {b}": lambda a=a, b=b: flexible_shop(a, b) for a, b in ((8, 4), (15, 6), (20, 8))},
    **{f"steiner {n}": lambda n=n: steiner(n, n // 5) for n in (40, 80, 120)},
    **{f"units {a} x {b}": lambda a=a, b=b: units(a, b) for a, b in ((6, 12), (12, 24), (20, 24))},
    **{f"draft {n}": lambda n=n: draft(n, n // 6) for n in (12, 24, 48)},
    **{f"rows {a} x {b}": lambda a=a, b=b: integer_rows(a, b) for a, b in ((30, 5), (40, 8), (60, 12))},
    **{f"crossword {a}, {b}": lambda a=a, b=b: crossword(a, b) for a, b in ((4, 400), (5, 3000), (6, 12000))},
}
"""Kinds of small models at their second and third size."""
