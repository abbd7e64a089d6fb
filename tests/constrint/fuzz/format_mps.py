"""The MPS format."""

from __future__ import annotations

from fuzz.harness import corpus
from fuzz.linear_texts import NUMBERS, format_for

WORDS = (
    "x",
    "ENDATA",
    "ROWS",
    " E q",
    "BOUNDS",
    " FR B x",
    " SC B x 3",
    "RANGES",
    " R c1 -3",
    "'MARKER'",
    "QUADOBJ",
    "* c",
    " BV B x",
    " x c1 1",
    *NUMBERS,
)
FORMAT = format_for("mps", tuple(one.decode() for one in corpus("mps")), WORDS)
