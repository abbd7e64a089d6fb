"""The state of annealing: arrays of integers, for Python and for machine code.

Functions compute variables from others: decided variables have values, and a change is passed on from
function to function, each after all that it depends on. A function's value should lie between its ends, or,
where the lower end is above the upper one, differ from the lower one.

All that a move changes is in one array, `cell`: values of variables, totals of functions, and counters of
values. So a move is undone by a list of places and what was there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from constrint.store.state import Scalars

PART = "annealing"  # of the machine code

# Kinds of functions, by the total of their terms, or by their arguments.
SUM = 0  # the total
NOT_ABOVE = 1  # 1 if the total is not above 0, else 0
EQUAL = 2  # 1 if the total is 0, else 0
NUMBER = 3  # the number at the total's place of `parts`
SIZE = 4  # the absolute value of the total
HIGHEST = 5  # the greatest argument
LOWEST = 6  # the least argument
PRODUCT = 7  # the product of the arguments
CHOSEN = 8  # the argument, behind the first, that the first says
OF_ARGUMENTS = (HIGHEST, LOWEST, PRODUCT, CHOSEN)

# Kinds of terms: how a variable changes the total of a function.
FACTOR = 0  # by `a` times its change
HIT = 1  # by `a` as it takes the value `b`
COUNTED = 2  # by one for each other variable of which `a * value + b` is the same
ARGUMENT = 3  # not at all

if TYPE_CHECKING:

    class AnnealedScalar(int):
        """The name of a cell of `Annealed.scalar`."""

else:
    AnnealedScalar = int  # so that machine code has plain numbers

# Places in `scalar`.
RANDOM, WORK, PENDING, TRAIL, VIOLATION, GOAL, SIGN, PENALTY = map(AnnealedScalar, range(8))
TEMPERATURE, HOTTEST, STAGE, MOVES_LEFT, MOVES_OF_STAGE, STAGES = map(AnnealedScalar, range(8, 14))
BEST, HAS_BEST, DUE, IS_FEASIBLE, MOVES, IS_BETTER = map(AnnealedScalar, range(14, 20))
PENALTY_LIMIT, STAGE_LIMIT = map(AnnealedScalar, range(20, 22))
SCALARS = 22
UNLIMITED = 1 << 60  # the size of an end that is none
UNIT = 1024  # of temperatures, and of the numbers of `chance`

Cells = list[int]


class Annealed(NamedTuple):
    """The state.

    Attributes:
        scalar: State of the random numbers, work; functions that are due and cells that are on the trail; the
            sum of violations, the objective's variable (negative: none), 1 to minimise or -1, the cost of a
            violation; temperature, that at the beginning, stage, moves left in it, moves of a stage, number
            of stages; cost of the best solution, whether there is one, whether it is to be told, whether this
            cooling had a point without violations, moves, whether this cooling had a better solution; the
            greatest cost of a violation, most moves of a stage.
        cell: Values, totals, counters.
        first: For each variable, its first term; one more for the end.
        target: The function of each term.
        kind_of_term: Its kind.
        a: Its first number.
        b: Its second number.
        at: For `COUNTED` terms, the place of the counter of 0.
        kind: The kind of each function.
        is_opposite: 1 if its value is 1 minus what its kind says.
        place: The place of its total.
        out: The variable that it computes.
        low: The lower end of its value.
        high: The upper end.
        begin: Its first place in `argument` or in `parts`.
        end: The place behind its last.
        argument: Variables.
        parts: Numbers.
        due: A heap of functions to compute anew; those of least number come first.
        is_due: 1 for each of them, else 0.
        trail_place: Cells that the present move changed.
        trail_value: What was there.
        decided: The variables that moves change.
        least: The least value of each of these.
        most: Its greatest value.
        holes: Where `inside` says which values of its range are in its domain; negative: all are.
        inside: 1 for a value in the domain, else 0.
        partners: For each of them, where its partners begin in `partner`.
        partners_end: The place behind the last.
        is_exchanged: 1 if it only exchanges values with its partners, else 0.
        partner: Places in `decided`.
        best: The values of `decided` in the best solution.
        chance: For a uniform random place, the negative logarithm of a uniform random number, times `UNIT`.
    """

    scalar: Scalars[AnnealedScalar]
    cell: Cells
    first: Cells
    target: Cells
    kind_of_term: Cells
    a: Cells
    b: Cells
    at: Cells
    kind: Cells
    is_opposite: Cells
    place: Cells
    out: Cells
    low: Cells
    high: Cells
    begin: Cells
    end: Cells
    argument: Cells
    parts: Cells
    due: Cells
    is_due: Cells
    trail_place: Cells
    trail_value: Cells
    decided: Cells
    least: Cells
    most: Cells
    holes: Cells
    inside: Cells
    partners: Cells
    partners_end: Cells
    is_exchanged: Cells
    partner: Cells
    best: Cells
    chance: Cells
