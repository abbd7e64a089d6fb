"""Starts of the commands as processes: processor seconds, and how many modules of this project each imports.

    python benchmarks/solver/starts.py [--runs 15] [--out benchmarks/results/starts.json]

Each command is a process of its own; Python's bytecode and the machine code of the searches are in place. The
least of the runs counts. "modules" are all that were imported, "own" those of constrint and kerneltune.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

ROOT = Path(__file__).resolve().parents[2]
FOUR_LINES = "x in 1..64\ny in 1..64\nx * y <= 1000\nmaximize x + y\n"
FLATZINC = (
    "var 1..9: x :: output_var;\nvar 1..9: y :: output_var;\n"
    "constraint int_lin_eq([2, 3], [x, y], 12);\nsolve minimize x;\n"
)
TILE = ["tile", "lstm", "--heads", "12", "--head-dim", "64", "--batch", "16", "--gpu", "h100_sxm"]
PROGRAM = """
import sys
sys.argv = {argv!r}
try:
    {call}
finally:
    if {counts}:
        names = list(sys.modules)
        own = [name for name in names if name.split(".")[0] in ("constrint", "kerneltune")]
        print(len(names), len(own), file=sys.stderr)
"""


def starts(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """What each row calls, and the arguments."""
    (folder / "four.constrint").write_text(FOUR_LINES, encoding="utf-8")
    (folder / "two.fzn").write_text(FLATZINC, encoding="utf-8")
    constrint = "from constrint.cli.main import main; main()"
    kerneltune = "from kerneltune.cli.main import main; main()"
    return {
        "python": ("pass", []),
        "import constrint": ("import constrint; constrint.Model", []),
        "constrint --version": (constrint, ["--version"]),
        "constrint solve": (constrint, ["solve", str(folder / "four.constrint")]),
        "fzn-constrint": ("from constrint.cli.flatzinc import main; main()", [str(folder / "two.fzn")]),
        "kerneltune tile": (kerneltune, TILE),
        "kerneltune tile --top 100": (kerneltune, [*TILE, "--top", "100"]),
    }


def run(call: str, arguments: list[str], counts: bool) -> tuple[float, str]:
    """Processor seconds of a process, and its last line on standard error."""
    program = PROGRAM.format(argv=["command", *arguments], call=call, counts=counts)
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tempfile.gettempdir(),
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, (call, arguments, said)
    return usage.ru_utime + usage.ru_stime, (said.strip().splitlines() or [""])[-1]


def main() -> None:
    """Time every row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", default="", help="part of the rows' names")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (call, given) in starts(Path(folder)).items():
            if arguments.only not in name:
                continue
            run(call, given, False)  # writes the bytecode
            modules, own = map(int, run(call, given, True)[1].split())
            least = min(run(call, given, False)[0] for _ in range(arguments.runs))
            rows[name] = {"seconds": round(least, 3), "modules": modules, "own": own}
            print(f"{name:28} {rows[name]}", flush=True)
    if arguments.out:
        report = {"environment": environment("numpy", "lark", "click"), "rows": rows}
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
