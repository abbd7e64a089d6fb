"""Two states of the tree beside each other: the rows of classics, arithmetic and spaces, in turns.

    python benchmarks/solver/pairs.py /path/of/the/other/tree [--only "send,first"] [--rounds 11] [--out FILE]

Each tree answers in a process of its own with its compiled engine loaded, so other work on the machine
disturbs both alike. A batch of runs takes about 0.12 seconds of the processor. "ratio" is the median of the
rounds' ratios, this tree by the other.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BATCH = 0.12
LEFT_OUT = ("c2",)  # of the arithmetic models: it takes seconds


def rows() -> dict[str, Callable[[], Any]]:
    """The rows, by the tree that is on the path."""
    import arithmetic
    import classics
    import ours

    found: dict[str, Callable[[], Any]] = {}
    for name, (solve, size, _, _) in classics.PROBLEMS.items():
        found[f"classics: {name}"] = lambda solve=solve, size=size: solve(size)
    for name, (build, _) in arithmetic.MODELS.items():
        if name not in LEFT_OUT:
            found[f"arithmetic: {name}, first"] = lambda build=build: build().solve()
            found[f"arithmetic: {name}, count"] = lambda build=build: build().count()
            found[f"arithmetic: {name}, all"] = lambda build=build: build().solutions().to_numpy()
    for path in sorted((ROOT / "benchmarks" / "spaces" / "data").glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        found[f"spaces: {path.stem}"] = lambda data=data: ours.build(data)
    return found


def serve() -> None:
    """Answer each line, a row and a number of runs, with the seconds of a run."""
    from constrint import Model

    Model().solve(engine="compiled")
    known = rows()
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        name, times = line.rstrip("\n").rsplit("\t", 1)
        begun = process_time()
        for _ in range(int(times)):
            known[name]()
        print((process_time() - begun) / int(times), flush=True)


class Tree:
    """A process that runs the rows of one tree."""

    def __init__(self, root: Path) -> None:
        folders = [root, root / "benchmarks", root / "benchmarks" / "solver", root / "benchmarks" / "spaces"]
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONSAFEPATH": "1"},
        )
        self.rows: list[str] = json.loads(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def seconds(self, row: str, times: int) -> float:
        """Processor seconds of a run of a row."""
        assert self._process.stdin is not None
        print(f"{row}\t{times}", file=self._process.stdin, flush=True)
        return float(self._read())


def compared(row: str, this: Tree, other: Tree, rounds: int) -> dict[str, float]:
    """The least times of a row in both trees, and the median of their ratios."""
    once = max(other.seconds(row, 2), this.seconds(row, 2))
    times = max(1, round(BATCH / max(once, 1e-6)))
    own, others = [], []
    for number in range(rounds if once < 0.3 else 3):
        for tree, found in ((this, own), (other, others))[:: 1 if number % 2 else -1]:
            found.append(tree.seconds(row, times))
    ratios = [a / b for a, b in zip(own, others, strict=True)]
    return {"this": round(min(own), 7), "other": round(min(others), 7), "ratio": round(median(ratios), 3)}


def main() -> None:
    """Compare the rows that both trees have."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, nargs="?", help="the other tree")
    parser.add_argument("--only", default="", help="parts of the rows' names, with commas between them")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    if options.other is None:
        parser.error("give the other tree")
    other, this = Tree(options.other.resolve()), Tree(ROOT)
    found: dict[str, dict[str, float]] = {}
    for row in this.rows:
        if row in other.rows and any(part in row for part in options.only.split(",")):
            found[row] = compared(row, this, other, options.rounds)
            print(row, found[row], flush=True)
    if options.out:
        sys.path.insert(0, str(ROOT / "benchmarks"))
        from environment import environment

        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            capture_output=True,
            text=True,
            cwd=options.other,
            check=False,
        ).stdout.strip()
        report = {"environment": environment("numpy", "llvmlite", "highspy"), "other": commit, "rows": found}
        options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
