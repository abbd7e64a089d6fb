"""Runs kernels on the CPU: their own sources, compiled as C++, on an emulated GPU."""
