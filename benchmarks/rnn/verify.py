"""Verify random configurations on this machine's GPU: every pass, strategy, cell and dtype.

    python benchmarks/rnn/verify.py --seconds 540 --out verified.json
    python benchmarks/rnn/verify.py --seed 7 --case 123 [--tool memcheck]      one case again
    python benchmarks/rnn/verify.py --emulated /tmp/emulated --work 40000      on the CPU, emulated
    python tests/kerneltune/stand_ins/drawn_cells.py 300 /tmp/cells            300 drawn cells, and
    python benchmarks/rnn/verify.py --cells /tmp/cells --cases 300             each of them in one case

Each case has a random shape, options and tiling (drawing.py). One of several processes compiles it; a child
process runs it on random input with poisoned outputs between guards. The result is compared with the float64
reference and must be bitwise equal in every run. A sample of small cases runs under compute-sanitizer, if it
is on PATH. No case starts that would not end in time; the JSON is written during the run, a short table at
the end. Exit code 1: something failed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import sanitizer
from campaign import ENDING_SECONDS, SANITIZED_SECONDS, TRIAL_SECONDS, Budget, Campaign
from drawing import Drawing, Limits
from environment import environment

from kerneltune.errors import KernelTuneError
from kerneltune.inputs.problem import PASSES
from kerneltune.pipeline.stages import MEASURING_CHILD
from kerneltune.pipeline.tilings import require_gpu

WRITTEN_EVERY = 10.0  # seconds
EMULATOR = Path(__file__).resolve().parents[2] / "tests" / "kernels" / "emulator" / "runner.py"
EMULATED_SECONDS = 240.0  # time limit of an emulated case, including the C++ compiler
# Bounds of relative errors against float64, by dtype; three times as much for gradients.
AIMS = {"bf16": 4e-3, "fp16": 6e-4, "fp32": 1e-5}
FAILURES_SHOWN = 12
COLUMNS = ("pass", "strategy", "dtype", "cases", "failed", "same_bits")


def main(arguments: Sequence[str] | None = None, child: Sequence[str] = MEASURING_CHILD) -> int:
    options = parsed(arguments)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")  # for the references, which several processes compute
    limits = Limits(work=options.work)
    cells = str(options.cells.resolve()) if options.cells else ""
    drawing = Drawing(options.gpu, options.seed, limits, options.strategy, options.passes, cells=cells)
    campaign = Campaign(drawing, Budget(options.seconds), options.runs, options.compiler, child)
    campaign.trial_seconds = case_seconds(options)
    campaign.sanitized_seconds = SANITIZED_SECONDS * options.patience
    if options.emulated is not None:
        campaign.child = (sys.executable, str(EMULATOR), str(options.emulated), options.gpu)
    try:
        require_gpu(drawing.profile, child=campaign.child)
        run(campaign, options)
    except KernelTuneError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    write(options.out, campaign, options)
    print(report(campaign, command(options)))
    return int(bool(campaign.errors) or not all(row["passed"] for row in campaign.noted()))


def case_seconds(options: argparse.Namespace) -> float:
    """Time limit of a case."""
    seconds: float = (TRIAL_SECONDS if options.emulated is None else EMULATED_SECONDS) * options.patience
    return seconds


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gpu", default="h100_sxm", help="profile")
    parser.add_argument("--seconds", type=float, default=540.0, help="after which it has ended")
    parser.add_argument("--cases", type=int, default=None, help="how many; as many as there is time for")
    parser.add_argument("--seed", type=int, default=None, help="draws everything; a fresh one if not given")
    parser.add_argument("--case", type=int, default=None, help="only this case")
    parser.add_argument("--tool", choices=sanitizer.TOOLS, default=None, help="run the case under this")
    parser.add_argument("--strategy", default=None, help="only this strategy")
    parser.add_argument("--pass", dest="passes", default=",".join(PASSES), help="of " + ", ".join(PASSES))
    parser.add_argument(
        "--cells", type=Path, help="a folder of cells of equations instead of the shipped ones"
    )
    parser.add_argument("--work", type=int, default=Limits.work, help="most multiplications with R in a case")
    parser.add_argument("--runs", type=int, default=3, help="runs whose bits must agree")
    parser.add_argument("--sample", type=int, default=12, help="cases for each tool of compute-sanitizer")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2, help="processes that compile")
    parser.add_argument("--lanes", type=int, default=4, help="processes that run kernels at the same time")
    parser.add_argument("--compiler", default="nvrtc")
    parser.add_argument(
        "--emulated",
        type=Path,
        default=None,
        help="run on the CPU; a folder for the emulator",
    )
    parser.add_argument("--patience", type=float, default=1.0, help="factor on the time limits of cases")
    parser.add_argument("--out", type=Path, default=None, help="JSON file")
    options = parser.parse_args(arguments)
    options.passes = tuple(options.passes.split(","))
    if unknown := set(options.passes) - set(PASSES):
        parser.error(f"--pass: unknown {', '.join(sorted(unknown))}: of {', '.join(PASSES)}")
    least = case_seconds(options) + ENDING_SECONDS
    if options.seconds < least:
        parser.error(f"--seconds: a case may take {least:g}: give at least as many")
    if options.tool and options.case is None:
        parser.error("--tool: needs --case")
    if options.case is not None and options.seed is None:
        parser.error("--case: needs the --seed that it was drawn with")
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(4), "little")
    return options


def run(campaign: Campaign, options: argparse.Namespace) -> None:
    if options.case is not None:
        campaign.again(options.case, [options.tool] if options.tool else [])
        return
    tools = sanitizer.TOOLS if options.emulated is None and sanitizer.available() else ()
    if not tools and options.emulated is None:
        print(f"{sanitizer.PROGRAM} is not on PATH: nothing is run under it", file=sys.stderr)
    stop = threading.Event()
    writer = threading.Thread(target=write_now_and_then, args=(stop, campaign, options))
    writer.start()
    try:
        campaign.verify(
            options.cases, workers=options.workers, lanes=options.lanes, tools=tools, sample=options.sample
        )
    finally:
        stop.set()
        writer.join()


def write_now_and_then(stop: threading.Event, campaign: Campaign, options: argparse.Namespace) -> None:
    while not stop.wait(WRITTEN_EVERY):
        write(options.out, campaign, options)


def write(path: Path | None, campaign: Campaign, options: argparse.Namespace) -> None:
    """Write the results to a temporary file and rename it, so that the file is always complete."""
    if path is None:
        return
    rows = campaign.noted()
    data = {
        "command": command(options),
        "environment": environment("pycuda", "cuda-bindings", "cuda-core", "nvidia-cuda-nvrtc", "numpy"),
        "seconds": round(campaign.budget.spent, 1),
        "drawing": campaign.drawing.to_json(),
        "failed": sum(not row["passed"] for row in rows),
        "unfinished": campaign.unfinished,
        "errors": campaign.errors,
        "summary": summary(rows),
        "rows": rows,
    }
    aside = path.with_name(path.name + ".part")
    aside.write_text(json.dumps(data, ensure_ascii=False) + "\n", encoding="utf-8")
    aside.replace(path)


def command(options: argparse.Namespace) -> str:
    """The command that draws the same cases; --case and --tool are added to run one of them."""
    words = ["python benchmarks/rnn/verify.py", f"--gpu {options.gpu}", f"--seed {options.seed}"]
    words += [f"--strategy {options.strategy}"] if options.strategy else []
    words += [f"--pass {','.join(options.passes)}"] if options.passes != PASSES else []
    words += [f"--cells {options.cells}"] if options.cells else []
    words += [f"--work {options.work}"] if options.work != Limits.work else []
    words += [f"--emulated {options.emulated}"] if options.emulated is not None else []
    words += [f"--compiler {options.compiler}"] if options.compiler != "nvrtc" else []
    return " ".join(words)


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Counts by pass, strategy and dtype with the worst error and its bound; and counts by tool."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        place = ("", row["tool"], "") if "tool" in row else (row["direction"], row["strategy"], row["dtype"])
        groups[place].append(row)
    found = []
    for (direction, strategy, dtype), members in sorted(groups.items()):
        errors = [row["relative_error"] for row in members if row.get("relative_error") is not None]
        aim = AIMS.get(dtype)
        found.append(
            {
                "pass": direction or "under",
                "strategy": strategy,
                "dtype": dtype,
                "cases": sum("problem" in row for row in members),
                "without_tiling": sum("problem" not in row for row in members),
                "failed": sum(not row["passed"] for row in members),
                "same_bits": sum(row.get("runs") == row.get("runs_with_same_bits", -1) for row in members),
                "worst_error": max(errors, default=None),
                "aim": aim and (3 * aim if direction == "backward" else aim),
            }
        )
    return found


def report(campaign: Campaign, command: str) -> str:
    """The failures with the commands that reproduce them, then the table."""
    rows = campaign.noted()
    failed = [row for row in rows if not row["passed"]]
    lines = []
    for row in failed[:FAILURES_SHOWN]:
        tool = f" --tool {row['tool']}" if "tool" in row else ""
        said = row.get("failure") or row.get("verdict", "")
        if row.get("runs_with_same_bits") != row.get("runs"):
            said += f"; the same bits in {row['runs_with_same_bits']} of {row['runs']} runs"
        if "tool" in row:
            said += f"; {row['tool']}: {row['tool_errors']} errors: {row['tool_text']}"
        kind = " ".join(row[name] for name in ("direction", "strategy", "cell", "dtype"))
        lines += [f"FAILED {kind}: {' '.join(said.split())[:300]}", f"  {command} --case {row['case']}{tool}"]
    if len(failed) > FAILURES_SHOWN:
        lines.append(f"… and {len(failed) - FAILURES_SHOWN} more, in the JSON")
    lines += [f"ERROR of this script: {error}" for error in campaign.errors]
    table = [("pass", "strategy", "dtype", "cases", "failed", "same bits", "worst error", "aim", "")]
    for entry in summary(rows):
        worst, aim = entry["worst_error"], entry["aim"]
        missed = worst is not None and aim is not None and worst > aim
        words = [entry[name] for name in COLUMNS]
        shown = ["" if value is None else f"{value:.1e}" for value in (worst, aim)]
        table.append((*map(str, words), *shown, "above the aim" if missed else ""))
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines += [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    lines.append(
        f"{len(rows)} rows, {len(failed)} failed, {campaign.unfinished} not reached in time, "
        f"{campaign.budget.spent:.0f} s; {command}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
