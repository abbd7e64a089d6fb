"""Data of puzzles with numbers, of plans and of layouts."""

from __future__ import annotations

from itertools import combinations
from random import Random

from drawn_data import Data, distances, numbered, table


def alpha(random: Random, size: int) -> Data:
    letters, words, longest = 14 + 6 * size, 10 + 5 * size, 8
    value = random.sample(range(1, letters + 1), letters)
    drawn = [random.choices(range(letters), k=random.randint(3, longest)) for _ in range(words)]
    return {
        "letters": letters,
        "longest": longest,
        "words": words,
        "word": [[x + 1 for x in word] + [0] * (longest - len(word)) for word in drawn],
        "total": [sum(value[x] for x in word) for word in drawn],
    }


def debruijn(random: Random, size: int) -> Data:
    """A sequence by a random walk that goes on where it is stuck (Hierholzer)."""
    base, n = random.choice([(2, 5), (3, 3)] if size == 1 else [(2, 7), (3, 4), (5, 3)])
    states = base ** (n - 1)
    left = {s: random.sample(range(base), base) for s in range(states)}
    stack, tour = [0], []
    while stack:
        if left[stack[-1]]:
            stack.append((stack[-1] * base + left[stack[-1]].pop()) % states)
        else:
            tour.append(stack.pop())
    digits = [s % base for s in tour[::-1]][1:]
    shift = next(k for k in range(len(digits)) if not any((digits * 2)[k : k + n]))
    digits = digits[shift:] + digits[:shift]
    given = [d if k < n or random.random() < 0.08 else -1 for k, d in enumerate(digits)]
    return {"base": base, "n": n, "given": given}


def langford(random: Random, size: int) -> Data:
    small, large = [(2, 7), (2, 8), (2, 6), (3, 9)], [(2, 9), (3, 17), (2, 20), (2, 28)]
    k, n = random.choice(small if size == 1 else large)
    return {"k": k, "n": n}


WAERDEN = {(3, 5): 22, (3, 6): 32, (3, 7): 46, (4, 4): 35, (3, 3, 3): 27, (2, 3, 5): 32, (2, 4, 4): 40}


def waerden(random: Random, size: int) -> Data:
    small, large = [(3, 5), (3, 6), (2, 3, 5)], [(3, 7), (4, 4), (3, 3, 3), (2, 4, 4)]
    lengths = random.choice(small if size == 1 else large)
    return {"n": WAERDEN[lengths] - random.randint(0, 1), "colours": len(lengths), "length": list(lengths)}


def ramsey(random: Random, size: int) -> Data:
    n, colours = random.choice([(7, 2), (8, 2)] if size == 1 else [(9, 2), (11, 3)])
    pairs = random.sample(list(combinations(range(1, n + 1), 2)), n)
    fixed = [(i, j, random.randint(1, colours)) for i, j in pairs]
    return {"n": n, "colours": colours, **numbered("fixed", "fix", fixed)}


def sportsleague(random: Random, size: int) -> Data:
    n = 6 + 2 * size
    return {"n": n, "first": random.sample(range(1, n + 1), n)}


def blocksworld(random: Random, size: int) -> Data:
    n = 3 + 2 * size

    def towers() -> list[int]:
        order, on, below = random.sample(range(1, n + 1), n), [0] * n, 0
        for k, block in enumerate(order):
            on[block - 1] = below
            below = 0 if k and random.random() < 0.25 else block
        return on

    return {"n": n, "steps": 2 * n, "places": 3, "start": towers(), "goal": towers()}


def cyclichoist(random: Random, size: int) -> Data:
    tanks = 5 + 2 * size
    far = distances(random, tanks + 1, 6)
    move = [far[i][(i + 1) % (tanks + 1)] + 4 for i in range(tanks + 1)]
    least = [random.randint(10, 60) for _ in range(tanks)]
    return {
        "tanks": tanks,
        "least": least,
        "most": [x + random.randint(10, 80) for x in least],
        "loaded": move,
        "unloaded": far,
    }


def vessel(random: Random, size: int) -> Data:
    n, classes = 4 + 2 * size, 3
    apart = table(classes, classes, lambda: random.choice([0, 0, 1, 2]))
    return {
        "n": n,
        "width": 8 + 2 * size,
        "side": table(n, 2, lambda: random.randint(1, 6)),
        "classes": classes,
        "class": [random.randint(1, classes) for _ in range(n)],
        "apart": [[max(apart[a][b], apart[b][a]) for b in range(classes)] for a in range(classes)],
    }


def pizza(random: Random, size: int) -> Data:
    pizzas, vouchers = 4 + 4 * size, 2 + size
    return {
        "pizzas": pizzas,
        "price": [random.randint(5, 60) for _ in range(pizzas)],
        "vouchers": vouchers,
        "buy": [random.randint(1, 2) for _ in range(vouchers)],
        "free": [random.randint(1, 2) for _ in range(vouchers)],
    }


def counters(random: Random, size: int) -> Data:
    flights, airlines = 6 + 7 * size, 2 + size
    opens = [random.randint(1, 20) for _ in range(flights)]
    return {
        "flights": flights,
        "airlines": airlines,
        "opens": opens,
        "lasts": [random.randint(3, 8) for _ in range(flights)],
        "needs": [random.randint(1, 4) for _ in range(flights)],
        "airline": [random.randint(1, airlines) for _ in range(flights)],
    }


def network(random: Random, size: int) -> Data:
    """Trees of bounded depth: places with a root, distances, and which of them are to be reached."""
    n = 4 + 6 * size
    far = distances(random, n)
    return {
        "n": n,
        "deepest": 2 + size,
        "far": far,
        "wanted": [1, *[int(random.random() < 0.6) for _ in range(n - 1)]],
    }
