"""Recurrent layers, scans and diagonal cells for JAX on the solved kernels, with gradients.

    import jax
    from kerneltune.jax import LSTM, MinGRU, linear_recurrence

    layer = LSTM(features=512)
    parameters = layer.init(jax.random.key(0), x)        # x [T, B, 512]
    last, output = layer.apply(parameters, x)            # [2, B, 1, 512], [T, B, 512]
    h, last = linear_recurrence(a, b)                    # [B, T, D] each; last is [B, D], float32

On a GPU, XLA calls the kernels on its own stream and memory. Elsewhere the same is computed by JAX's own
operations.
"""

from kerneltune.jax.recurrence import recurrence
from kerneltune.jax.scans import diagonal, linear_recurrence, scan

_LAYERS = ("GRU", "LSTM", "RecurrentLayer", "sLSTM")
_SCANS = ("DiagonalGRU", "DiagonalLSTM", "DiagonalSLSTM", "LinearRecurrence", "MinGRU", "MinLSTM")
__all__ = [
    "GRU",
    "LSTM",
    "DiagonalGRU",
    "DiagonalLSTM",
    "DiagonalSLSTM",
    "LinearRecurrence",
    "MinGRU",
    "MinLSTM",
    "RecurrentLayer",
    "diagonal",
    "linear_recurrence",
    "recurrence",
    "sLSTM",
    "scan",
]


def __getattr__(name: str) -> object:
    """The layers, imported on first use: they need flax."""
    if name in _LAYERS:
        from kerneltune.jax import layers

        return getattr(layers, name)
    if name in _SCANS:
        from kerneltune.jax import scan_layers

        return getattr(scan_layers, name)
    raise AttributeError(f"module 'kerneltune.jax' has no attribute '{name}'")
