"""The state of a local search: arrays of integers, for Python and for machine code.

A row is a sum of functions of one variable each. It holds if the sum lies between its ends, or, where the
lower end is above the upper one, if the sum differs from the lower one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from constrint.store.state import Scalars

PART = "jumps"  # of the machine code
# Kinds of a function of a variable x.
PLAIN = 0  # factor * x
MEMBERS = 1  # a number for each of some values, else 0: `parts[first:second]` has pairs
TABLE = 2  # a number for each value from the least: `parts[first + x - least]`
THRESHOLD = 3  # `second` if x <= `first`, else 0

if TYPE_CHECKING:

    class JumpScalar(int):
        """The name of a cell of `Jumps.scalar`."""

else:
    JumpScalar = int  # so that machine code has plain numbers

# Places in `scalar`.
VIOLATED, RANDOM, STEPS, CHOSEN, WORK, HEAVIEST = map(JumpScalar, range(6))
ROWS_OF_STEP, VARIABLES_OF_ROW, VALUES_OF_WIDE = map(JumpScalar, range(6, 9))
WORK_OF_STEP, ANYWAY, SCATTERED = map(JumpScalar, range(9, 12))
SCALARS = 12
WIDTH = 128  # a variable of fewer values in its range is tried with all of them
UNLIMITED = 1 << 60  # the size of an end that is none

Cells = list[int]


class Jumps(NamedTuple):
    """The state.

    Attributes:
        scalar: Number of violated rows, state of the random numbers, steps, chosen value, work, weight at
            which all are halved; and the settings that moves read.
        value: The value of each variable.
        least: Its least value.
        most: Its greatest value.
        holes: Where `inside` says which values of its range are in its domain; negative: all are.
        inside: 1 for a value in the domain, else 0.
        first: For each variable, its first function; one more for the end.
        row: The row of each function.
        kind: Its kind.
        a: Its factor, or first place, or threshold.
        b: The place behind its last, or the number of a threshold.
        parts: Numbers of functions.
        begin: For each row, its first place in `member`; one more for the end.
        member: The variables of rows.
        low: The lower end of each row.
        high: Its upper end.
        weight: Its weight.
        total: Its sum.
        violated: The violated rows.
        place: The place of each row there; negative if it holds.
        changed: The step at which each variable changed last.
        score: The change of the weighted violation for each value of a variable that is tried.
    """

    scalar: Scalars[JumpScalar]
    value: Cells
    least: Cells
    most: Cells
    holes: Cells
    inside: Cells
    first: Cells
    row: Cells
    kind: Cells
    a: Cells
    b: Cells
    parts: Cells
    begin: Cells
    member: Cells
    low: Cells
    high: Cells
    weight: Cells
    total: Cells
    violated: Cells
    place: Cells
    changed: Cells
    score: Cells
