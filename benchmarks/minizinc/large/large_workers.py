"""Instances of real size by one worker and by two: proofs, primal integral by the clock, memory.

    python benchmarks/minizinc/large/large_workers.py [--limit 20] [--size 2] [--only NAME …] [--seconds 900]
        [--out benchmarks/results/minizinc_large_workers.json]

Each instance is solved by constrint's FlatZinc command with `-p 1` and `-p 2`, one after the other, with the
same limit by the clock. The primal integral is that of the gap to the better of both objectives, as in
`large_run.py`; "processor" are both threads' seconds, and memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from environment import environment
from families import CONSTRINT, named_objective
from large_kinds import KINDS
from large_run import flattened, integral, measured

ENDS = ("optimal", "infeasible")


def row_of(name: str, size: int, limit: float) -> dict[str, Any]:
    """An instance by one worker and by two."""
    row: dict[str, Any] = {"kind": name, "size": size}
    with tempfile.TemporaryDirectory() as folder:
        file = flattened(name, size, "constrint", Path(folder))
        if isinstance(file, str):
            return {**row, "error": file}
        named_objective(file)
        flat = file.read_text(encoding="utf-8")
        goal = flat.rsplit("solve", 1)[-1]
        row["constraints"] = flat.count("\nconstraint ")
        options = ["-t", str(round(1000 * limit)), *([] if "satisfy" in goal else ["-a"])]
        for workers in ("1", "2"):
            command = [*CONSTRINT, *options, "-p", workers, str(file)]
            row[workers] = measured(command, limit, by_clock=True)
    answers = [row["1"], row["2"]]
    values = [value for a in answers for _, value in a["path"] if value is not None]
    best = (max(values) if "maximize" in goal else min(values)) if values else None
    for a in answers:
        a["solved"] = a["status"] in (*ENDS, *(("feasible",) if "satisfy" in goal else ()))
        a["integral"] = integral(a["path"], best, limit)
        a["objective"] = a["path"][-1][1] if a["path"] else None
        del a["path"]
    return row


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Of all rows, and the ratio of times where both prove."""
    measured_rows = [row for row in rows if "1" in row]
    both = [row for row in measured_rows if row["1"]["solved"] and row["2"]["solved"]]
    ratios = [row["2"]["seconds"] / row["1"]["seconds"] for row in both]
    return {
        "instances": len(measured_rows),
        **{
            f"by {w}": {
                "solved": sum(row[w]["solved"] for row in measured_rows),
                "integral": round(sum(row[w]["integral"] for row in measured_rows) / len(measured_rows), 4),
                "megabytes": max(row[w]["megabytes"] for row in measured_rows),
            }
            for w in ("1", "2")
        },
        "time of two over one": round(math.exp(sum(map(math.log, ratios)) / len(ratios)), 3)
        if ratios
        else None,
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=list(KINDS), choices=list(KINDS), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no instance after these")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    began, rows = monotonic(), []
    for name in options.only:
        if monotonic() - began > options.seconds:
            break
        row = row_of(name, options.size, options.limit)
        rows.append(row)
        print(json.dumps(row), flush=True)
        if options.out:
            found = {**environment(), "limit": options.limit, "summary": summary(rows), "rows": rows}
            options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary(rows)))


if __name__ == "__main__":
    main()
