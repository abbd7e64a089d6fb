"""Data of staff, choices, cuts, configurations and networks."""

from __future__ import annotations

from itertools import combinations
from random import Random

from drawn_data import Data, links, numbered, table


def league(random: Random, size: int) -> Data:
    players, leagues = 8 + 8 * size, 2 + size
    return {
        "players": players,
        "leagues": leagues,
        "fewest": players // leagues - 1,
        "most": players // leagues + 1,
        "countries": 4,
        "rank": [random.randint(1, 30) for _ in range(players)],
        "country": [random.randint(1, 4) for _ in range(players)],
    }


def rotatingworkforce(random: Random, size: int) -> Data:
    """Off, day, evening, night: 3 to 6 working days, 2 to 4 days off, no earlier shift before a day off."""
    weeks, shifts, shortest, longest, rest = (5, 3, 3, 6, 4) if size == 1 else (8, 4, 3, 6, 4)
    off = [(1, run) for run in range(1, rest + 1)]
    work = [(s, run) for s in range(2, shifts + 1) for run in range(1, longest + 1)]
    number = {state: k + 1 for k, state in enumerate(off + work)}
    step = [[0] * shifts for _ in number]
    for (s, run), k in number.items():
        for t in range(1, shifts + 1):
            if s == 1 and t == 1:
                to = number.get((1, run + 1), 0)
            elif s == 1:
                to = number[t, 1] if run >= 2 else 0
            elif t == 1:
                to = number[1, 1] if run >= shortest else 0
            else:
                to = number.get((t, run + 1), 0) if t >= s else 0
            step[k - 1][t - 1] = to
    plan: list[int] = []
    while len(plan) != 7 * weeks:  # a plan that keeps the rules, so that there is one
        plan = plan if len(plan) < 7 * weeks else []
        plan += sorted(random.randint(2, shifts) for _ in range(random.randint(shortest, longest)))
        plan += [1] * random.randint(2, rest - 1)
    cover = [[plan[d::7].count(s) for s in range(1, shifts + 1)] for d in range(7)]
    return {
        "weeks": weeks,
        "shifts": shifts,
        "states": len(number),
        "first": number[1, 2],
        "last": {number[1, run] for run in range(2, rest + 1)},
        "step": step,
        "cover": cover,
    }


