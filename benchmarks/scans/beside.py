"""Scans' kernels of another folder beside this checkout's, on this machine's GPU: times in turns, registers.

    git worktree add /tmp/before COMMIT
    python benchmarks/scans/beside.py --other /tmp/before/kernels --out beside.json [--cells diag_gru linear]

Both kernels have the tiling that the solver chooses for each. A time is the median of launches into a cleared
L2, measured in turns; a row's times are the medians of its rounds.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from diagonal import SHAPES, Bench
from runs import Job, copy_rate, facts, made_all, parser, write

from kerneltune.inputs.scan_problem import ScanProblem

CELLS = ("diag_gru", "diag_lstm", "diag_slstm", "linear")
ROUNDS = 3


def jobs(cells: list[str], gpu: str, roots: tuple[Path, None]) -> list[Job]:
    """Each request twice: with the other folder's kernels, and with this checkout's."""
    found = []
    for cell in cells:
        for shape in SHAPES:
            for direction in ("forward", "training", "backward"):
                if cell == "linear" and direction == "training":
                    continue
                for dtype in ("bf16", "fp32") if shape == SHAPES[1] else ("bf16",):
                    problem = ScanProblem(cell, *shape, dtype, direction)
                    found += [Job(problem, gpu, root=root) for root in roots]
    return found


def main() -> None:
    """Make, measure in turns, write."""
    made = parser(__doc__, workers=16)
    made.add_argument("--other", type=Path, required=True, help="the other folder of kernels")
    made.add_argument("--cells", nargs="+", default=list(CELLS))
    arguments = made.parse_args()
    pairs: dict[ScanProblem, list[Any]] = {}
    for job, kernel in made_all(
        jobs(arguments.cells, arguments.gpu, (arguments.other, None)), arguments.workers
    ):
        pairs.setdefault(job.problem, []).append((job, kernel))
    rate, rows = copy_rate(), []
    training: Bench | None = None
    for problem, pair in pairs.items():
        if len(pair) < 2:
            continue
        bench = Bench(problem, 0.5, training)
        times: list[list[float]] = [[], []]
        for _ in range(ROUNDS):
            for place, (_, kernel) in enumerate(pair):
                times[place].append(bench.run(kernel)["milliseconds"])
        training = bench if problem.direction == "training" else training
        other, own = map(statistics.median, times)
        about = [facts(job, kernel) for job, kernel in pair]
        registers, strategies = ([one[name] for one in about] for name in ("registers", "strategy"))
        error = bench.errors() if problem.steps <= 2048 else None
        row = {"problem": problem.label, "other": other, "own": own, "ratio": own / other, "error": error}
        rows.append({**row, "registers": registers, "strategies": strategies})
        times_said = f"{other:.4f} {own:.4f} = {own / other:.3f}"
        print(f"{problem.label:50} {registers} {times_said} {strategies} {error}", flush=True)
        write(arguments.out, rate, rows)


if __name__ == "__main__":
    main()
