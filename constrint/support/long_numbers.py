"""Numbers in messages."""

from __future__ import annotations

WRITTEN_BITS = 64  # bits of a number that is written out


def written(number: int) -> str:
    """A number for a message, long ones by their magnitude: Python writes no more than 4300 digits."""
    if number.bit_length() <= WRITTEN_BITS:
        return f"{number:,}"
    return f"{'-' if number < 0 else ''}2^{number.bit_length() - 1} and more"


def counted(number: int, what: str) -> str:
    """A number of things, such as `1 node`, `1,200 nodes` and `2 entries`."""
    if number != 1:
        what = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number:,} {what}"
