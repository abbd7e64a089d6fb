"""Pseudo-Boolean constraints."""

from __future__ import annotations

from fuzz.harness import corpus
from fuzz.linear_texts import NUMBERS, format_for

WORDS = (
    ";",
    "~x1",
    "x9",
    "+3",
    "[4]",
    "soft: 3;",
    "min: +1 x1;",
    "max:",
    ">= 1",
    ">=",
    "<=",
    "* c",
    "x1 x2 x3",
    "=",
    *NUMBERS,
)
FORMAT = format_for("opb", tuple(one.decode() for one in corpus("opb")), WORDS)
