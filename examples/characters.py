"""A character model of stacked minimal blocks: convolution, minGRU (or minLSTM), MLP.

    python examples/characters.py                                  # its own source, on a CPU, seconds
    python examples/characters.py --text book.txt --device cuda --size 384 --steps 2000 --length 256

Prints the loss in nats a character on the last tenth of the text, which is not trained on, before and after.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from kerneltune.torch import LinearRecurrence, MinGRU, MinimalBlock, MinLSTM

LAYERS = {"mingru": MinGRU, "minlstm": MinLSTM, "linear": LinearRecurrence}


class CharacterModel(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """Logits of the next character, `[B, T, characters]`, from characters `[B, T]`."""

    def __init__(self, characters: int, size: int, blocks: int, layer: Any) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(characters, size)
        self.blocks = torch.nn.Sequential(*(MinimalBlock(size, layer) for _ in range(blocks)))
        self.norm = torch.nn.LayerNorm(size)
        self.out = torch.nn.Linear(size, characters)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        """Logits of the next characters."""
        logits: torch.Tensor = self.out(self.norm(self.blocks(self.embedding(text))))
        return logits


def drawn(text: torch.Tensor, batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pieces of the text, and each one character on."""
    starts = torch.randint(0, len(text) - length - 1, (batch,)).tolist()
    return tuple(
        torch.stack([text[start + ahead : start + ahead + length] for start in starts]) for ahead in (0, 1)
    )


def loss_of(model: CharacterModel, pair: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Mean cross-entropy of the next characters."""
    return functional.cross_entropy(model(pair[0]).flatten(0, 1).float(), pair[1].flatten())


def trained(options: argparse.Namespace) -> tuple[float, float, float]:
    """Losses on text that was not trained on, before and after, and seconds a step."""
    torch.manual_seed(options.seed)
    text = options.text.read_text(encoding="utf-8")
    alphabet = {character: number for number, character in enumerate(sorted(set(text)))}
    codes = torch.tensor([alphabet[character] for character in text], device=options.device)
    kept = len(codes) * 9 // 10
    model = CharacterModel(len(alphabet), options.size, options.blocks, LAYERS[options.layer])
    model = model.to(options.device, getattr(torch, options.dtype))
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate)
    held_out = drawn(codes[kept:], options.batch, min(options.length, len(codes) - kept - 2))
    with torch.no_grad():
        before = loss_of(model, held_out).item()
    seconds = 0.0
    for step in range(options.steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of(model, drawn(codes[:kept], options.batch, options.length))
        loss.backward()
        optimizer.step()
        now = loss.item()
        seconds += time.perf_counter() - begin if step >= options.steps // 2 else 0.0
        if step % max(1, options.steps // 5) == 0:
            print(f"step {step}: {now:.3f} nats a character", flush=True)
    with torch.no_grad():
        after = loss_of(model, held_out).item()
    return before, after, seconds / max(1, options.steps - options.steps // 2)


def main() -> None:
    """Train and say how it went."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", type=Path, default=Path(__file__), help="what to learn, UTF-8")
    parser.add_argument("--layer", choices=sorted(LAYERS), default="mingru")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", help="float32 or bfloat16")
    parser.add_argument("--size", type=int, default=32, help="features")
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=64, help="characters of a piece")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    before, after, seconds = trained(parser.parse_args())
    print(f"not trained on: {before:.3f} -> {after:.3f} nats a character; {1e3 * seconds:.2f} ms a step")


if __name__ == "__main__":
    main()
