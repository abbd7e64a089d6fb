"""Which strategy the cost model takes where, over channels (B times D) and steps: needs no GPU.

python benchmarks/scans/strategies.py --out h100_scans_map.json [--gpu h100_sxm]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import environment

from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.space import TilingSpace

CELLS = ("linear", "diag_gru")
CHANNELS = tuple(2**power for power in range(5, 18, 2))
STEPS = tuple(2**power for power in range(8, 21, 2))
WIDEST = 2048  # of one row; more channels are more rows


def row_of(cell: str, channels: int, steps: int, gpu: str) -> dict[str, Any]:
    """The predicted milliseconds of each strategy's best tiling."""
    wide = min(channels, WIDEST)
    problem = ScanProblem(cell, channels // wide, steps, wide, "bf16", "forward")
    space = TilingSpace(problem, load_profile(gpu), discover_scans())
    found = {}
    for strategy in space.applicable():
        best = space.of_strategy(strategy.name).candidates()
        if best:
            found[strategy.name] = round(best[0].cycles / best[0].boost_mhz / 1e3, 5)
    return {"cell": cell, "channels": channels, "steps": steps, "predicted": found}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--gpu", default="h100_sxm", help="the profile")
    options = parser.parse_args()
    rows = [
        row_of(cell, channels, steps, options.gpu)
        for cell in CELLS
        for channels in CHANNELS
        for steps in STEPS
        if channels * steps <= 2**31
    ]
    result = {**environment(), "command": " ".join(["python", *sys.argv]), "gpu": options.gpu, "rows": rows}
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
