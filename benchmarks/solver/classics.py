"""Classic puzzles of constraint programming, compared with other solvers.

    taskset -c 1 python benchmarks/solver/classics.py [--peers] [--out benchmarks/results/classics.json]

Times are processor seconds, the least of several runs in one warm process: engines are compiled before, model
building is included, import is not. If a peer ships the problem as an example, that example is run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from classics_peers import PEERS
from environment import environment
from puzzles import golomb_model, queens_model

from constrint import Brancher, Model, all_different, global_cardinality, sum_

IN_ORDER = Brancher("input_order")


def queens(n: int) -> int:
    """The number of ways to place n queens."""
    return sum(1 for _ in queens_model(n).iter_solutions())


def golomb(n: int) -> int:
    """The length of the shortest ruler with n marks."""
    m, length = golomb_model(n)
    return m.solve(minimize=length, branching=IN_ORDER)[length]


def magic_square(n: int) -> int:
    """The sum of the first row of a magic square."""
    m = Model()
    s = m.int_vars("s", (n, n), 1, n * n)
    total = n * (n * n + 1) // 2
    m.add(all_different(s, consistency="value"))
    for i in range(n):
        m.add(s[i, :].sum() == total, s[:, i].sum() == total)
    m.add(sum_(s[i, i] for i in range(n)) == total, sum_(s[i, n - 1 - i] for i in range(n)) == total)
    found = m.solve()
    return sum(found[x] for x in s[0, :])


def send_more(base: int) -> int:
    """The value of MONEY in SEND + MORE = MONEY."""
    m = Model()
    s, e, n, d, o, r, y, one = (m.int_var(name, int(name in "SM"), base - 1) for name in "SENDORYM")
    m.add(all_different(s, e, n, d, o, r, y, one))
    money = 10000 * one + 1000 * o + 100 * n + 10 * e + y
    m.add(1000 * s + 100 * e + 10 * n + d + 1000 * one + 100 * o + 10 * r + e == money)
    return m.solve()[money]


def block_design(v: int) -> int:
    """The number of incidences in a (7, 3, 1) balanced incomplete block design."""
    m = Model()
    x = m.bool_vars("x", (v, v))
    for i in range(v):
        m.add(x[i, :].sum() == 3, x[:, i].sum() == 3)
        for h in range(i):
            m.add(sum_(x[i, j] * x[h, j] for j in range(v)) == 1)
    found = m.solve()
    return sum(found[one] for one in x.flat)


def magic_sequence(n: int) -> int:
    """The first entry of a sequence in which entry i is the number of times that i occurs."""
    m = Model()
    x = m.int_vars("x", n, 0, n - 1)
    m.add(global_cardinality(x, {i: x[i] for i in range(n)}))
    m.add(x.sum() == n, sum_(i * x[i] for i in range(n)) == n)
    return m.solve()[x[0]]


PROBLEMS: dict[str, tuple[Callable[[int], int], int, int, int]] = {
    "queens, all": (queens, 12, 14_200, 5),
    "golomb, shortest": (golomb, 9, 44, 7),
    "magic square": (magic_square, 4, 34, 30),
    "send more": (send_more, 10, 10_652, 30),
    "block design": (block_design, 7, 21, 30),
    "magic sequence": (magic_sequence, 100, 96, 30),
}
"""Function, size, expected answer, and number of runs."""


def least(solve: Callable[[int], int | None], size: int, answer: int, runs: int) -> float | None:
    """The least time of some runs, about 20 seconds in all; None if the peer has no model."""
    times: list[float] = []
    while len(times) < runs and sum(times) < 20:
        begun = process_time()
        found = solve(size)
        times.append(process_time() - begun)
        if found is None:
            return None
        assert found == answer, f"{solve}: {found}, not {answer}"
    return round(min(times), 6)


def main() -> None:
    """Time the requested rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", action="store_true", help="time the other solvers, too")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    Model().solve(engine="compiled")
    rows: dict[str, dict[str, float | None]] = {}
    for name, (solve, size, answer, runs) in PROBLEMS.items():
        rows[name] = {"constrint": least(solve, size, answer, runs)}
        for peer, functions in PEERS.items() if arguments.peers else ():
            if name in functions:
                functions[name](size)  # compiles, if the peer does that
                rows[name][peer] = least(functions[name], size, answer, runs)
        print(name, rows[name], flush=True)
    if arguments.out:
        head = environment("ortools", "python-constraint2", "pychoco", "NuCS", "llvmlite")
        arguments.out.write_text(json.dumps({"environment": head, "seconds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
