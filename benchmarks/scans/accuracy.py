"""Error of scans in float32 against T: this project's linear domain and log space, beside float64.

python benchmarks/scans/accuracy.py --out accuracy.json [--device cpu]

a is drawn from 0.999 ... 1, b is positive, four channels. The error is |h - h64| / |h64| over all steps.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from peers import log_space

from kerneltune.torch import linear_recurrence

STEPS = [4**power for power in range(3, 11)]
CHANNELS = 4


def exact(a: Any, b: Any) -> Any:
    """In float64, step by step."""
    state, found = torch.zeros(a.shape[2], dtype=torch.float64), torch.empty(a.shape, dtype=torch.float64)
    wide_a, wide_b = a[0].double(), b[0].double()
    for step in range(a.shape[1]):
        state = torch.addcmul(wide_b[step], wide_a[step], state)
        found[0, step] = state
    return found


def error(found: Any, expected: Any) -> float:
    """Relative, in the 2-norm."""
    return float((found.cpu().double() - expected).norm() / expected.norm())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    options = parser.parse_args()
    torch.manual_seed(1)
    a = torch.rand(1, max(STEPS), CHANNELS) * 0.001 + 0.999
    b = torch.rand(1, max(STEPS), CHANNELS) + 0.1
    expected, rows = exact(a, b), []
    for steps in STEPS:
        some = a[:, :steps].to(options.device), b[:, :steps].to(options.device)
        row = {
            "steps": steps,
            "linear": error(linear_recurrence(*some)[0], expected[:, :steps]),
            "log_space": error(log_space(*some), expected[:, :steps]),
        }
        rows.append(row)
        print(row, flush=True)
    result = {"device": options.device, "date": datetime.now(UTC).date().isoformat(), "rows": rows}
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
