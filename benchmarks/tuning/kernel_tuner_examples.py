"""Kernel Tuner's examples with one import changed: which of them run.

    python benchmarks/tuning/kernel_tuner_examples.py kernel_tuner/examples/cuda --out table.json
    python benchmarks/tuning/kernel_tuner_examples.py kernel_tuner/examples/cuda --most 5 --without-gpu h100

The folder is a checkout of Kernel Tuner's, which is not part of this project. Each script runs in a copy of
the folder, in a process of its own, with `kerneltune.kernel_tuner` in the place of `kernel_tuner`. Without a
GPU kernels are compiled by NVRTC for the GPU that is named; times are pretended, outputs are what the
arguments were, and nothing is verified. `--most` limits the configurations of each call.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

REPORT = "kerneltune-report.json"
CHANGES = (
    (re.compile(r"^(\s*)import kernel_tuner\s*$", re.M), r"\1from kerneltune import kernel_tuner"),
    (re.compile(r"^(\s*)from kernel_tuner(?=[. ])", re.M), r"\1from kerneltune.kernel_tuner"),
)


def changed(text: str) -> str:
    """A script with kerneltune's import in the place of Kernel Tuner's."""
    for pattern, replacement in CHANGES:
        text = pattern.sub(replacement, text)
    return text


def uses_kernel_tuner(path: Path) -> bool:
    return changed(text := path.read_text(encoding="utf-8", errors="replace")) != text


class Calls:
    """The calls that a script makes, limited, and without a GPU with pretended measurements.

    Args:
        gpu: The GPU that is compiled for; None: this machine's measures.
        most: Most configurations of a call; None: as the script says.
    """

    def __init__(self, gpu: str | None, most: int | None) -> None:
        from kerneltune.kernel_tuner import interface, running

        self.gpu, self.most = gpu, most
        self.tuned: list[dict[str, Any]] = []
        self.runs = 0
        self._tune, self._run = interface.tuned_as_asked, running.run_as_asked
        interface.tuned_as_asked, running.run_as_asked = self.tune, self.run
        if gpu is not None:
            from kerneltune.tuning import kernel_run

            kernel_run.device_name = lambda kernel: "pretended"

    @property
    def own(self) -> dict[str, Any]:
        """What the calls are given besides."""
        if self.gpu is None:
            return {}
        from kerneltune.pipeline.stages import Commands

        return {"gpu": self.gpu, "commands": Commands(measure=(sys.executable, __file__, "--child"))}

    def tune(
        self, given: dict[str, Any], own: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """`tune_kernel`."""
        if self.most is not None and not given["strategy"]:
            given = {**given, "strategy": "random_sample", "strategy_options": {"max_fevals": self.most}}
        if self.gpu is not None:
            given = {**given, "verify": None, "answer": None, "observers": None}
        with tempfile.TemporaryDirectory() as folder:
            rows, facts = self._tune(given, {**own, "store": Path(folder) / "store", **self.own})
        failures = [row["__error__"] for row in rows if "__error__" in row]
        self.tuned.append({"tried": len(rows), "failed": len(failures), "first": (failures or [""])[0][:200]})
        return rows, facts

    def run(self, given: dict[str, Any], own: Mapping[str, Any]) -> list[Any]:
        """`run_kernel`."""
        self.runs += 1
        return self._run(given, {**own, **self.own})


def one(script: Path, gpu: str | None, most: int | None) -> None:
    """Run a script in the current folder, and leave a report of its calls."""
    calls = Calls(gpu, most)
    try:
        sys.argv = [str(script)]
        runpy.run_path(str(script), run_name="__main__")
    finally:
        report = {"tuned": calls.tuned, "runs": calls.runs}
        Path(REPORT).write_text(json.dumps(report), encoding="utf-8")


def child() -> None:
    """A measuring process that runs nothing: times by a checksum of the configuration."""
    from kerneltune.measuring.case import Case
    from kerneltune.measuring.measure import MeasuringPlan
    from kerneltune.measuring.serving import Server
    from kerneltune.messages import REQUESTS, Built, Facts, Order, SetUp, required
    from kerneltune.running.child_output import private_stdout, say
    from kerneltune.running.lifeline import follow_parent
    from kerneltune.running.verify import Verdict

    class Pretended:
        def __init__(self, order: Order, case: Case) -> None:
            self.case, self.order = case, order

        def run(self, poison: int) -> None: ...

        def keep(self) -> None: ...

        def close(self) -> None: ...

        def check(self) -> Verdict:
            return Verdict(0.0, 0.0, 0)

        def same(self) -> bool:
            return True

        def read(self) -> dict[str, Any]:
            takes = self.order.takes
            every = self.case.arguments
            taken = every if takes is None else [every[place] for place in takes]
            return {one.name: one.value for one in taken if one.is_output}

        def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
            key = json.dumps(self.order.configuration, sort_keys=True, default=str)
            return [1.0 + zlib.crc32(key.encode()) / 2**32] * count

    class Backend:
        facts = Facts(device="pretended", compute_capability="9.0")

        def __init__(self, case: Case) -> None:
            self.case = case

        def load(self, order: Order, built: Built | None) -> Pretended:
            return Pretended(order, self.case)

    follow_parent()
    answers = private_stdout()
    set_up = required(sys.stdin.readline(), SetUp)
    plan: dict[str, Any] = set_up.plan
    outputs = Path(set_up.outputs) if set_up.outputs else None
    server = Server(Backend(Case.load(Path(set_up.case))), MeasuringPlan(**plan), outputs=outputs)
    say(answers, Backend.facts)
    for line in sys.stdin:
        say(answers, server.answer(required(line, REQUESTS)))


def tried(script: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The row of a script."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "examples"
        shutil.copytree(script.parent, place)
        copy = place / script.name
        copy.write_text(changed(copy.read_text(encoding="utf-8")), encoding="utf-8")
        command = [sys.executable, __file__, "--one", copy.name]
        if options.without_gpu:
            command += ["--without-gpu", options.without_gpu]
        if options.most is not None:
            command += ["--most", str(options.most)]
        started = time.perf_counter()
        try:
            ended = subprocess.run(
                command,
                cwd=place,
                capture_output=True,
                text=True,
                timeout=options.seconds,
                check=False,
                env={**os.environ, "MPLBACKEND": "agg"},
            )
            lines = ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"]
            outcome = "runs" if ended.returncode == 0 else lines[-1][:200]
        except subprocess.TimeoutExpired:
            outcome = f"not ended after {options.seconds:g} s"
        seconds = round(time.perf_counter() - started, 1)
        report = place / REPORT
        calls = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else {}
    return {"script": script.name, "outcome": outcome, "seconds": seconds, **calls}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", nargs="*", help="names of scripts")
    parser.add_argument("--without-gpu", metavar="PROFILE")
    parser.add_argument("--most", type=int, help="most configurations of a call")
    parser.add_argument("--seconds", type=float, default=300.0, help="for one script")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child()
        return
    if options.one is not None:
        one(options.one, options.without_gpu, options.most)
        return
    if options.folder is None or not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}: give that of Kernel Tuner's examples")
    scripts = [path for path in sorted(options.folder.glob("*.py")) if uses_kernel_tuner(path)]
    scripts = [path for path in scripts if not options.only or path.stem in options.only]
    rows = []
    print("| script | outcome | calls | configurations | failed | seconds |\n|---|---|---|---|---|---|")
    for script in scripts:
        row = tried(script, options)
        rows.append(row)
        tuned = row.get("tuned", [])
        counts = [sum(call[name] for call in tuned) for name in ("tried", "failed")]
        calls = f"{len(tuned)} tuned, {row.get('runs', 0)} run"
        cells = (row["script"], row["outcome"], calls, *counts, row["seconds"])
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        if options.out is not None:
            options.out.write_text(json.dumps({"without_gpu": options.without_gpu, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
