"""Measuring kernels that users bring, in a child process that outlives candidates."""
