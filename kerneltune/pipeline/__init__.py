"""Compilation and measurement at the same time: children that compile, children that measure."""
