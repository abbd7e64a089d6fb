"""Recurrent layers and scans for PyTorch on solved kernels, with gradients.

    from kerneltune.torch import RNN, MinGRU, linear_recurrence

    layer = RNN("lstm", input_size=512, heads=12, head_dim=64).to("cuda", torch.bfloat16)
    output, last = layer(x)          # x [T, B, 512] -> output [T, B, 768], last states [2, B, 12, 64]

Tilings are solved and kernels compiled at the first call with a new shape, and kept. Kernels run on torch's
current stream, on torch's memory.
"""

from kerneltune.torch.diagonal import DiagonalGRU, DiagonalLSTM, DiagonalSLSTM, diagonal
from kerneltune.torch.launching import DeviceLauncher, Launcher, launcher
from kerneltune.torch.rnn import RNN, parameter_gradients, recurrence
from kerneltune.torch.scan import linear_recurrence
from kerneltune.torch.scan_layers import LinearRecurrence, MinGRU, MinimalBlock, MinLSTM

__all__ = [
    "RNN",
    "DeviceLauncher",
    "DiagonalGRU",
    "DiagonalLSTM",
    "DiagonalSLSTM",
    "Launcher",
    "LinearRecurrence",
    "MinGRU",
    "MinLSTM",
    "MinimalBlock",
    "diagonal",
    "launcher",
    "linear_recurrence",
    "parameter_gradients",
    "recurrence",
]