def hrc(random: Random, size: int) -> Data:
    singles, couples, hospitals = 3 + size, 4 * size + 1, 3 + 3 * size
    residents = singles + 2 * couples
    popular = [random.randint(1, 6) for _ in range(hospitals)]

    def wish() -> list[int]:
        return sorted(range(1, hospitals + 1), key=lambda h: popular[h - 1] + 5 * random.random())[:3]

    pairs = list(combinations(range(1, hospitals + 1), 2))
    both = [[random.sample(p, 2) for p in random.sample(pairs, 4)] for _ in range(couples)]
    place = [random.sample(range(1, residents + 1), residents) for _ in range(hospitals)]
    capacity = [max(1, residents // hospitals + random.randint(-2, 1)) for _ in range(hospitals)]
    wishes = [wish() for _ in range(singles)]
    for c in range(size):  # a couple and a resident for whom no matching is stable
        h, g, him, her = 2 * c, 2 * c + 1, singles + c + 1, singles + couples + c + 1
        wishes[c], both[c] = [h + 1, g + 1, g + 1], [[h + 1, g + 1]] * 4
        capacity[h] = capacity[g] = 1
        place[h] = [
            0 if r == him else place[h][r - 1] + residents * (r != c + 1) for r in range(1, residents + 1)
        ]
        place[g] = [
            place[g][r - 1] + residents * (1 if r == her else 2 * (r != c + 1))
            for r in range(1, residents + 1)
        ]
    return {
        "singles": singles,
        "couples": couples,
        "hospitals": hospitals,
        "longest": 3,
        "wishes": 4,
        "capacity": capacity,
        "place": place,
        "wish": wishes,
        "his": [[a for a, _ in row] for row in both],
        "hers": [[b for _, b in row] for row in both],
    }


def steinertree(random: Random, size: int) -> Data:
    n = 6 + 3 * size
    drawn = [[k, random.randint(1, k - 1), random.randint(5, 30)] for k in range(2, n + 1)]
    known = {frozenset(e[:2]) for e in drawn}
    drawn += [[a, b, random.randint(5, 30)] for a, b in links(random, n, 0.2) if {a, b} not in known]
    return {
        "n": n,
        **numbered("edges", "edge", drawn),
        "dearest": sum(e[2] for e in drawn),
        "terminals": set(random.sample(range(1, n + 1), n // 2)),
    }


def wcsp(random: Random, size: int) -> Data:
    n, d, top = 6 + 10 * size, 5, 1000
    pairs = links(random, n, 4 / n)
    cost = [
        [[random.choice([0, 0, random.randint(1, 40), top]) for _ in range(d)] for _ in range(d)]
        for _ in pairs
    ]
    return {
        "n": n,
        "d": d,
        "top": top,
        **numbered("pairs", "pair", pairs),
        "alone": table(n, d, lambda: random.randint(0, 20)),
        "cost": cost,
    }


def cuttingstock(random: Random, size: int) -> Data:
    kinds = 3 + 2 * size
    sizes = random.sample(range(15, 60), kinds)
    demand = [random.randint(1, 2 + size) for _ in range(kinds)]
    return {
        "kinds": kinds,
        "bars": sum(-(-d // (100 // s)) for s, d in zip(sizes, demand, strict=True)),
        "length": 100,
        "size": sizes,
        "demand": demand,
    }


def patternmining(random: Random, size: int) -> Data:
    items, rows = 8 + 6 * size, 20 + 20 * size
    positive = [int(random.random() < 0.5) for _ in range(rows)]
    marks = random.sample(range(items), 3)
    return {
        "k": size,
        "items": items,
        "rows": rows,
        "has": [
            [int(random.random() < (0.85 if p and i in marks else 0.6)) for i in range(items)]
            for p in positive
        ],
        "positive": positive,
    }


def racks(random: Random, size: int) -> Data:
    cards = 2 + 2 * size
    return {
        "racks": 5 + 3 * size,
        "models": 2,
        "cards": cards,
        "power": "array1d(0..2, [0, 150, 200])",
        "connectors": "array1d(0..2, [0, 8, 16])",
        "price": "array1d(0..2, [0, 150, 200])",
        "needs": random.sample(range(15, 80, 5), cards),
        "demand": [random.randint(2, 6) for _ in range(cards)],
    }


def oncall(random: Random, size: int) -> Data:
    staff, days = 4 + 2 * size, 14 * size
    pairs = random.sample(list(combinations(range(1, staff + 1), 2)), size)
    return {
        "staff": staff,
        "days": days,
        "rest": 2,
        "fewest": days // staff - 1,
        "most": days // staff + 2,
        "weekends": 2 * size,
        "away": [set(random.sample(range(1, days + 1), 2 * size)) for _ in range(staff)],
        "dislike": table(staff, days, lambda: random.choice([0, 0, 0, 1, 3, 5])),
        **numbered("pairs", "apart", pairs),
    }


def busdrivers(random: Random, size: int) -> Data:
    """Shifts of pieces near in time, some of which cover all."""
    pieces, shifts = 16 + 14 * size, 40 + 80 * size
    covers, rest = [], set(range(1, pieces + 1))
    while rest:
        taken = set(sorted(rest)[:1]) | set(
            random.sample(sorted(rest)[:8], min(len(rest), random.randint(2, 4)))
        )
        covers.append(taken)
        rest -= taken
    while len(covers) < shifts:
        k = random.randint(1, max(1, pieces - 8))
        covers.append(set(random.sample(range(k, min(pieces, k + 8) + 1), random.randint(1, 4))))
    random.shuffle(covers)
    return {
        "pieces": pieces,
        "shifts": shifts,
        "covers": covers,
        "cost": [20 + 5 * len(c) + max(c) - min(c) + random.randint(0, 10) for c in covers],
    }


def carpet(random: Random, size: int) -> Data:
    n = 4 + 2 * size
    return {
        "rooms": n,
        "width": 12,
        "longest": 12 * n // 2,
        "stairs": 4 + size,
        "step": 1,
        "wide": 3,
        "parts": 1 + size,
        "w": [random.randint(2, 9) for _ in range(n)],
        "h": [random.randint(2, 9) for _ in range(n)],
    }


def celar(random: Random, size: int) -> Data:
    n, highest, duplex = 6 + 4 * size, 20 + 4 * size, 9
    sets = [
        {f for f in range(1, highest + 1) if f % 2 == k and not 5 < f % (highest // 2) < 8} for k in range(2)
    ] + [set(range(1, highest + 1))]
    drawn = [
        (a, b, random.choice([0, 1, 1, 2, 4])) for a, b in links(random, n, 0.3) if a % 2 == 0 or b - a > 1
    ]
    return {
        "n": n,
        "highest": highest,
        "duplex": duplex,
        "may": [random.choice(sets) if k % 2 else sets[2] for k in range(n)],
        **numbered("links", "link", drawn),
    }
