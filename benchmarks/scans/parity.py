"""Newton's method on trained cells: how many iterations the states of a model of parity take.

    python benchmarks/scans/parity.py --out scans_parity.json

A diagonal GRU and a diagonal LSTM learn the parity of all bits so far, at every step. Then sequences of T
steps are computed by Newton's method with 1, 2, 3, … iterations and by the steps in order; a channel is wrong
where a state is off by more than 1e-3. Beside them the same cells before training.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import environment

from kerneltune.torch import DiagonalGRU, DiagonalLSTM, diagonal
from kerneltune.torch.newton import newton

CHANNELS = 32
LENGTHS = (4, 8, 16, 32)  # of sequences, one after the other, while it learns
STEPS = 1024  # of the sequences that are judged
ITERATIONS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60)
WRONG = 1e-3


class Parity(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """Bits to the logit of their parity so far."""

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.layer = kind(2, CHANNELS)
        self.out = torch.nn.Linear(CHANNELS, 1)

    def forward(self, bits: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.layer(torch.nn.functional.one_hot(bits, 2).float())
        return self.out(hidden)[..., 0]


def batch_of(count: int, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Bits and the parity of all so far."""
    bits = torch.randint(0, 2, (count, steps))
    return bits, bits.cumsum(1) % 2


def trained(kind: Any, seconds: float) -> tuple[Parity, float]:
    """A model that has learnt, and its accuracy at the longest sequences that it has seen."""
    model = Parity(kind)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    begin, accuracy = time.monotonic(), 0.0
    for steps in LENGTHS:
        for _ in range(3000):
            bits, target = batch_of(64, steps)
            logits = model(bits)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target.float())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            accuracy = float(((logits > 0) == target).float().mean())
            if float(loss) < 0.02 or time.monotonic() - begin > seconds:
                break
    return model, accuracy


def judged(model: Parity, cell: str, bits: torch.Tensor, target: torch.Tensor) -> dict[str, Any]:
    """Channels that Newton's method has wrong, and what the model then says, by iterations."""
    layer = model.layer
    x = torch.nn.functional.one_hot(bits, 2).float()
    with torch.no_grad():
        inputs = tuple(layer.projection(x).chunk(layer.gates, dim=-1))
        exact, _ = diagonal(cell, *inputs, weights=layer.recurrent)

        def right(hidden: torch.Tensor) -> float:
            return float(((model.out(hidden)[..., 0] > 0) == target).float().mean())

        rows = []
        for count in ITERATIONS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = newton(cell, inputs, layer.recurrent, iterations=count, tolerance=0.0).hidden
            off = torch.nan_to_num((found - exact).abs(), nan=1e30).amax(1)
            rows.append(
                {
                    "iterations": count,
                    "wrong_channels": float((off > WRONG).float().mean()),
                    "largest_error": float(off.max()),
                    "accuracy": right(found),
                }
            )
            print(cell, rows[-1], flush=True)
        return {"exact_accuracy": right(exact), "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--seconds", type=float, default=120.0, help="of training, at most, for each cell")
    options = parser.parse_args()
    torch.manual_seed(1)
    models = []
    for kind in (DiagonalGRU, DiagonalLSTM):
        for learns in (False, True):
            model, accuracy = trained(kind, options.seconds) if learns else (Parity(kind), 0.5)
            bits, target = batch_of(8, STEPS)
            found = judged(model, kind.cell, bits, target)
            models.append({"cell": kind.cell, "trained": learns, "training_accuracy": accuracy} | found)
    result = {**environment("torch"), "command": " ".join(["python", *sys.argv])}
    result |= {"steps": STEPS, "channels": CHANNELS, "models": models}
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
