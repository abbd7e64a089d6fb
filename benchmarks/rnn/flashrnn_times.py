"""Times of FlashRNN 1.0.5, from one earlier measurement, for comparison with new runs.

LSTM, bf16, T = 1024, ms, without W x. FlashRNN's device query was replaced: the published one does not build
with CUDA 13, which removed the fields that it reads.
"""

from __future__ import annotations

SOURCE = "FlashRNN 1.0.5 on one H100 SXM 80 GB, CUDA 13.0, torch 2.11"
DATE = "2026-11-20"
STEPS = 1024
DEVICE = "H100"  # part of the name of GPUs for which these times are comparable

# (heads, head dimension, batch): forward, forward + backward
FUSED = {
    (12, 64, 16): (2.753, 7.740),
    (6, 128, 16): (2.884, 8.175),
    (3, 256, 16): (3.392, 9.488),
    (1, 512, 16): (3.518, 10.495),
    (1, 768, 16): (4.556, 12.857),
    (1, 1024, 16): (6.279, 15.813),
    (1, 2048, 16): (25.07, 42.48),
    (12, 64, 64): (5.595, 19.308),
    (1, 768, 64): (15.205, 43.953),
}
ALTERNATING = {
    (12, 64, 16): (22.8, 46.5),
    (6, 128, 16): (19.8, 41.4),
    (3, 256, 16): (14.3, 40.2),
    (1, 768, 16): (18.9, 41.1),
}
# Forward only; heads larger than 128 do not fit its Triton kernel.
TRITON = {
    (48, 16, 16): (2.222, None),
    (24, 32, 16): (1.346, None),
    (12, 64, 16): (1.856, None),
    (6, 128, 16): (3.361, None),
}
VARIANTS: dict[str, dict[tuple[int, int, int], tuple[float, float | None]]] = {
    "FlashRNN fused": dict(FUSED),
    "FlashRNN alternating": dict(ALTERNATING),
    "FlashRNN Triton": dict(TRITON),
}


def comparable(gpu: str, cell: str, steps: int, dtype: str) -> bool:
    """Whether these times are comparable with a measurement."""
    return DEVICE in gpu and (cell, steps, dtype) == ("lstm", STEPS, "bf16")
