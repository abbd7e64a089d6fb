"""What each way of solving, presolve rule, propagator and trick is worth: each is switched off in turn.

    python benchmarks/solver/ablation.py [--limit 4] [--seconds 500] [--only "presolve"] [--out FILE]

A row of `ablation_rows.py` is answered with and without what is switched off (`ablation_switches.py`), in
turns in one process, and the medians of the processor time are compared. A row that never asks for it is
passed over; one that is not answered within the limit without it counts as lost. What a switch loses are the
rows that take half as long again without it, or longer.

Answers must be the same with and without. The run stops after `--seconds` and goes on from the file at the
next call; the table is printed when all is done.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ablation_rows import ROWS, Row
from ablation_switches import INTERPRETED, SWITCHES, Switch, replaced, watched
from environment import environment

from constrint import Model

OUT = Path(__file__).resolve().parents[1] / "results" / "ablation.json"
BATCH = 0.08  # seconds that are measured together: the system counts processor time in steps of 4 ms
ROUNDS = 3
LOST = 1.5  # times as long without it


class TooLong(BaseException):
    """The limit is reached."""


def _stop(*_: object) -> None:
    raise TooLong


def timed(row: Row, times: int, limit: float) -> tuple[float, Any]:
    """Seconds for an answer, and the answer; infinite and None where the limit comes first or it fails."""
    signal.setitimer(signal.ITIMER_PROF, times * limit)
    begun = process_time()
    try:
        for _ in range(times):
            found = row()
        return (process_time() - begun) / times, found
    except TooLong:
        return float("inf"), "> limit"
    except Exception as problem:
        return float("inf"), type(problem).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def asked_for(row: Row, names: set[str], limit: float) -> set[str]:
    """Those of some switches that matter to a row."""
    found = set()
    for interpreted in sorted({SWITCHES[name].interpreted for name in names}):
        with replaced(INTERPRETED if interpreted else {}), watched(interpreted) as asked:
            timed(row, 1, limit)
        found |= asked
    return found & names


def ask(report: dict[str, Any], limit: float) -> None:
    """Note which switches matter to a row: all of them for new rows, the new switches for the others."""
    asked, done = report.setdefault("asked", {}), report.setdefault("rows", {})
    new = SWITCHES.keys() - set(report.setdefault("known", sorted(done)))
    for title, row in ROWS.items():
        names = new if title in asked else set(SWITCHES)
        asked[title] = sorted({*asked.get(title, []), *asked_for(row, names, limit)})
    report["known"] = sorted(SWITCHES)


def compared(row: Row, switch: Switch, limit: float) -> dict[str, Any] | None:
    """What a row loses without something; None for one that takes too long with it."""
    with replaced(INTERPRETED if switch.interpreted else {}):
        _, answer = timed(row, 1, limit)
        seconds, _ = timed(row, 1, limit)
        if seconds == float("inf"):
            return None
        with replaced(switch.places):
            first, without = timed(row, 1, max(0.5, min(limit, 20 * seconds)))
        if first == float("inf"):
            return {"with": round(seconds, 6), "without": without}
        times = max(1, round(BATCH / max(seconds, first, 0.0005)))
        on, off = [], []
        for _ in range(ROUNDS if seconds < 0.3 else 1):
            on.append(timed(row, times, limit)[0])
            with replaced(switch.places):
                off.append(timed(row, times, limit)[0])
    result: dict[str, Any] = {"with": round(median(on), 6), "without": round(median(off), 6)}
    if without != answer:
        result["another answer"] = [repr(answer)[:60], repr(without)[:60]]
    return {**result, "times": round(median(off) / max(median(on), 0.0001), 2)}


def measure(names: list[str], limit: float, seconds: float, out: Path) -> bool:
    """Compare what is not in the file yet; whether all is done."""
    begun = perf_counter()
    report = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    report["environment"] = environment("numpy", "llvmlite")
    try:
        ask(report, limit)
        asked, done = report["asked"], report["rows"]
        for name in names:
            rows = done.setdefault(name, {})
            for title, row in ROWS.items():
                if title in rows or name not in asked[title]:
                    continue
                if perf_counter() - begun > seconds:
                    return False
                rows[title] = compared(row, SWITCHES[name], limit)
    finally:
        out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return True


def losses(rows: dict[str, dict[str, Any] | None], holds: Callable[[float], bool]) -> dict[str, float]:
    """The rows whose times without, as a multiple of those with, satisfy something; the most first."""
    found = {title: row.get("times", float("inf")) for title, row in rows.items() if row is not None}
    return dict(sorted([item for item in found.items() if holds(item[1])], key=lambda item: -item[1]))


def table(report: dict[str, Any]) -> str:
    """What each switch loses, and what gets faster without it."""
    lines = []
    for name, rows in report["rows"].items():
        lost = losses(rows, lambda times: times >= LOST)
        won = losses(rows, lambda times: times <= 1 / LOST)
        lines.append(f"{name} ({len(rows)} rows ask for it)")
        lines += [f"    loses {times:8.1f} x  {title}" for title, times in list(lost.items())[:6]]
        lines += [f"    … and {len(lost) - 6} more" for _ in range(len(lost) > 6)]
        lines += [
            f"    gains {1 / max(times, 1e-6):8.1f} x  {title}" for title, times in list(won.items())[-3:]
        ]
        lines += [
            f"    ANOTHER ANSWER  {title}: {row['another answer']}"
            for title, row in rows.items()
            if row is not None and "another answer" in row
        ]
        lines += ["    loses nothing"] * (not lost)
    return "\n".join(lines)


def main() -> None:
    """Compare, and print what is lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=4.0, help="seconds of processor for an answer")
    parser.add_argument("--seconds", type=float, default=500.0, help="when to stop, to be called again")
    parser.add_argument("--only", default="", help="part of the names of what is switched off")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--table", action="store_true", help="only print what the file has")
    options = parser.parse_args()
    signal.signal(signal.SIGPROF, _stop)
    names = [name for name in SWITCHES if options.only in name]
    if not options.table:
        Model().solve(engine="compiled")
        from constrint.learning.compiled_learning import load

        load()
        if not measure(names, options.limit, options.seconds, options.out):
            print("not done: call again")
            return
    print(table(json.loads(options.out.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
