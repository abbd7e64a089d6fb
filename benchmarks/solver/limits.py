"""How well time limits hold: models of many kinds, by many entry points, in a process each.

    python benchmarks/solver/limits.py [--limits 0.5,2] [--only set_cover,squares] [--entries best,count]
        [--drawn 20] [--seed 1] [--out benchmarks/results/limits.json] [--resume] [--seconds 560]

Reports what a call takes beyond its limit, without building the model and importing the package; the worst
first. A call that ends before its limit is not late. Calls are made in a drawn order. With a second limit, a
call that took less than half of the first one is not made again. Each row is written as it is measured, so
that a run with --resume goes on where one was ended, or ended itself after --seconds.

A row says what the clock says beyond the limit (`late`), how much of that the process computed (`worked`),
and what it was at 0.15 s after the limit (`where`). On a machine with other work, the smaller of the first
two is what the limit missed; a call that waits for other processes shows in `late` alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

PATIENCE = 30.0  # seconds beyond the limit after which a process is ended
GRACE = 0.15  # seconds beyond the limit after which a process says where it is
WAITING = {"workers", "list-workers", "count-workers"}  # other processes compute
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def one(name: str, entry: str, limit: float) -> dict[str, object]:
    """A row: run in this process, which says on standard error when the call begins."""
    from limits_entries import ENTRIES
    from limits_models import MODELS, drawn

    model, goal = drawn(int(name.split("_")[1])) if name.startswith("drawn") else MODELS[name]()
    began = float("inf")
    where: list[str] = []

    def begun() -> None:
        nonlocal began
        print("began", file=sys.stderr, flush=True)
        where.clear()
        began = perf_counter()

    def watch() -> None:
        while True:
            sleep(0.02)
            if not where and perf_counter() > began + limit + GRACE:
                where.append(_where())

    threading.Thread(target=watch, daemon=True).start()
    begun()
    answer = ENTRIES[entry](model, goal, limit, begun)
    clock = perf_counter() - began
    used = sum(os.times()[:2])
    late_at = where[0] if where and clock > limit + GRACE else ""
    return {"answer": answer, "clock": round(clock, 3), "used": used, "where": late_at}


def _where() -> str:
    """The innermost calls of the main thread, those of the package first."""
    frame = sys._current_frames()[threading.main_thread().ident or 0]
    calls = [(Path(file), line, name) for file, line, name, _ in traceback.extract_stack(frame)[::-1]]
    own = [f"{file.name}:{line} {name}" for file, line, name in calls if "constrint" in file.parts]
    return " < ".join(own[:4]) or " < ".join(f"{file.name} {name}" for file, _, name in calls[:3])


class _Witness(threading.Thread):
    """Notes what a process has computed at its deadline."""

    def __init__(self, process: subprocess.Popen[str], limit: float) -> None:
        super().__init__(daemon=True)
        self._process = process
        self._limit = limit
        self._ends = float("inf")
        self.used: float | None = None
        self.said: list[str] = []

    def run(self) -> None:
        """Read what the process says; look at its time at the deadline."""
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()
        while self._process.poll() is None:
            if self.used is None and monotonic() >= self._ends:
                self.used = _used(self._process.pid)
            sleep(0.005)
        reader.join()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if line == "began\n":
                self._ends, self.used = monotonic() + self._limit, None
            else:
                self.said.append(line)


def _used(pid: int) -> float | None:
    """Seconds that a process has computed; None where that is not known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


def measured(name: str, entry: str, limit: float) -> dict[str, Any]:
    """A row, from a process of its own."""
    command = [sys.executable, __file__, "--one", name, entry, str(limit)]
    row: dict[str, Any] = {"model": name, "entry": entry, "limit": limit}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    witness = _Witness(process, limit)
    witness.start()
    killer = threading.Timer(limit + PATIENCE + 30, process.kill)
    killer.start()
    assert process.stdout is not None
    out = process.stdout.read()
    process.wait()
    witness.join()
    is_killed = not killer.is_alive()
    killer.cancel()
    if is_killed:
        return {**row, "answer": "killed", "clock": limit + PATIENCE, "late": PATIENCE, "worked": PATIENCE}
    if process.returncode:
        said = "".join(witness.said).strip().splitlines() or ["?"]
        why = f"error {process.returncode}: {said[-1][:200]}"
        return {**row, "answer": why, "clock": 0.0, "late": 0.0, "worked": 0.0}
    row |= json.loads(out.splitlines()[-1])
    row["late"] = round(row["clock"] - limit, 3)
    used = row.pop("used")
    row["worked"] = round(used - witness.used, 2) if witness.used is not None and row["late"] > 0 else 0.0
    return row


