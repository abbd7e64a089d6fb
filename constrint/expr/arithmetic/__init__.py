"""Arithmetic functions, one definition each; `base` says what a definition holds."""
