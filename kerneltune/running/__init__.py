"""Launching, verifying and timing kernels."""
