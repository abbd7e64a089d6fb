"""Kernel Tuner's call: `from kerneltune import kernel_tuner`, then `kernel_tuner.tune_kernel(…)`."""

from kerneltune.kernel_tuner import strategies as strategies
from kerneltune.kernel_tuner.interface import tune_kernel as tune_kernel
from kerneltune.kernel_tuner.running import run_kernel as run_kernel
from kerneltune.kernel_tuner.t1_files import tune_kernel_T1 as tune_kernel_T1
