"""Time of one training step on parity: an LSTM layer on this project's kernels beside a plain PyTorch loop.

    python examples/state_tracking/parity_time.py

The comparison of FlashRNN's paper (Pöppel et al. 2024), by hidden size; results go to parity_time.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import torch
from models import Model, made
from tasks import parity
from torch.nn import functional


def step_seconds(model: Model, tokens: torch.Tensor, answers: torch.Tensor, times: int) -> float:
    """The median time of forward and backward passes, by the host's clock."""
    found = []
    for _ in range(times + 2):
        if tokens.is_cuda:
            torch.cuda.synchronize()
        began = time.perf_counter()
        logits, _ = model(tokens)
        functional.cross_entropy(logits.flatten(0, 1).float(), answers.flatten()).backward()
        if tokens.is_cuda:
            torch.cuda.synchronize()
        found.append(time.perf_counter() - began)
    return statistics.median(found[2:])


def main() -> None:
    """Measure each size with both layers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 256, 768, 2048])
    parser.add_argument("--steps", type=int, default=256)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("parity_time.json"))
    options = parser.parse_args()
    task = parity().to(options.device)
    generator = torch.Generator(options.device).manual_seed(0)
    tokens, answers = task.drawn(options.batch, options.steps, generator)
    rows: list[dict[str, float]] = []
    device = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
    about = {"date": time.strftime("%Y-%m-%d"), "device": device, "torch": torch.__version__}
    about |= {"steps": options.steps, "batch": options.batch, "dtype": options.dtype, "unit": "ms"}
    for size in options.sizes:
        times = {}
        for name, count in (("LSTM", 9), ("loop", 3)):
            model = made(name, 2, 2, size, 1).to(options.device, getattr(torch, options.dtype))
            times[name] = step_seconds(model, tokens, answers, count)
            del model
        ratio = times["loop"] / times["LSTM"]
        milliseconds = {name: round(1e3 * seconds, 3) for name, seconds in times.items()}
        rows.append({"size": size, **milliseconds, "ratio": round(ratio, 1)})
        print(
            f"{size:6d} units: {rows[-1]['LSTM']:8.2f} ms, loop {rows[-1]['loop']:8.2f} ms, {ratio:.1f} times"
        )
        options.out.write_text(json.dumps({**about, "rows": rows}) + "\n", "utf-8")


if __name__ == "__main__":
    main()
