"""Fit the backward pass's cost constants to measured LSTM tilings, strategy by strategy.

    python benchmarks/rnn/fit_backward_costs.py [benchmarks/results/h100_training.json]

Non-negative least squares on relative errors; in the grid, tilings far from the best of their shape count
less, since the solver needs the order among the good ones. Prints cycles per count; the counts
are those of kernels/*/backward.constrint. A profile has that, 100 times that or, for bytes, its reciprocal.
Needs scipy (extra `bench`).
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

RESULTS = Path(__file__).resolve().parents[1] / "results" / "h100_training.json"
FIRST_RUN = {"block": 2, "cluster": 1, "grid": 1}  # block's kernel changed after the first run
FAR = 6  # power by which a tiling counts less the slower it is than the best; grid only
PRODUCT_CYCLES, LATENCY_CYCLES = 4.2, 30.0

COUNTS = {
    "block": ("product_of_warp", "join", "group", "warp", "warp_group", "smem_kib"),
    "cluster": ("step", "block", "received_kib", "product", "join", "group", "warp", "smem_kib", "split"),
    "grid": ("step", "received_kib", "round", "product_of_warp", "group", "smem_kib"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--gpu", default="h100_sxm")
    options = parser.parse_args()
    profile = load_profile(options.gpu)
    rows = json.loads(options.file.read_text(encoding="utf-8"))["times"]
    for strategy, names in COUNTS.items():
        chosen = [row for row in rows if wanted(row, strategy)]
        matrix = np.array([[counted(row, profile)[name] for name in names] for row in chosen], dtype=float)
        cycles = np.array([measured_cycles(row, profile) for row in chosen])
        weight = closeness(chosen, cycles) ** (FAR if strategy == "grid" else 0)
        scale = np.where(matrix.max(axis=0) > 0, matrix.max(axis=0), 1.0)
        found, _ = nnls(matrix / scale / cycles[:, None] * weight[:, None], weight)
        found /= scale
        error = matrix @ found / cycles - 1
        print(f"{strategy}: {len(chosen)} tilings, root mean square {np.sqrt(np.mean(error**2)):.1%}")
        for name, value in zip(names, found, strict=True):
            print(f"  {name}: {value:.2f}")
    return 0


def wanted(row: dict[str, Any], strategy: str) -> bool:
    problem = row["problem"]
    return bool(
        row["strategy"] == strategy
        and (problem["cell"], problem["direction"]) == ("lstm", "backward")
        and row["run"] >= FIRST_RUN[strategy]
        and (strategy != "cluster" or problem["batch"] <= 16)  # small clusters share SMs: waves are not known
    )


def measured_cycles(row: dict[str, Any], profile: HardwareProfile) -> float:
    """Of a step, with as many blocks as run at a time."""
    values = row["values"]
    if row["strategy"] == "grid":
        waves = -(-values["jobs"] // values["resident_groups"])
    elif row["strategy"] == "cluster":
        waves = -(-values["clusters"] // profile.cluster_slots[row["parameters"]["cluster"]])
    else:
        waves = -(-values["blocks"] // (profile.sm_count * values["blocks_per_sm"]))
    return float(row["milliseconds"] * 1e3 * profile.boost_mhz / row["problem"]["steps"] / waves)


def closeness(rows: list[dict[str, Any]], cycles: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The best time of the same request over each row's own."""
    shapes = [tuple(row["problem"][name] for name in ("heads", "head_dim", "batch")) for row in rows]
    best = {shape: min(c for s, c in zip(shapes, cycles, strict=True) if s == shape) for shape in shapes}
    return np.array([best[shape] for shape in shapes]) / cycles


def counted(row: dict[str, Any], profile: HardwareProfile) -> dict[str, float]:
    """How often each constant counts in a step, on the busiest sub-partition."""
    values, parameters = row["values"], row["parameters"]
    blocks = min(values.get("blocks_per_sm", 1), -(-values["blocks"] // profile.sm_count))
    warps = -(-values["warps"] * blocks // 4)
    tiles = values["m_tiles"] * values["n_tiles"]
    depth, chains = parameters["warp_k_tiles"], parameters["mma_chains"]
    return {
        "step": 1,
        "block": parameters.get("cluster", 0),
        "received_kib": values.get("received_bytes", 0) * blocks / 1024,
        "round": parameters.get("receive_rounds", 1) - 1,
        "product": depth * max(tiles * warps * PRODUCT_CYCLES, LATENCY_CYCLES / chains) / PRODUCT_CYCLES,
        "product_of_warp": depth * tiles,
        "join": (chains - 1) * 4 * tiles * warps,
        "group": -(-values["groups"] * blocks // 4),
        "warp": warps,
        "warp_group": values["warp_groups"],
        "smem_kib": values["weight_bytes"] * blocks / 1024,
        "split": parameters["k_splits"] > 1,
    }


if __name__ == "__main__":
    sys.exit(main())
