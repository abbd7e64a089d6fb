"""Search spaces of tuners: build, count, sample and list, beside the packages that tuners use.

    python benchmarks/spaces/spaces.py [--peers] [--out FILE.json] [NAME …]
    python benchmarks/spaces/spaces.py --show FILE.json

Everything is measured in a child process of its own, with a limit of time (--limit, for Kernel Tuner;
--peer-limit, for the others) and of memory (--memory); what exceeds one is recorded so. `seconds` is the
least of several runs in a warm process without imports, where one takes less than WARM seconds, and of one
run where it takes more; `process` is a whole cold process, and `peak_mb` its greatest memory. Both are the
processor's time, as other work on the machine would be measured too: everything here is one thread.
`process_wall` is what a clock says. A set is compared by its size and by an order-free digest of its tuples.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment
from report import show

HERE = Path(__file__).parent
DATA = HERE / "data"
WARM = 2.0
RUNS = 9
OWN = ("build", "sample_1000", "list")
PEERS = ("kernel_tuner", "kernel_tuner_bridged", "python_constraint2", "pyatf", "ortools")
QUICK = ("python_constraint2", "pyatf", "ortools")  # that have the shorter limit
PACKAGES = ("numpy", "kernel-tuner", "python-constraint2", "pyatf", "ortools")

Row = dict[str, Any]


def child(kind: str, name: str, runs: int, gigabytes: float) -> None:
    """Measure one thing in this process, and print it as JSON."""
    limit = int(gigabytes * (1 << 30))
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8")) if name != "-" else {}
    try:
        row = measured(kind, data, runs)
    except MemoryError:
        row = {"beyond": f"{gigabytes:g} GB"}
    except NotImplementedError as problem:
        row = {"left_out": str(problem)}
    print(json.dumps(row))


def measured(kind: str, data: Row, runs: int) -> Row:
    from ours import OURS
    from peers import PEERS as functions
    from peers import digest

    times = []
    answer: Row = {}
    for _ in range(runs):
        answer.clear()
        gc.collect()
        seconds, answer = (OURS | functions)[kind](data)
        times.append(seconds)
    row: Row = {"seconds": round(min(times), 6), "runs": runs}
    row["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    listed = answer.pop("list", None)
    row.update(answer)
    if listed is not None and runs == 1:
        row["digest"] = digest(listed)
    return row


def run(kind: str, name: str, arguments: argparse.Namespace) -> Row:
    """A cold process; then, where that was quick, a warm one for the seconds."""
    row = once(kind, name, 1, arguments)
    if row.get("seconds", WARM) < WARM:
        warm = once(kind, name, RUNS, arguments)
        if "seconds" in warm:
            row.update(seconds=warm["seconds"], runs=RUNS)
    return row


def once(kind: str, name: str, runs: int, arguments: argparse.Namespace) -> Row:
    command = [sys.executable, __file__, "--child", kind, name, "--runs", str(runs)]
    command += ["--memory", str(arguments.memory)]
    limit = arguments.peer_limit if kind in QUICK else arguments.limit
    begun, spent = perf_counter(), children()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"beyond": f"{limit:g} s"}
    wall, spent = perf_counter() - begun, children() - spent
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = (done.stderr.splitlines() or ["no word"])[-1]
        return {"beyond": f"{arguments.memory:g} GB"} if "MemoryError" in last else {"failed": last[:200]}
    row: Row = json.loads(lines[-1])
    return (
        row if "seconds" not in row else {**row, "process": round(spent, 3), "process_wall": round(wall, 3)}
    )


def children() -> float:
    """Seconds that the processor spent on processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_space(path: Path) -> float:
    """A whole process that counts a space, as on a fresh machine: constrint's modules not compiled yet."""
    package = Path(sys.modules["constrint"].__file__ or "").parent
    code = f"from constrint.tuning.spaces import from_json; print(from_json({str(path)!r}).size)"
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "constrint"
        shutil.copytree(package, fresh, ignore=shutil.ignore_patterns("__pycache__"))
        variables = {**os.environ, "PYTHONPATH": folder, "XDG_CACHE_HOME": folder}
        begun = children()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=variables)
        return round(children() - begun, 3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--peers", action="store_true", help="measure the other packages too")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each process")
    parser.add_argument("--peer-limit", type=float, default=60, help="the same, for other packages")
    parser.add_argument("--memory", type=float, default=10, help="gigabytes for each process")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=Path, help="print the tables of a results file")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=RUNS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child, arguments.runs, arguments.memory)
        return
    if arguments.show:
        show(json.loads(arguments.show.read_text(encoding="utf-8")))
        return
    import constrint  # noqa: F401 - its folder is copied for the fresh process

    spaces: dict[str, Row] = {}
    limits = {"seconds": arguments.limit, "peers": arguments.peer_limit, "gigabytes": arguments.memory}
    report: Row = {**environment(*PACKAGES), "limits": limits}
    for path in sorted(DATA.glob("*.json")):
        if arguments.names and path.stem not in arguments.names:
            continue
        data = json.loads(path.read_text(encoding="utf-8"))
        spaces[path.stem] = row = {"valid": data["valid"], "first_process": first_space(path)}
        for kind in (*OWN, *(PEERS if arguments.peers else ())):
            row[kind] = run(kind, path.stem, arguments)
            print(path.stem, kind, row[kind], flush=True)
        own = row["build"]["valid"]
        assert own == data["valid"], f"{path.stem}: {own} instead of {data['valid']} configurations"
    report |= {"spaces": spaces, "huge": run("huge", "-", arguments)}
    show(report)
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
