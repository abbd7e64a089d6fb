"""Faults by the hundred in the pipeline, with stand-ins for compilers and GPU: what is lost, what is doubled?

    python benchmarks/tuning/faults.py [--faults 1000] [--kills 10] [--out FILE]

Candidates with a fault of each kind stand among good ones; meanwhile the whole run is killed some times and
resumed. Every good candidate must be measured and stored once, and no process may be left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "kerneltune" / "stand_ins"))

from environment import environment

from kerneltune.tuning.store import Store

KINDS = (
    *("hang", "killed", "out_of_bounds", "nan", "wrong", "unsteady", "garbage"),
    *("compile", "compiler_dies", "registers"),
)
RUN = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from pretended import tuned
tuned(
    Path({store!r}),
    params={{"x": list(range({each})), "BLOCK": [64], "fault": ["none", *{kinds!r}]}},
    timeout=0.5, workers=2, devices=[0, 1],
)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    each = -(-options.faults // len(KINDS))
    with tempfile.TemporaryDirectory() as folder:
        log, store = Path(folder, "log"), Path(folder, "store")
        log.touch()
        environ = {**os.environ, "KERNELTUNE_TEST_LOG": str(log), "TMPDIR": folder}
        code = RUN.format(path=sys.path, store=str(store), each=each, kinds=list(KINDS))
        started, kills = time.time(), 0
        draw = random.Random(0)
        while True:
            process = subprocess.Popen([sys.executable, "-c", code], env=environ)
            try:
                wait = draw.uniform(1, 20) if kills < options.kills else None
                if process.wait(wait) == 0:
                    break
                raise SystemExit("the run failed")
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
        time.sleep(1.0)
        left = subprocess.run(["pgrep", "-f", folder], capture_output=True, text=True, check=False).stdout
        rows = Store(store).rows()
        tried = Counter((r.trial.configuration["x"], r.trial.configuration["fault"]) for r in rows)
        passed = {r.trial.configuration["x"] for r in rows if r.trial.passed}
        failed = Counter(str(r.trial.configuration["fault"]) for r in rows if not r.trial.passed)
        good = Counter(
            row["x"] for row in map(json.loads, log.read_text().splitlines()) if row["fault"] == "none"
        )
        report = {
            **environment(),
            "faults": each * len(KINDS),
            "kills": kills,
            "seconds": round(time.time() - started, 1),
            "candidates": len(rows),
            "lost": each * (len(KINDS) + 1) - len(tried),
            "doubled": sum(count - 1 for count in tried.values()),
            "good": len(passed),
            "good that failed": failed.pop("none", 0),
            "faults that passed": sum(
                1 for r in rows if r.trial.passed and r.trial.configuration["fault"] != "none"
            ),
            "failed": dict(failed),
            "measured again after a kill": sum(count - 1 for count in good.values()),
            "processes left": len(left.split()),
        }
    print(json.dumps(report, indent=1))
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
