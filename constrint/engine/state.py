"""The engine's state: a NamedTuple of integer arrays, and the constants that index and fill them.

Interpreted, every field is a list of Python integers (unbounded, so the same code is the exact path);
compiled, every field is an int64 numpy array. Kernels see no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

Cells: TypeAlias = list[int]
Function = TypeVar("Function", bound=Callable[..., Any])

# Every kernel, in order of definition: callees come before their callers, as numba must see them.
KERNELS: list[Callable[..., Any]] = []


def kernel(function: Function) -> Function:
    """Note a function that the compiled twin is to be made of; the function itself stays as it is."""
    KERNELS.append(function)
    return function


# Events of a variable, as bits of a mask.
LOWER = 1  # its least value rose
UPPER = 2  # its greatest value fell
BOUNDS = 3
STRIDE = 4  # its residue class narrowed
HOLES = 8  # a value between the bounds went
FIXED = 16  # one value is left
ANY = 15  # every change (a variable cannot be fixed without one of these)

BITS = 62  # bits of a word of a hole bitset; fits a positive int64
PRIORITIES = 3  # queues, the cheapest propagators first

# Indices into State.scalar.
TRAIL = 0
WORD_TRAIL = 1
STAMP = 2  # stamp of the current level
NEXT_STAMP = 3
LEVEL = 4
CHANGED = 5
HEAD = 6  # … HEAD + PRIORITIES - 1
TAIL = 9  # … TAIL + PRIORITIES - 1
NODES = 12
FAILURES = 13
PROPAGATIONS = 14
GOAL = 15  # 0 none, 1 minimise, 2 maximise
GOAL_VARIABLE = 16
HAS_BOUND = 17
BOUND = 18  # the objective must be at most (minimise) or at least (maximise) this
RANDOM = 19
HUGE = 20  # a bound at least this large stands for "no bound"
CAP = 21  # powers are computed up to this
PHASE = 22
ORDERED = 23  # this many leading entries of `branch` are decided in their order, the rest smallest first
UNBOUNDED = 24  # the variable that search could not branch on
WIDER = 25  # 1 once a bound left the range that stands for all integers: failures since then prove nothing
SPENT = 26  # propagations at the present node
PATIENCE = 27  # a node that takes more of them is split before its fixpoint: its bounds may be creeping
SETTLED = 28  # 1: running the present constraint again at once would change nothing
SCALARS = 29

# Phases: what `run` does next.
PROPAGATE = 0
BACKTRACK = 1

# Outcomes of `run`.
SOLUTION = 0
EXHAUSTED = 1
PAUSED = 2
FULL = 3
NEEDS_BOUND = 4

# Decisions.
AT_MOST = 0
AT_LEAST = 1
EQUAL = 2

# Value rules; `branching` names them.
LEAST = 0
GREATEST = 1
LOWER_HALF = 2
UPPER_HALF = 3
ANY_VALUE = 4


class State(NamedTuple):
    """All that the engine knows; docs/constrint-engine.md tables every array."""

    lo: Cells
    hi: Cells
    step: Cells
    stamp: Cells
    hole: Cells
    base: Cells
    words: Cells
    word_stamp: Cells
    dirty: Cells
    changed: Cells
    watch_start: Cells
    watch_constraint: Cells
    watch_mask: Cells
    kind: Cells
    start: Cells
    priority: Cells
    idempotent: Cells
    queued: Cells
    queue: Cells
    args: Cells
    trail_variable: Cells
    trail_lo: Cells
    trail_hi: Cells
    trail_step: Cells
    trail_stamp: Cells
    trail_word: Cells
    trail_bits: Cells
    trail_word_stamp: Cells
    level_trail: Cells
    level_words: Cells
    level_stamp: Cells
    level_variable: Cells
    level_decision: Cells
    level_value: Cells
    level_creeps: Cells
    branch: Cells
    branch_value: Cells
    degree: Cells
    sparse: Cells
    scalar: Cells
