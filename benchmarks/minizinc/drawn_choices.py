"""Data of choices, pictures, costs and graphs."""

from __future__ import annotations

from itertools import combinations
from random import Random

from drawn_data import Data, arcs, distances, links, numbered, table


def multiknapsack(random: Random, size: int) -> Data:
    n, rows = 15 + 15 * size, 5
    weight = table(rows, n, lambda: random.randint(5, 60))
    return {
        "items": n,
        "rows": rows,
        "weight": weight,
        "capacity": [sum(row) // 2 for row in weight],
        "value": [random.randint(10, 99) for _ in range(n)],
    }


def nonogram(random: Random, size: int) -> Data:
    n = 10 + 8 * size
    cells = table(n, n, lambda: int(random.random() < 0.6))

    def runs(line: list[int]) -> list[int]:
        return [len(part) for part in "".join(map(str, line)).split("0") if part]

    rows, columns = [runs(row) for row in cells], [runs([row[j] for row in cells]) for j in range(n)]
    most = max(map(len, rows + columns))
    return {
        "n": n,
        "most": most,
        "rows": [row + [0] * (most - len(row)) for row in rows],
        "columns": [row + [0] * (most - len(row)) for row in columns],
    }


def quasigroup(random: Random, size: int) -> Data:
    n = 10 + 8 * size
    shift = random.sample(range(n), n)
    symbols = random.sample(range(1, n + 1), n)
    square = [[symbols[(shift[i] + j) % n] for j in range(n)] for i in range(n)]
    for _ in range(4 * n):  # swaps of two columns' cycles would do more: rows and columns are exchanged
        i, j = random.sample(range(n), 2)
        square[i], square[j] = square[j], square[i]
    return {"n": n, "given": [[0 if random.random() < 0.42 else x for x in row] for row in square]}


def costas(random: Random, size: int) -> Data:
    return {"n": 9 + 2 * size}


def radiation(random: Random, size: int) -> Data:
    m = n = 3 + size
    return {"m": m, "n": n, "intensity": table(m, n, lambda: random.randint(0, 3 + 2 * size))}


def talent(random: Random, size: int) -> Data:
    actors, scenes = 4 + size, 6 + 2 * size
    return {
        "actors": actors,
        "scenes": scenes,
        "pay": [random.randint(1, 20) for _ in range(actors)],
        "length": [random.randint(1, 5) for _ in range(scenes)],
        "plays": [[1, *row] for row in table(actors, scenes - 1, lambda: int(random.random() < 0.4))],
    }


def fastfood(random: Random, size: int) -> Data:
    n = 12 + 14 * size
    return {"n": n, "depots": 3 + size, "at": sorted(random.randint(0, 300) for _ in range(n))}


def marketsplit(random: Random, size: int) -> Data:
    n = 16 + 4 * size
    weight = table(2 + size, n, lambda: random.randint(0, 60))
    chosen = [random.random() < 0.5 for _ in range(n)]
    return {
        "items": n,
        "rows": 2 + size,
        "weight": weight,
        "half": [sum(w for w, is_in in zip(row, chosen, strict=True) if is_in) for row in weight],
    }


def prizes(random: Random, size: int) -> Data:
    n = 5 + 5 * size
    return {
        "n": n,
        "longest": 180,
        "prize": [0] + [random.randint(1, 20) for _ in range(n - 1)],
        "far": distances(random, n),
    }


def protein(random: Random, size: int) -> Data:
    n, d = 6 + 3 * size, 4 + size
    pairs = links(random, n, 0.4)
    cost = [[[random.randint(0, 30) for _ in range(d)] for _ in range(d)] for _ in pairs]
    return {
        "n": n,
        "d": d,
        **numbered("pairs", "pair", pairs),
        "alone": table(n, d, lambda: random.randint(0, 20)),
        "cost": cost,
    }


def spot(random: Random, size: int) -> Data:
    n, d = 15 + 20 * size, 3
    pairs = links(random, n, 6 / n)
    return {
        "n": n,
        "d": d,
        "prize": [random.choice([1, 2, 2, 3, 10]) for _ in range(n)],
        **numbered("pairs", "pair", pairs),
        "fits": table(len(pairs), d * d, lambda: int(random.random() < 0.4)),
    }


def parity(random: Random, size: int) -> Data:
    n, m = 8 + 4 * size, 16 + 8 * size
    secret = [random.randint(0, 1) for _ in range(n)]
    sample = table(m, n, lambda: random.randint(0, 1))
    errors = 2 + size
    wrong = set(random.sample(range(m), errors))
    answer = [
        (sum(a * b for a, b in zip(row, secret, strict=True)) + (k in wrong)) % 2
        for k, row in enumerate(sample)
    ]
    return {"n": n, "m": m, "errors": errors, "sample": sample, "answer": answer}


def community(random: Random, size: int) -> Data:
    n = 8 + 4 * size
    group = [random.randrange(3) for _ in range(n)]
    w = table(n, n, lambda: 0)
    for i, j in combinations(range(n), 2):
        w[i][j] = random.randint(-9, 4) + (6 if group[i] == group[j] else 0)
    rules = [
        (a, b, random.randint(0, 1)) for a, b in random.sample(list(combinations(range(1, n + 1), 2)), 3)
    ]
    return {"n": n, "k": 4, "w": w, **numbered("rules", "rule", rules)}


def mapping(random: Random, size: int) -> Data:
    n, side = 6 + 3 * size, 2 + size // 2
    sizes = [random.randint(1, 9) for _ in range(n)]
    drawn = [(a, b, random.randint(1, 20)) for a, b in links(random, n, 0.35)]
    return {
        "tasks": n,
        "side": side,
        "capacity": max(10, 13 * sum(sizes) // (10 * side * side)),
        "size": sizes,
        **numbered("links", "link", drawn),
    }


def opd(random: Random, size: int) -> Data:
    v, b, r = [(5, 10, 4), (7, 12, 5)][size - 1]
    return {"v": v, "b": b, "r": r + random.randint(0, 1)}


def bibd(random: Random, size: int) -> Data:
    v, b, r, k, common = [(7, 7, 3, 3, 1), (9, 12, 4, 3, 1)][size - 1]
    return {"v": v, "b": b, "r": r, "k": k, "lambda": common}


def carsequencing(random: Random, size: int) -> Data:
    classes, options, cars = 5, 4, 8 + 4 * size
    number = [1] * classes
    for _ in range(cars - classes):
        number[random.randrange(classes)] += 1
    window = [random.randint(2, 4) for _ in range(options)]
    return {
        "cars": cars,
        "classes": classes,
        "options": options,
        "number": number,
        "window": window,
        "most": [random.randint(1, w - 1) for w in window],
        "has": table(classes, options, lambda: int(random.random() < 0.45)),
    }


def kidneys(random: Random, size: int) -> Data:
    n = 8 + 8 * size
    return {
        "n": n,
        "weight": [
            [0 if i == j or random.random() > 0.25 else random.randint(1, 20) for j in range(n)]
            for i in range(n)
        ],
    }


def purchaser(random: Random, size: int) -> Data:
    towns, products = 5 + 2 * size, 4 + 3 * size
    return {
        "towns": towns,
        "products": products,
        "far": distances(random, towns),
        "price": table(products, towns, lambda: random.randint(5, 60)),
    }


def cliques(random: Random, size: int) -> Data:
    n = 30 + 30 * size
    edge = table(n, n, lambda: int(random.random() < 0.6))
    return {"n": n, "edge": edge}


def setcover(random: Random, size: int) -> Data:
    flights, pairings = 30 * size, 80 * size
    covers = [set(random.sample(range(1, flights + 1), random.randint(2, 5))) for _ in range(pairings)]
    for f in range(1, flights + 1):
        covers[random.randrange(pairings)].add(f)
    return {
        "flights": flights,
        "pairings": pairings,
        "covers": covers,
        "cost": [random.randint(10, 99) for _ in covers],
    }


def tournament(random: Random, size: int) -> Data:
    return {"n": 4 + 2 * size}


def flexible(random: Random, size: int) -> Data:
    jobs, steps = 2 + size, 3
    return {
        "jobs": jobs,
        "steps": steps,
        "machines": 3,
        "length": [[[random.randint(2, 20) for _ in range(3)] for _ in range(steps)] for _ in range(jobs)],
    }


def magicsequence(random: Random, size: int) -> Data:
    return {"n": 15 * size}


def tardiness(random: Random, size: int) -> Data:
    n = 6 + 4 * size
    length = [random.randint(2, 12) for _ in range(n)]
    release = [random.randint(0, 4 * n) for _ in range(n)]
    due = [r + d + random.randint(0, 5 * n // 2) for r, d in zip(release, length, strict=True)]
    return {
        "n": n,
        "release": release,
        "due": due,
        "length": length,
        "weight": [random.randint(1, 5) for _ in range(n)],
    }


def multiskill(random: Random, size: int) -> Data:
    tasks, workers, skills = 4 + 3 * size, 3 + size, 3
    able = table(workers, skills, lambda: int(random.random() < 0.6))
    for s in range(skills):
        able[random.randrange(workers)][s] = 1
    need = [[0] * skills for _ in range(tasks)]
    for row in need:
        row[random.randrange(skills)] = 1
        s = random.randrange(skills)
        if sum(a[s] for a in able) > 1 and sum(map(any, able)) > 2:
            row[s] = 1
    return {
        "tasks": tasks,
        "workers": workers,
        "skills": skills,
        "length": [random.randint(1, 9) for _ in range(tasks)],
        "need": need,
        "able": able,
        **numbered("arcs", "before", arcs(random, tasks, 3, 0.25)),
    }
