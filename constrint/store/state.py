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
CULPRIT = 23  # the constraint that failed last; -1 where it was none
UNBOUNDED = 24  # the variable that search could not branch on
WIDER = 25  # 1 once a bound left the range that stands for all integers: failures since then prove nothing
SPENT = 26  # propagations at the present node
PATIENCE = 27  # a node that takes more of them is split before its fixpoint: its bounds may be creeping
SETTLED = 28  # 1: running the present constraint again at once would change nothing
WEIGHING = 29  # how `score` learns: 0 not, COUNT_FAILURES or COUNT_CHANGES
UNIT = 30  # what a change counts
NOTED = 31  # top of the trail where the present node began
FAILURE_LIMIT = 32  # `run` returns CUT after this many failures; 0: never
FLOOR = 33  # search ends when it would leave a level below this one
GUIDED = 34  # 1: the values of every solution are noted in `phase`
HAS_PHASE = 35
ASKED_FROM = 36  # entries of `branch` from here on are decided by the caller (`run` returns ASK)
ASKED = 37  # the entry that `run` would decide
RECORDING = 38  # 1: refuted decisions are noted, for nogoods
REFUTED = 39  # how many are
NOGOODS = 40  # paths that are kept
SCALARS = 41

# How `score` learns.
COUNT_FAILURES = 1
COUNT_CHANGES = 2
LEAST_UNIT = 1 << 10  # what a change counts at first

# Phases: what `run` does next.
PROPAGATE = 0
BACKTRACK = 1
DESCEND = 2  # take the decision that the caller has written into the level
RESTART = 3  # go back to the root
RELAX = 4  # go back to the root and give the variables marked in `keep` their values of `phase`

# Outcomes of `run`.
SOLUTION = 0
EXHAUSTED = 1
PAUSED = 2
FULL = 3
NEEDS_BOUND = 4
CUT = 5
ASK = 6

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
MEDIAN = 5
AS_BEST = 6  # near the value in the best solution; the least before there is one
AS_BEST_OR_GREATEST = 7  # the same, but the greatest before

# Variable rules; `branching` names them.
BY_DEGREE = 0  # fewest values for what depends on it
IN_ORDER = 1
FEWEST = 2
MOST = 3
SMALLEST = 4
LARGEST = 5
MOST_CONSTRAINED = 6
OCCURRENCE = 7
REGRET = 8
BY_SCORE = 9  # fewest values for its score


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
    level_refuted: Cells
    branch: Cells
    branch_value: Cells
    degree: Cells
    group_end: Cells
    group_rule: Cells
    score: Cells
    entry: Cells
    credit_start: Cells
    credit_entry: Cells
    phase: Cells
    keep: Cells
    refuted_variable: Cells
    refuted_decision: Cells
    refuted_value: Cells
    refuted_level: Cells
    path_start: Cells
    path_variable: Cells
    path_decision: Cells
    path_value: Cells
    path_refuted: Cells
    sparse: Cells
    scalar: Cells