def overshoot(row: dict[str, Any]) -> float:
    """Seconds beyond the limit, by the smaller of clock and processor: other work is not ours."""
    if row["entry"] in WAITING or row["late"] < 0:
        return float(row["late"])
    return float(min(row["late"], row["worked"]))


def is_late(row: dict[str, Any]) -> bool:
    """Whether a call ended more than a tenth and more than 0.2 s after its limit."""
    return overshoot(row) > max(0.2, 0.1 * float(row["limit"]))


def main() -> None:
    from limits_entries import ENTRIES
    from limits_models import MODELS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limits", default="0.5")
    parser.add_argument("--only", default="")
    parser.add_argument("--entries", default=",".join(ENTRIES))
    parser.add_argument("--drawn", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--resume", action="store_true", help="keep the rows of --out, and add those that lack"
    )
    parser.add_argument(
        "--late", action="store_true", help="with --resume: measure late rows and errors again"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no row after this time")
    parser.add_argument("--one", nargs=3)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one[0], args.one[1], float(args.one[2]))))
        return
    names = [name for name in MODELS if not args.only or name.startswith(tuple(args.only.split(",")))]
    names += [f"drawn_{seed}" for seed in range(args.seed, args.seed + args.drawn)]
    pairs = [(name, entry) for name in names for entry in args.entries.split(",")]
    random.Random(0).shuffle(pairs)  # what is measured by the time a run is ended is a sample of all
    limits = sorted(map(float, args.limits.split(",")))
    rows = measure([(*pair, limit) for pair in pairs for limit in limits], args)
    rows.sort(key=overshoot, reverse=True)
    print("model entry limit clock late worked answer where")
    print("\n".join(map(_line, rows[:60])))
    print(_summary(rows))


def measure(wanted: list[tuple[str, str, float]], args: argparse.Namespace) -> list[dict[str, Any]]:
    """All rows; those that are there already are kept."""
    rows: list[dict[str, Any]] = []
    if args.resume and args.out and args.out.exists():
        rows = json.loads(args.out.read_text(encoding="utf-8"))["rows"]
    if args.late:
        rows = [row for row in rows if not is_late(row) and not str(row["answer"]).startswith("error")]
    done = {(row["model"], row["entry"], row["limit"]): row for row in rows}
    ends, first = perf_counter() + args.seconds, min((limit for _, _, limit in wanted), default=0.0)
    for name, entry, limit in wanted:
        if (name, entry, limit) in done or perf_counter() > ends:
            continue
        shorter = done.get((name, entry, first))
        if limit > first and shorter is not None and shorter["clock"] < first / 2:
            continue
        row = measured(name, entry, limit)
        rows.append(row)
        done[name, entry, limit] = row
        print(_line(row), file=sys.stderr, flush=True)
        if args.out:
            _write(args.out, rows)
    return rows


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    from environment import environment

    late = sum(map(is_late, rows))
    head = {"environment": environment("numpy", "llvmlite"), "calls": len(rows), "late": late}
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    aside = path.with_suffix(".part")
    aside.write_text(f'{json.dumps(head)[:-1]},\n "rows": [\n  {lines}\n]}}\n', encoding="utf-8")
    aside.replace(path)


def _summary(rows: list[dict[str, Any]]) -> str:
    errors = sum(str(row["answer"]).startswith(("error", "killed")) for row in rows)
    return (
        f"{sum(map(is_late, rows))} of {len(rows)} calls were late by more than 10 % and 0.2 s, "
        f"{errors} ended with an error"
    )


def _line(row: dict[str, Any]) -> str:
    return (
        f"{row['model']:<18} {row['entry']:<14} {row['limit']:>4} {row['clock']:>7.2f} {row['late']:>+6.2f} "
        f"{row['worked']:>5.2f} {'LATE' if is_late(row) else '':<4} {row['answer']!s:<12} "
        f"{row.get('where', '')}"
    )


if __name__ == "__main__":
    main()
