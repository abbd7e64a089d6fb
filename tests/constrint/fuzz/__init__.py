"""Fuzzing of every format that constrint reads; `harness` says how to add one, `run` is the command."""
