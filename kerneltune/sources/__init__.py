"""Kernels that users bring: their source, launch, arguments and space."""
