"""Compilation of tilings: sources, compilers, reports, the register loop."""
