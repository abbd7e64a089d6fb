"""Building models: processor time and memory for variables and rows, beside OR-Tools' CP-SAT in Python.

    python benchmarks/solver/building.py [--most 1000000] [--runs 3] [--out benchmarks/results/building.json]

Each size, form and package has a process of its own; the packages take turns, so that other work on the
machine disturbs them alike. The least processor time of the runs counts, with Python's garbage collector on,
as users have it. Memory is the growth of the process from before the first variable to its peak.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

MAKE = {
    "constrint": """
from constrint import Model
m = Model()
def variables(n): return [m.int_var(f"x{i}", 0, 9) for i in range(n)]
def booleans(n): return [m.bool_var(f"b{i}") for i in range(n)]
add = m.add
def implied(b, c): add(b.implies(c))
""",
    "ortools": """
from ortools.sat.python import cp_model
m = cp_model.CpModel()
def variables(n): return [m.new_int_var(0, 9, f"x{i}") for i in range(n)]
def booleans(n): return [m.new_bool_var(f"b{i}") for i in range(n)]
add = m.add
def implied(b, c): m.add(c).only_enforce_if(b)
def add(c): m.add(c)
""",
}
FORMS = {
    "variables": "x = variables(n)",
    "two terms": "x = variables(n)\nfor i in range(n): add(x[i] + 2 * x[i - 1] <= 12)",
    "equations": "x = variables(n)\nfor i in range(n): add(x[i] - x[i - 1] + x[i - 2] == 3)",
    "ten terms": "x = variables(n)\nfor i in range(0, n, 10): add(sum(x[i : i + 10]) <= 40)",
    "implications": "x, b = variables(n), booleans(n)\nfor i in range(n): implied(b[i], x[i] >= 3)",
    "one sum": "x = variables(n)\nadd(sum(x) <= 3 * n)",
}
PROGRAM = """
import json, resource, time
{make}
def used(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
n = {size}
before, started = used(), time.process_time()
{form}
print(json.dumps([time.process_time() - started, (used() - before) / 1024]))
"""


def measured(package: str, form: str, size: int) -> tuple[float, float]:
    """Seconds of processor time and MiB."""
    program = PROGRAM.format(make=MAKE[package], size=size, form=FORMS[form])
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    seconds, memory = json.loads(answer.stdout)
    return seconds, memory


def main() -> None:
    """Measure all sizes and forms, print a table and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    print(f"{'form':14} {'size':>9} {'constrint':>22} {'ortools':>22}  time  memory")
    for form in FORMS:
        size = 1000
        while size <= given.most:
            found: dict[str, list[tuple[float, float]]] = {package: [] for package in MAKE}
            for _ in range(given.runs if size < 1_000_000 else 1):
                for package, runs in found.items():
                    runs.append(measured(package, form, size))
            row: dict[str, object] = {"form": form, "size": size}
            best = {
                package: (min(s for s, _ in runs), min(m for _, m in runs)) for package, runs in found.items()
            }
            for package, (seconds, memory) in best.items():
                row[package] = {"seconds": round(seconds, 4), "mib": round(memory, 1)}
            ratios = [best["constrint"][i] / max(best["ortools"][i], 1e-9) for i in (0, 1)]
            row |= {"time ratio": round(ratios[0], 3), "memory ratio": round(ratios[1], 3)}
            rows.append(row)
            cells = [f"{seconds:9.3f} s {memory:7.1f} MiB" for seconds, memory in best.values()]
            print(
                f"{form:14} {size:9,} {cells[0]:>22} {cells[1]:>22} {ratios[0]:5.2f} {ratios[1]:7.2f}",
                flush=True,
            )
            size *= 10
    if given.out is not None:
        report = {"environment": environment("ortools"), "rows": rows}
        given.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
