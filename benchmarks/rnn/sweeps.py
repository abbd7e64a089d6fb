"""The sweeps of peers.py: shapes and contenders. Needs no torch."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import flashrnn_times

OURS, OURS_WITH_INPUT = "ours", "ours with W x"
CUDNN, LOOP, COMPILED = "cuDNN with W x", "PyTorch loop", "compiled loop"
FLASHRNN = "FlashRNN"
CUDNN_CELLS = ("lstm", "gru", "elman")


@dataclass(frozen=True)
class Shape:
    """One point of a sweep."""

    sweep: str
    cell: str
    heads: int
    dim: int
    batch: int
    steps: int
    dtype: str

    @property
    def label(self) -> str:
        return f"{self.cell} {self.heads}x{self.dim} B={self.batch} T={self.steps} {self.dtype}"

    @property
    def recurrent_bytes(self) -> int:
        """Bytes of R, of which an LSTM has four matrices."""
        gates = {"lstm": 4, "slstm": 4, "gru": 3}.get(self.cell, 1)
        return gates * self.heads * self.dim**2 * 2

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def _cudnn() -> Iterator[Shape]:
    """One head, for comparison with cuDNN, which has no multi-head layers."""
    for dtype in ("fp16", "bf16"):
        for dim in (256, 512, 768, 1024):
            for batch in (16, 64):
                yield Shape("cudnn", "lstm", 1, dim, batch, 1024, dtype)
    for dim in (256, 512, 768, 1024):
        yield Shape("cudnn", "gru", 1, dim, 16, 1024, "fp16")


def _heads() -> Iterator[Shape]:
    """Head dimensions at 768 units in all, as in figure 2 of the FlashRNN paper."""
    for dim in (16, 32, 64, 128, 256, 384, 768):
        yield Shape("heads", "lstm", 768 // dim, dim, 16, 1024, "bf16")


def _batch() -> Iterator[Shape]:
    """Batch sizes, as in figure 3."""
    for heads, dim in ((12, 64), (1, 768)):
        for batch in (2, 4, 8, 16, 32, 64, 128, 256):
            yield Shape("batch", "lstm", heads, dim, batch, 1024, "bf16")


def _steps() -> Iterator[Shape]:
    """Numbers of steps, as in figure 4."""
    for heads, dim in ((12, 64), (1, 768)):
        for steps in (256, 512, 1024, 2048):
            yield Shape("steps", "lstm", heads, dim, 16, steps, "bf16")


def _large() -> Iterator[Shape]:
    """The largest heads, whose R fits on no GPU's chip."""
    for dim in (512, 1024, 2048, 3072, 4096, 8192):
        yield Shape("large", "lstm", 1, dim, 16, 1024, "bf16")


def _table() -> Iterator[Shape]:
    """The rows of the README's and the issues' tables, including FlashRNN's."""
    for heads, dim in ((12, 64), (6, 128), (3, 256), (1, 512), (1, 768), (1, 1024), (1, 2048)):
        yield Shape("table", "lstm", heads, dim, 16, 1024, "bf16")
    for heads, dim in ((12, 64), (1, 768)):
        yield Shape("table", "lstm", heads, dim, 64, 1024, "bf16")
    for heads, dim in ((48, 16), (24, 32)):
        yield Shape("table", "lstm", heads, dim, 16, 1024, "bf16")


def _cells() -> Iterator[Shape]:
    """The cells other than the LSTM."""
    for heads, dim in ((12, 64), (3, 256), (1, 768)):
        for cell in ("lstm", "gru", "slstm", "elman"):
            yield Shape("cells", cell, heads, dim, 16, 1024, "bf16")


SWEEPS = {
    "table": _table,
    "cudnn": _cudnn,
    "heads": _heads,
    "batch": _batch,
    "steps": _steps,
    "large": _large,
    "cells": _cells,
}
# The order of measurement if time is short: ours and cuDNN before the loops.
ORDER = (OURS, OURS_WITH_INPUT, CUDNN, LOOP, COMPILED, FLASHRNN)
# The contenders of a sweep; cuDNN only for one head.
CONTENDERS = {
    "table": (OURS, OURS_WITH_INPUT, FLASHRNN),
    "cudnn": (OURS, OURS_WITH_INPUT, CUDNN),
    "heads": (OURS, OURS_WITH_INPUT, CUDNN, LOOP, COMPILED),
    "batch": (OURS, OURS_WITH_INPUT, CUDNN, LOOP, COMPILED),
    "steps": (OURS, OURS_WITH_INPUT, CUDNN, LOOP, COMPILED),
    "large": (OURS, CUDNN, LOOP),
    "cells": (OURS, OURS_WITH_INPUT, CUDNN),
}


@dataclass(frozen=True)
class Unit:
    """A shape measured by one contender: the unit of measuring, storing and resuming."""

    shape: Shape
    who: str

    @property
    def key(self) -> tuple[Any, ...]:
        return (*self.shape.to_json().values(), self.who)


def units(sweeps: list[str], contenders: tuple[str, ...] = ORDER) -> list[Unit]:
    """Everything to measure: sweep by sweep; in each sweep ours and cuDNN first."""
    found = []
    for sweep in sweeps:
        for who in ORDER:
            if who in contenders and who in CONTENDERS[sweep]:
                found += [Unit(shape, who) for shape in SWEEPS[sweep]() if can(who, shape)]
    return found


def words_of(known: Collection[str]) -> Callable[[str], list[str]]:
    """The type of an option with known words, separated by commas."""

    def words(text: str) -> list[str]:
        found = text.split(",")
        if unknown := [word for word in found if word not in known]:
            raise argparse.ArgumentTypeError(f"unknown {', '.join(unknown)}: of {', '.join(known)}")
        return found

    return words


def can(who: str, shape: Shape) -> bool:
    """Whether a contender supports this shape."""
    if who == CUDNN:
        return shape.heads == 1 and shape.cell in CUDNN_CELLS
    if who in (LOOP, COMPILED):
        return shape.cell == "lstm"
    if who == FLASHRNN:
        return shape.cell == "lstm" and (shape.heads, shape.dim, shape.batch) in flashrnn_times.FUSED
    return True


def expected_seconds(unit: Unit) -> float:
    """Upper estimate of a unit's time on an H100, including all runs and compilations.

    FlashRNN's compilations are not included: flashrnn_library.py does them ahead.
    """
    large = 30.0 * (unit.shape.dim / 8192) ** 2  # random numbers for R
    loops = 2.0 + 12.0 * unit.shape.steps / 1024
    return large + {LOOP: loops, COMPILED: 60.0 + loops, FLASHRNN: 30.0}.get(unit.who, 12.0)
