"""DIMACS CNF."""

from __future__ import annotations

from fuzz.harness import corpus
from fuzz.linear_texts import NUMBERS, format_for

WORDS = ("0", "p cnf 3 1", "-3", "c x", "%", "p cnf 99999999999 1", "99999999999", "p", *NUMBERS)
FORMAT = format_for("cnf", tuple(one.decode() for one in corpus("cnf")), WORDS)
