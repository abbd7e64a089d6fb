"""Restarts by Luby's sequence; stretches that assume a good objective.

In an optimisation, stretches of two kinds alternate. One searches for better solutions, and proves that there
is none. The other begins each descent with the decision that the objective lies close to its proven bound.
Where that is refuted, analysis learns a better bound, and the next descent assumes twice as much; where it is
not refuted in a whole stretch, the next one assumes less. A stretch that raises no bound makes the other kind
longer. It is the lower-bounding half of core-guided search, on the objective's own bound (as Gange, Berg,
Demirović and Stuckey, "Core-guided and core-boosted search for CP", CPAIOR 2020, without new variables).
"""

from __future__ import annotations

from constrint.learning.follow import change_turn
from constrint.learning.layout import (
    ABOVE,
    BEGUN_AT,
    BELOW,
    CONFLICTS,
    GOAL,
    IS_BELOW,
    LEAST_ABOVE,
    LONGEST_ABOVE,
    NOTHING,
    RESTART_AT,
    RESTART_UNIT,
    RESTARTS,
    SIDE_AT,
    WITHIN,
    Learner,
    learn_compilable,
)
from constrint.learning.trail import back_to

MOST_WITHIN = 1 << 40  # the greatest distance from the proven bound that is assumed


@learn_compilable
def luby(i: int) -> int:
    """The i-th number, from 1, of Luby's sequence 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8."""
    while True:
        power = 1
        while power - 1 < i:
            power *= 2
        if power - 1 == i:
            return power // 2
        i -= power // 2 - 1


@learn_compilable
def change_side(ls: Learner) -> None:
    """End a stretch, and begin one of the other kind."""
    scalar = ls.scalar
    bound = ls.bound[scalar[GOAL]]
    if scalar[IS_BELOW] == 0:
        scalar[IS_BELOW] = 1
        scalar[BEGUN_AT] = bound
        scalar[SIDE_AT] = scalar[CONFLICTS] + scalar[BELOW]
        return
    scalar[IS_BELOW] = 0
    scalar[WITHIN] //= 4  # not refuted to the end
    if bound > scalar[BEGUN_AT]:
        scalar[ABOVE] = scalar[LEAST_ABOVE]
    else:
        scalar[ABOVE] = min(2 * scalar[ABOVE], scalar[LONGEST_ABOVE] * scalar[LEAST_ABOVE])
    scalar[SIDE_AT] = scalar[CONFLICTS] + scalar[ABOVE]


@learn_compilable
def restart(ls: Learner) -> None:
    """Return to the root, and set the next restart."""
    scalar = ls.scalar
    back_to(ls, 0)
    scalar[RESTARTS] += 1
    change_turn(ls)
    scalar[RESTART_AT] = scalar[CONFLICTS] + scalar[RESTART_UNIT] * luby(scalar[RESTARTS])
    if scalar[GOAL] != NOTHING and scalar[CONFLICTS] >= scalar[SIDE_AT]:
        change_side(ls)
