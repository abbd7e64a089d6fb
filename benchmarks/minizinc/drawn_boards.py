"""Data of puzzles on boards, drawn with a solution."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from random import Random

from drawn_data import Data, numbered, table

Cell = tuple[int, int]
SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))
AROUND = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]


def near(cell: Cell, cells: Iterable[Cell], steps: Iterable[Cell] = SIDES) -> list[Cell]:
    i, j = cell
    return [(i + a, j + b) for a, b in steps if (i + a, j + b) in cells]


def board(rows: int, columns: int) -> list[Cell]:
    return [(i, j) for i in range(rows) for j in range(columns)]


def shortest(cells: set[Cell], start: Cell, goal: Cell) -> list[Cell]:
    """A shortest path within cells, from the goal back to the start."""
    came, line = {start: start}, [start]
    for cell in line:
        for other in near(cell, cells):
            if other not in came:
                came[other] = cell
                line.append(other)
    path = [goal]
    while path[-1] != start:
        path.append(came[path[-1]])
    return path


def amaze(random: Random, size: int) -> Data:
    n, wanted = 4 + 2 * size, 3 + 2 * size
    free, ends = set(board(n, n)), []
    while len(ends) < wanted and free:
        walk = [random.choice(sorted(free))]
        for _ in range(3 * n):
            steps = near(walk[-1], free - set(walk))
            if not steps:
                break
            walk.append(random.choice(steps))
        path = shortest(set(walk), walk[0], walk[-1])
        if len(path) > 2:
            free -= set(path)
            ends.append([x + 1 for cell in (path[0], path[-1]) for x in cell])
        elif random.random() < 0.02:
            break
    return {"n": n, **numbered("pairs", "pair", ends)}


def battleships(random: Random, size: int) -> Data:
    n, fleet = (7, [3, 2, 2, 1, 1, 1]) if size == 1 else (11, [4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1])
    taken: dict[Cell, int] = {}
    blocked: set[Cell] = set()
    cells = set(board(n, n))
    for length in fleet:
        while True:
            (i, j), down = random.choice(sorted(cells)), random.random() < 0.5
            ship = [(i + k * down, j + k * (not down)) for k in range(length)]
            if all(cell in cells and cell not in blocked for cell in ship):
                break
        for k, cell in enumerate(ship):  # 1 single, 2 left, 3 right, 4 top, 5 bottom, 6 middle
            end = 2 * down + (2 if k == 0 else 3 if k == length - 1 else 0)
            taken[cell] = 1 if length == 1 else end if k in (0, length - 1) else 6
            blocked |= {cell, *near(cell, cells, AROUND)}
    hints = [(i + 1, j + 1, taken.get((i, j), 0)) for i, j in random.sample(sorted(cells), 2 * size + 1)]
    return {
        "n": n,
        "longest": max(fleet),
        "ships": [fleet.count(k + 1) for k in range(max(fleet))],
        "across": [sum((i, j) in taken for j in range(n)) for i in range(n)],
        "down": [sum((i, j) in taken for i in range(n)) for j in range(n)],
        **numbered("hints", "hint", hints),
    }


def runs(white: set[Cell], least: int = 2) -> list[list[Cell]]:
    """The cells of each run in rows and columns."""
    found = []
    for a, b in ((0, 1), (1, 0)):
        for i, j in sorted(white):
            if (i - a, j - b) not in white:
                run = [(i, j)]
                while (run[-1][0] + a, run[-1][1] + b) in white:
                    run.append((run[-1][0] + a, run[-1][1] + b))
                if len(run) >= least:
                    found.append(run)
    return found


def crossword(random: Random, size: int) -> Data:
    n, each = 4 + size, 40 + 60 * size
    often = map(int, "92342226711427821669312121")
    usual = random.choices(range(1, 27), list(often), k=400)
    white = {cell for cell in board(n, n) if random.random() > 0.2}
    slots = runs(white)
    white = {cell for run in slots for cell in run}
    letter = {cell: random.choice(usual) for cell in sorted(white)}
    number = {cell: k + 1 for k, cell in enumerate(sorted(white))}
    words = [[letter[cell] for cell in run] for run in slots]
    for length in sorted({len(run) for run in slots}):
        words += [random.choices(usual, k=length) for _ in range(each)]
    words = sorted({tuple(word) for word in words}, key=lambda word: (len(word), word))
    return {
        "cells": len(white),
        "longest": n,
        "slots": len(slots),
        "slot": [[number[cell] for cell in run] + [0] * (n - len(run)) for run in slots],
        "words": len(words),
        "word": [[*word, *[0] * (n - len(word))] for word in words],
        "score": [random.randint(1, 10) for _ in range(26)],
    }


def equals(count: dict[Cell, int]) -> dict[Cell, int]:
    """For each cell the size of its area of one number."""
    found: dict[Cell, int] = {}
    for cell in count:
        if cell not in found:
            line = [cell]
            for a in line:
                line += [b for b in near(a, count) if count[b] == count[a] and b not in line]
            found |= dict.fromkeys(line, len(line))
    return found


def fillomino(random: Random, size: int) -> Data:
    n, most = 3 + 2 * size, 6
    while True:
        count: dict[Cell, int] = {}
        while len(count) < n * n:
            region = [random.choice([cell for cell in board(n, n) if cell not in count])]
            for _ in range(random.randrange(most)):
                edge = {b for a in region for b in near(a, board(n, n)) if b not in count} - set(region)
                if edge:
                    region.append(random.choice(sorted(edge)))
            count |= dict.fromkeys(region, len(region))
        while (joined := equals(count)) != count:
            count = joined
        if max(count.values()) <= most + 2:
            break
    given = [[count[i, j] if random.random() < 0.45 else 0 for j in range(n)] for i in range(n)]
    return {"n": n, "most": max(count.values()), "given": given}


def kakuro(random: Random, size: int) -> Data:
    n = 7 * size
    while True:
        white = {cell for cell in board(n, n) if random.random() < 0.78}
        slots = runs(white)
        of: dict[Cell, list[int]] = {cell: [] for cell in white}
        for k, run in enumerate(slots):
            for cell in run:
                of[cell].append(k)
        used: list[set[int]] = [set() for _ in slots]
        digit = {}
        for cell in sorted(white):
            allowed = [d for d in range(1, 10) if all(d not in used[k] for k in of[cell])]
            if not allowed:
                break
            digit[cell] = random.choice(allowed)
            for k in of[cell]:
                used[k].add(digit[cell])
        if len(digit) == len(white):
            break
    cells = sorted(cell for cell in white if of[cell])
    number = {cell: k + 1 for k, cell in enumerate(cells)}
    return {
        "cells": len(cells),
        "runs": len(slots),
        "cell": [{number[cell] for cell in run} for run in slots],
        "total": [sum(digit[cell] for cell in run) for run in slots],
    }


def knights(random: Random, size: int) -> Data:
    rows, columns = random.choice([(5, 6), (6, 6)] if size == 1 else [(6, 8), (8, 8), (7, 8)])
    return {"rows": rows, "columns": columns}


def automaton(shape: list[Cell], rows: int, columns: int) -> list[list[int]]:
    """Steps for 0 and 1 along a board read by rows, each with a further column, where the shape may lie."""
    words = set()
    for turn in range(8):
        cells = [(j, i) if turn & 1 else (i, j) for i, j in shape]
        cells = [(i * (-1 if turn & 2 else 1), j * (-1 if turn & 4 else 1)) for i, j in cells]
        at = sorted((i - min(cells)[0]) * (columns + 1) + j for i, j in cells)
        height, width = (max(axis) - min(axis) + 1 for axis in zip(*cells, strict=True))
        if height <= rows and width <= columns:
            words.add("".join(str(int(at[0] + k in at)) for k in range(at[-1] - at[0] + 1)))
    names, line, steps = {frozenset(words): 1}, [frozenset(words)], []
    for state in line:
        row = []
        for symbol in "01":
            after = frozenset(word[1:] for word in state if word[:1] == symbol)
            if symbol == "0" and state in (line[0], {""}):  # nothing lies yet, or all does
                after = state
            if after and after not in names:
                names[after] = len(names) + 1
                line.append(after)
            row.append(names.get(after, 0))
        steps.append(row)
    return [[names[frozenset({""})], 0], *steps]


def pentominoes(random: Random, size: int) -> Data:
    rows, columns, wanted = (5, 5, 5) if size == 1 else (7, 7, 10)
    cells, shapes = set(board(rows, columns)), []
    while len(shapes) != wanted:
        free, shapes = set(cells), []
        while free:
            shape = [min(free)]
            for _ in range(4):
                edge = sorted({b for a in shape for b in near(a, free)} - set(shape))
                if edge:
                    shape.append(random.choice(edge))
            free -= set(shape)
            shapes.append(shape)
        if any(len(shape) < 3 for shape in shapes):
            shapes = []
    found = [automaton(shape, rows, columns) for shape in shapes]
    most = max(len(steps) - 1 for steps in found)
    return {
        "rows": rows,
        "columns": columns,
        "tiles": wanted,
        "most": most,
        "states": [len(steps) - 1 for steps in found],
        "last": [steps[0][0] for steps in found],
        "step": [steps[1:] + [[0, 0]] * (most + 1 - len(steps)) for steps in found],
    }


def tents(random: Random, size: int) -> Data:
    n = 8 + 7 * size
    cells = set(board(n, n))
    tent: list[Cell] = []
    tree: list[Cell] = []
    for cell in random.sample(sorted(cells), n * n):
        if cell not in tree and not near(cell, tent, AROUND):
            places = near(cell, cells - set(tree) - set(tent))
            if places and len(tent) < n * n // 5:
                tent.append(cell)
                tree.append(random.choice(places))
    return {
        "n": n,
        **numbered("trees", "tree", sorted([i + 1, j + 1] for i, j in tree)),
        "across": [sum(i == k for i, _ in tent) for k in range(n)],
        "down": [sum(j == k for _, j in tent) for k in range(n)],
    }


def is_simple(region: set[Cell], n: int) -> bool:
    """Whether a region's border is one loop that never touches itself."""
    outside = set(product(range(-1, n + 1), repeat=2)) - region
    line, seen = [(-1, -1)], {(-1, -1)}
    for cell in line:
        for other in near(cell, outside - seen):
            seen.add(other)
            line.append(other)
    corner = any(
        ((i, j) in region) == ((i + 1, j + 1) in region) != ((i + 1, j) in region) == ((i, j + 1) in region)
        for i, j in product(range(-1, n), repeat=2)
    )
    return seen == outside and not corner


