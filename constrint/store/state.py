"""The engine's state: a NamedTuple of integer arrays, and the constants that index and fill them.

Interpreted, every field is a list of Python integers: unbounded, so the same code is the exact path.
Compiled, every field is an array of int64. Functions decorated with `propagator` run on both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

Cells: TypeAlias = list[int]
Function = TypeVar("Function", bound=Callable[..., object])

# Every decorated function.
COMPILABLE: list[Callable[..., object]] = []


def compilable(function: Function) -> Function:
    """Register a function for compilation, and return it unchanged."""
    COMPILABLE.append(function)
    return function


def write(cells: Cells, first: int, values: Iterable[int]) -> None:
    """Write values into a field from a place on; arrays take no list in place of a slice."""
    for place, value in enumerate(values, first):
        cells[place] = value


# Events of a variable, as bits of a mask.
LOWER = 1  # its least value rose
UPPER = 2  # its greatest value fell
BOUNDS = 3
STRIDE = 4  # its residue class narrowed
HOLES = 8  # a value between the bounds went
FIXED = 16  # one value is left
ANY = 15  # every change: FIXED never comes without one of these

BITS = 62  # bits in a word of a bitset; a word fits a positive int64
PRIORITIES = 3  # number of queues; the cheapest propagators come first

Index = TypeVar("Index", bound=int, contravariant=True)


class Scalars(Protocol[Index]):
    """A field whose cells have names: only indices of its own type fit, so a wrong import is a type error."""

    def __getitem__(self, index: Index, /) -> int: ...

    def __setitem__(self, index: Index, value: int, /) -> None: ...


if TYPE_CHECKING:

    class StateScalar(int):
        """The name of a cell of `State.scalar`."""

        def __add__(self, other: int, /) -> StateScalar: ...

else:
    StateScalar = int  # so that machine code has plain numbers

# Indices into State.scalar.
TRAIL = StateScalar(0)
WORD_TRAIL = StateScalar(1)
STAMP = StateScalar(2)  # stamp of the current level
NEXT_STAMP = StateScalar(3)
LEVEL = StateScalar(4)
CHANGED = StateScalar(5)
HEAD = StateScalar(6)  # … HEAD + PRIORITIES - 1
TAIL = StateScalar(9)  # … TAIL + PRIORITIES - 1
NODES = StateScalar(12)
FAILURES = StateScalar(13)
PROPAGATIONS = StateScalar(14)
GOAL = StateScalar(15)  # 0 none, 1 minimise, 2 maximise
GOAL_VARIABLE = StateScalar(16)
HAS_BOUND = StateScalar(17)
BOUND = StateScalar(18)  # the objective must be at most this (minimise) or at least this (maximise)
RANDOM = StateScalar(19)
HUGE = StateScalar(20)  # a bound of at least this size means "no bound"
CAP = StateScalar(21)  # powers are computed up to this value
PHASE = StateScalar(22)
CULPRIT = StateScalar(23)  # the propagator that failed last; -1 if none
UNBOUNDED = StateScalar(24)  # the variable without finite bounds that search could not branch on
WIDER = StateScalar(25)  # 1 if a bound left the range of all integers: later failures prove nothing
SPENT = StateScalar(26)  # propagations at the present node
PATIENCE = StateScalar(27)  # a node that takes more propagations is split early: bounds may be creeping
SETTLED = StateScalar(28)  # 1: running the present propagator again at once would change nothing
WEIGHING = StateScalar(29)  # how `score` is updated: 0 (not at all), COUNT_FAILURES or COUNT_CHANGES
UNIT = StateScalar(30)  # the amount by which a change raises `score`
NOTED = StateScalar(31)  # top of the trail at the start of the present node
FAILURE_LIMIT = StateScalar(32)  # `run` returns CUT after this many failures; 0: no limit
FLOOR = StateScalar(33)  # search ends instead of leaving a level below this one
GUIDED = StateScalar(34)  # 1: the values of every solution are written to `phase`
HAS_PHASE = StateScalar(35)
ASKED_FROM = StateScalar(36)  # entries of `branch` from here on are decided by the caller (`run` returns ASK)
TO_DECIDE = StateScalar(37)  # the entry of `branch` that the caller is asked to decide
RECORDING = StateScalar(38)  # 1: refuted decisions are noted, for nogoods
REFUTED = StateScalar(39)  # number of refuted decisions
NOGOODS = StateScalar(40)  # number of paths that are kept
LEAVES = StateScalar(41)  # leaves of the tree that ranks `branch`, a power of two; 0: there is none
STALE = StateScalar(42)  # number of entries to rank again; -1: all of them
SCALARS = 43

# How `score` is updated.
COUNT_FAILURES = 1
COUNT_CHANGES = 2
LEAST_UNIT = 1 << 10  # initial amount by which a change raises `score`

# Phases: what `run` does next.
PROPAGATE = 0
BACKTRACK = 1
DESCEND = 2  # apply the decision that the caller wrote into the level
RESTART = 3  # return to the root
RELAX = 4  # return to the root and fix the variables marked in `keep` to their values in `phase`

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


class State(NamedTuple):
    """The arrays of the engine's state; docs/constrint-engine.md has a table of all of them.

    They are in no records of their own: interpreted, `st.trail.lo[i]` takes 1.7 times as long as `st.lo[i]`.
    """

    # Domains
    lo: Cells
    hi: Cells
    step: Cells
    stamp: Cells
    hole: Cells
    holes: Cells
    base: Cells
    words: Cells
    word_stamp: Cells
    dirty: Cells
    changed: Cells
    # Propagators, and their queues
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
    # Trails
    trail_variable: Cells
    trail_lo: Cells
    trail_hi: Cells
    trail_step: Cells
    trail_holes: Cells
    trail_stamp: Cells
    trail_word: Cells
    trail_bits: Cells
    trail_word_stamp: Cells
    # Levels
    level_trail: Cells
    level_words: Cells
    level_stamp: Cells
    level_variable: Cells
    level_decision: Cells
    level_value: Cells
    level_creeps: Cells
    level_refuted: Cells
    # Decision variables
    branch: Cells
    branch_value: Cells
    degree: Cells
    group_end: Cells
    group_rule: Cells
    score: Cells
    entry: Cells
    # Their ranking
    rank_group: Cells
    rank_size: Cells
    rank_share: Cells
    rank_tree: Cells
    stale: Cells
    is_stale: Cells
    credit_start: Cells
    credit_entry: Cells
    # Values of solutions
    phase: Cells
    keep: Cells
    # Refuted decisions, and nogoods
    refuted_variable: Cells
    refuted_decision: Cells
    refuted_value: Cells
    refuted_level: Cells
    path_start: Cells
    path_variable: Cells
    path_decision: Cells
    path_value: Cells
    path_refuted: Cells
    scalar: Scalars[StateScalar]
