"""The C++ compiler that makes kernels run on the CPU."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

COMPILERS = (os.environ["CXX"],) if os.environ.get("CXX") else ("g++", "c++", "clang++")
FLAGS = ("-std=c++20", "-fno-strict-aliasing", "-Wno-unknown-pragmas", "-w")
# CUDA's qualifiers and built-in names are left for device.hpp.
PREPROCESSOR_FLAGS = ("-std=c++20", "-w", "-D__CUDA_ARCH__=900", "-E", "-x", "c++")
MACHINE_FLAGS = (*FLAGS, "-O2")
# Local arrays that a kernel forgets to set hold a pattern, not what was there by chance. Every access
# to memory is told to races.cpp, not to the compiler's own run-time library: that is not linked.
KERNEL_FLAGS = (*FLAGS, "-O1", "-ftrivial-auto-var-init=pattern", "-fsanitize=thread")


@cache
def compiler() -> str | None:
    """CXX or the first that is found, if it knows the flags (g++ from 12 on, clang++); else None."""
    for name in COMPILERS:
        path = shutil.which(name)
        if path and _compiles(path):
            return path
    return None


def _compiles(path: str) -> bool:
    command = [path, *KERNEL_FLAGS, "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(command, input=b"", capture_output=True, check=False).returncode == 0