def slitherlink(random: Random, size: int) -> Data:
    n = 1 + 4 * size
    cells = set(board(n, n))
    region = {random.choice(sorted(cells))}
    for _ in range(8 * n * n):
        if len(region) < 0.6 * n * n:
            cell = random.choice(sorted({b for a in region for b in near(a, cells)} - region))
            if is_simple(region | {cell}, n):
                region.add(cell)

    def clue(i: int, j: int) -> int:
        return sum(((i + a, j + b) in region) != ((i, j) in region) for a, b in SIDES)

    return {
        "n": n,
        "clue": [[clue(i, j) if random.random() < 0.6 else -1 for j in range(n)] for i in range(n)],
    }


def lightsout(random: Random, size: int) -> Data:
    n, colours = 5 + size, 2 + random.randint(0, 1)
    press = table(n, n, lambda: random.randrange(colours))
    lit = [
        [-(press[i][j] + sum(press[a][b] for a, b in near((i, j), board(n, n)))) % colours for j in range(n)]
        for i in range(n)
    ]
    return {"n": n, "colours": colours, "lit": lit}


def solitaire(random: Random, size: int) -> Data:
    """Pegs from jumps backwards, and one more: often not all but one can be taken."""
    n, pegs = 3 + size, 4 + 2 * size
    cells = set(board(n, n))
    full = {random.choice(sorted(cells))}
    for _ in range(200):
        (i, j), (a, b) = random.choice(sorted(full)), random.choice(SIDES)
        one, two = (i + a, j + b), (i + 2 * a, j + 2 * b)
        if len(full) < pegs and two in cells and not {one, two} & full:
            full = full - {(i, j)} | {one, two}
    full.add(random.choice(sorted(cells - full)))
    return {"n": n, "full": [[int((i, j) in full) for j in range(n)] for i in range(n)]}


