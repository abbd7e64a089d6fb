"""Measurements of constrint: building, sampling, listing, and a space too large to list."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

from constrint import Model
from constrint.tuning.spaces import from_json

Timed = tuple[float, dict[str, Any]]
MOST_LISTED = 20_000_000  # larger spaces are listed in chunks


def build(data: dict[str, Any]) -> Timed:
    """Build the space and count its configurations."""
    begun = process_time()
    space = from_json(data)
    size = space.size
    return process_time() - begun, {"valid": size, "edges": space.edges, "width": space.width}


def sample(data: dict[str, Any]) -> Timed:
    """Draw 1,000 uniform samples as dicts; building is not included."""
    space = from_json(data)
    begun = process_time()
    drawn = space.sample(1000, seed=1)
    return process_time() - begun, {"samples": len(drawn)}


def listing(data: dict[str, Any]) -> Timed:
    """Build and list: one array, or chunks of a million rows if that would take gigabytes."""
    begun = process_time()
    space = from_json(data)
    rows = len(space.to_numpy()) if space.size <= MOST_LISTED else sum(map(len, space.iter_chunks(1 << 20)))
    seconds = process_time() - begun
    return seconds, {"valid": rows, "in_chunks": space.size > MOST_LISTED}


def pipeline() -> Model:
    """Eight tiled stages that share a budget of shared memory, each feeding the next: over 1e15 solutions."""
    m = Model("pipeline")
    rooms = []
    before = None
    for i in range(8):
        x, y = m.int_var(f"x{i}", 1, 32), m.int_var(f"y{i}", 1, 32)
        unroll = m.int_var(f"u{i}", values=[1, 2, 4, 8])
        m.add(x * y <= 256, y % unroll == 0, (x * y) % 4 == 0)
        if before is not None:
            m.add(before % x == 0)
        before = x * y
        rooms.append(x * y * m.int_var(f"stages{i}", 1, 3))
    m.add(sum(rooms) <= 1000)
    return m


def huge(data: dict[str, Any]) -> Timed:
    """Size, one solution by number, 1,000 samples and an optimum of the pipeline."""
    begun = process_time()
    m = pipeline()
    times = {}
    solutions = m.solutions()
    times["build"] = process_time() - begun
    parts: dict[str, Callable[[], Any]] = {
        "number": lambda: solutions[10**12],
        "sample_1000": lambda: solutions.sample(1000, seed=1),
        "maximum": lambda: solutions.maximum({f"x{i}": 3 for i in range(8)} | {f"y{i}": 1 for i in range(8)}),
    }
    for name, part in parts.items():
        started = process_time()
        answer = part()
        times[name] = process_time() - started
        if name == "number":
            assert solutions.index(answer) == 10**12
    seconds = process_time() - begun
    rounded = {name: round(value, 4) for name, value in times.items()}
    return seconds, {"valid": str(solutions.size), "edges": solutions.edges, "parts": rounded}


OURS: dict[str, Callable[[dict[str, Any]], Timed]] = {
    "build": build,
    "sample_1000": sample,
    "list": listing,
    "huge": huge,
}
