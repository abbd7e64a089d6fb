"""Recurrent layers and scans for PyTorch on solved kernels, with gradients.

    from kerneltune.torch import LSTM, convert

    layer = LSTM(512, 768, num_layers=2).to("cuda", torch.bfloat16)      # as torch.nn.LSTM
    output, (h, c) = layer(x)        # x [T, B, 512] -> output [T, B, 768], h and c [2, B, 768]
    model = convert(model)           # every torch.nn.LSTM, GRU and RNN in it becomes one of these

Tilings are solved and kernels compiled at the first call with a new shape, and kept. Kernels run on torch's
current stream, on torch's memory.
"""

from kerneltune.torch.any_cell import Recurrent
from kerneltune.torch.convert import convert
from kerneltune.torch.diagonal import diagonal
from kerneltune.torch.headwise import HeadwiseRNN
from kerneltune.torch.launching import DeviceLauncher, Launcher, launcher, prepare
from kerneltune.torch.layers import GRU, LSTM, RNN, sLSTM
from kerneltune.torch.native import native
from kerneltune.torch.rnn import parameter_gradients, recurrence
from kerneltune.torch.scan import linear_recurrence, scan
from kerneltune.torch.scan_layers import (
    DiagonalGRU,
    DiagonalLSTM,
    DiagonalSLSTM,
    LinearRecurrence,
    MinGRU,
    MinimalBlock,
    MinLSTM,
    ScanLayer,
)

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "DeviceLauncher",
    "DiagonalGRU",
    "DiagonalLSTM",
    "DiagonalSLSTM",
    "HeadwiseRNN",
    "Launcher",
    "LinearRecurrence",
    "MinGRU",
    "MinLSTM",
    "MinimalBlock",
    "Recurrent",
    "ScanLayer",
    "convert",
    "diagonal",
    "launcher",
    "linear_recurrence",
    "native",
    "parameter_gradients",
    "prepare",
    "recurrence",
    "sLSTM",
    "scan",
]
