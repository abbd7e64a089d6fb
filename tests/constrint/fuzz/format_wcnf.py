"""Weighted CNF."""

from __future__ import annotations

from fuzz.harness import corpus
from fuzz.linear_texts import NUMBERS, format_for

WORDS = ("0", "h", "h 1 0", "p wcnf 3 1 5", "-3", "c x", "3 1 -2 0", "99999999999", *NUMBERS)
FORMAT = format_for("wcnf", tuple(one.decode() for one in corpus("wcnf")), WORDS)
