"""The LP format."""

from __future__ import annotations

from fuzz.harness import corpus
from fuzz.linear_texts import NUMBERS, format_for

WORDS = (
    "x",
    "free",
    "<=",
    ">=",
    "=",
    "c1:",
    "->",
    "[",
    "]",
    "^ 2",
    "\\ c",
    "Binary",
    "End",
    "st",
    "General",
    " z <= 3",
    "sos1",
    "3 x",
    "y",
    *NUMBERS,
)
FORMAT = format_for("lp", tuple(one.decode() for one in corpus("lp")), WORDS)
