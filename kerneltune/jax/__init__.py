"""Recurrent layers for JAX on the solved kernels, with gradients.

    import jax
    from kerneltune.jax import LSTM

    layer = LSTM(features=512)
    parameters = layer.init(jax.random.key(0), x)        # x [T, B, 512]
    last, output = layer.apply(parameters, x)            # [2, B, 1, 512], [T, B, 512]

On a GPU, XLA calls the kernels on its own stream and memory. Elsewhere the same recurrence runs by lax.scan.
"""

from kerneltune.jax.recurrence import recurrence

__all__ = ["GRU", "LSTM", "RecurrentLayer", "recurrence", "sLSTM"]


def __getattr__(name: str) -> object:
    """The layers, imported on first use: they need flax."""
    if name in __all__:
        from kerneltune.jax import layers

        return getattr(layers, name)
    raise AttributeError(f"module 'kerneltune.jax' has no attribute '{name}'")
