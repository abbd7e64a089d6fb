"""Fit the cost constants of a profile to measured tilings: non-negative least squares on relative errors.

    python benchmarks/rnn/kernels.py --each-strategy --top 6 --batch 16,64 --out measured.json
    python benchmarks/rnn/fit_costs.py measured.json [more.json …]

Prints each constant of the `cost` section of hardware_profiles/*.yaml that can be fitted, and the tilings
that the fit misses most. What the counts mean is in kernels/*/tiling.constrint. Needs scipy (extra `bench`).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from kerneltune.hardware import HardwareProfile, load_profile

PRODUCT_CYCLES, LATENCY_CYCLES = 4.2, 30.0  # their ratio is not fitted, their common scale is

# Constant -> (factor from the fitted coefficient, whether the profile holds its reciprocal)
CONSTANTS: dict[str, tuple[float, bool]] = {
    "block_step_cycles": (1, False),
    "cluster_step_cycles": (1, False),
    "cluster_block_cycles": (1, False),
    "dsmem_bytes_per_cycle": (1, True),
    "grid_step_cycles": (1, False),
    "grid_fragment_cycles": (1, False),
    "grid_mark_cycles": (1, False),
    "l2_bytes_per_sm_cycle": (1, True),
    "mma_centicycles_each": (100, False),
    "join_centicycles": (100, False),
    "group_centicycles": (100, False),
    "warp_centicycles": (100, False),
    "warp_group_centicycles": (100, False),
    "partial_centicycles": (100, False),
    "smem_bytes_per_cycle": (1, True),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, help="JSON of kernels.py, or h100_lstm_cost_fit.json")
    parser.add_argument("--gpu", default="h100_sxm")
    parser.add_argument("--show", type=float, default=0.15, help="list tilings missed by more than this part")
    options = parser.parse_args()
    profile = load_profile(options.gpu)
    rows = [row for path in options.files for row in measured(path)]
    counts = [counted(row, profile) for row in rows]
    cycles = np.array(
        [
            row["milliseconds"] * 1e3 * profile.boost_mhz / row["problem"]["steps"] / waves(row, profile)
            for row in rows
        ]
    )
    matrix = np.array([[count.get(name, 0.0) for name in CONSTANTS] for count in counts])
    scale = np.where(matrix.max(axis=0) > 0, matrix.max(axis=0), 1.0)
    found, _ = nnls(matrix / scale / cycles[:, None], np.ones(len(rows)))
    found /= scale
    error = matrix @ found / cycles - 1
    for (name, (factor, reciprocal)), value in zip(CONSTANTS.items(), found, strict=True):
        constant = (1 / value if value else float("inf")) if reciprocal else factor * value
        print(f"  {name}: {constant:.0f}")
    product = found[list(CONSTANTS).index("mma_centicycles_each")]
    print(f"  mma_latency_centicycles: {100 * LATENCY_CYCLES / PRODUCT_CYCLES * product:.0f}")
    mean, worst = np.sqrt(np.mean(error**2)), abs(error).max()
    print(f"{len(rows)} tilings, root mean square {mean:.1%}, worst {worst:.0%}")
    for row, part in zip(rows, error, strict=True):
        if abs(part) > options.show:
            print(f"  {part:+.0%} {row['strategy']} {row['problem']} {row['parameters']}")
    return 0


def measured(path: Path) -> list[dict[str, Any]]:
    data = json.loads(path.read_text(encoding="utf-8"))
    if "rows" in data:
        return list(data["rows"])
    return [
        {**outcome["candidate"], "milliseconds": outcome["measurement"]["milliseconds"]}
        for outcome in data["outcomes"]
        if outcome["passed"]
        and outcome["measurement"]["milliseconds"]
        and outcome["candidate"]["problem"]["direction"] == "forward"
    ]


def waves(row: dict[str, Any], profile: HardwareProfile) -> int:
    """How many times the GPU is filled, one after the other."""
    values = row["values"]
    if row["strategy"] == "cluster":
        return -(-values["clusters"] // profile.cluster_slots[row["parameters"]["cluster"]])
    if row["strategy"] == "grid":
        return int(-(-values["jobs"] // values["resident_groups"]))
    return int(-(-values["blocks"] // (profile.sm_count * values["blocks_per_sm"])))


def counted(row: dict[str, Any], profile: HardwareProfile) -> dict[str, float]:
    """How often each constant counts in a step of this tiling, on the busiest sub-partition."""
    values, parameters, strategy = row["values"], row["parameters"], row["strategy"]
    blocks = min(values.get("blocks_per_sm", 1), -(-values["blocks"] // profile.sm_count))
    warps = -(-values["warps"] * blocks // 4)
    tiles = values["m_tiles"] * values["n_tiles"]
    depth, chains = parameters["warp_k_tiles"], parameters["mma_chains"]
    product = max(tiles * warps * PRODUCT_CYCLES, LATENCY_CYCLES / chains) / PRODUCT_CYCLES
    split = parameters["k_splits"] > 1
    count = {
        f"{strategy}_step_cycles": 1.0,
        "mma_centicycles_each": depth * product,
        "join_centicycles": (chains - 1) * 4.0 * tiles * warps,
        "group_centicycles": -(-values["groups"] * blocks // 4),
        "warp_centicycles": warps,
        "warp_group_centicycles": values["warp_groups"],
        "partial_centicycles": split * parameters["k_splits"] * values["groups"] * blocks,
        "smem_bytes_per_cycle": values["weight_bytes"] * blocks,
    }
    if strategy == "cluster":
        count |= {
            "cluster_block_cycles": parameters["cluster"],
            "dsmem_bytes_per_cycle": values["received_bytes"],
        }
    if strategy == "grid":
        count |= {
            "grid_fragment_cycles": depth * values["n_tiles"] * blocks,
            "l2_bytes_per_sm_cycle": values["received_bytes"] * blocks,
            "grid_mark_cycles": values["finishing_warps"] == values["warps"],
        }
    return count


if __name__ == "__main__":
    sys.exit(main())
