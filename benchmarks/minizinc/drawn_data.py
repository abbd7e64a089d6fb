"""What drawn data are made of: tables, distances, arcs, links."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from random import Random
from typing import Any

Data = dict[str, Any]


def table(rows: int, columns: int, draw: Callable[[], int]) -> list[list[int]]:
    return [[draw() for _ in range(columns)] for _ in range(rows)]


def distances(random: Random, n: int, side: int = 100) -> list[list[int]]:
    points = [(random.randint(0, side), random.randint(0, side)) for _ in range(n)]
    return [[round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in points] for a, b in points]


def arcs(random: Random, n: int, reach: int, density: float) -> list[list[int]]:
    return [
        [i, j]
        for i in range(1, n + 1)
        for j in range(i + 1, min(n, i + reach) + 1)
        if random.random() < density
    ]


def links(random: Random, n: int, density: float) -> list[tuple[int, int]]:
    return [pair for pair in combinations(range(1, n + 1), 2) if random.random() < density]


def numbered(count: str, name: str, rows: list[Any]) -> Data:
    return {count: len(rows), name: [list(row) for row in rows]}


def text(data: Data) -> str:
    """The data as MiniZinc reads it."""
    return "".join(f"{name} = {_written(value)};\n" for name, value in data.items())


def _written(value: Any) -> str:
    if isinstance(value, set):
        return "{" + ", ".join(map(str, sorted(value))) + "}"
    if not isinstance(value, list):
        return str(value)
    sizes, flat = [], value
    while True:
        sizes.append(len(flat) if not sizes else len(flat) // sizes[-1] if False else len(flat))
        if not flat or not isinstance(flat[0], list):
            break
        flat = [one for part in flat for one in part]
    lengths = [sizes[0], *[b // max(1, a) for a, b in pairwise(sizes)]]
    listed = "[" + ", ".join(_written(one) for one in flat) + "]"
    if len(lengths) == 1:
        return listed
    return f"array{len(lengths)}d({', '.join(f'1..{k}' for k in lengths)}, {listed})"