def magicsquare(random: Random, size: int) -> Data:
    n, shown = (4, 1) if size == 1 else (7, 9)
    if n == 4:
        square = [[16, 3, 2, 13], [5, 10, 11, 8], [9, 6, 7, 12], [4, 15, 14, 1]]
    else:
        square = [
            [n * ((i + j + 1 + n // 2) % n) + (i + 2 * j + 1) % n + 1 for j in range(n)] for i in range(n)
        ]
    for _ in range(random.randrange(4)):
        square = [list(row) for row in zip(*square[::-1], strict=True)]
    if random.random() < 0.5:
        square = [[n * n + 1 - x for x in row] for row in square]
    given = set(random.sample(board(n, n), shown))
    return {"n": n, "given": [[square[i][j] * ((i, j) in given) for j in range(n)] for i in range(n)]}


def armies(random: Random, size: int) -> Data:
    n = 4 + size
    return {"n": n, "hole": table(n, n, lambda: int(random.random() < 0.12))}


def corners(random: Random, size: int) -> Data:
    rows, columns = 2 + 3 * size, 2 + 3 * size + random.randint(0, 1)
    fixed = [(*cell, random.randint(1, 2)) for cell in random.sample(board(rows, columns), 4)]
    return {
        "rows": rows,
        "columns": columns,
        "most": 4,
        **numbered("fixed", "fix", [(i + 1, j + 1, c) for i, j, c in fixed]),
    }


def rectangles(random: Random, size: int) -> Data:
    n = 4 + 2 * size
    sides = table(n, 2, lambda: random.randint(2, 9))
    return {"n": n, "side": sides, "most": sum(map(max, sides))}
