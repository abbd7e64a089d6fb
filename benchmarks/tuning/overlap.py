"""How compilation overlaps measurement, with children that sleep: python benchmarks/tuning/overlap.py."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "kerneltune" / "stand_ins"))

from pretended import tuned


def main() -> None:
    for compiling, running, count, workers in ((2.0, 0.1, 120, 16), (1.0, 0.05, 120, 16), (0.0, 0.0, 500, 2)):
        os.environ["KERNELTUNE_TEST_COMPILE"] = str(compiling)
        os.environ["KERNELTUNE_TEST_SECONDS"] = str(running)  # of each of the two verified runs
        with tempfile.TemporaryDirectory() as folder:
            params = {"x": list(range(count)), "BLOCK": [64]}
            found = tuned(Path(folder) / "s", params=params, workers=workers, patience=0.0)
        first = found.first_result or 0.0
        report = {
            "compile_seconds": compiling,
            "measure_seconds": 2 * running,
            "candidates": count,
            "seconds": round(found.seconds, 2),
            "first_result_over_compile_time": round(first / compiling, 2) if compiling else None,
            "busy": round(found.measuring / found.seconds, 3),
            "busy_after_the_first": round(found.measuring / max(found.seconds - compiling, 1e-9), 3),
            "milliseconds_a_candidate": round(1e3 * (found.seconds - first) / (count - 1), 2),
        }
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
