"""Kernel Tuner's call: `from kerneltune import kernel_tuner`, then `kernel_tuner.tune_kernel(…)`."""

from kerneltune.kernel_tuner.interface import tune_kernel as tune_kernel
