"""What the learning search knows: a NamedTuple of integer arrays, and the constants that index them.

Every variable v has two *bounds* that only ever rise: number 2 v is its least value, and number 2 v + 1 is
the negated greatest one. An *atom* (b, k) says "bound b is at least k"; its negation is (b ^ 1, 1 - k).
Literals, decisions, premises and the members of clauses are all atoms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

Cells: TypeAlias = list[int]
Function = TypeVar("Function", bound=Callable[..., Any])

# Every kernel of the learning search, in order of definition; see `engine.state.kernel`.
LEARN_KERNELS: list[Callable[..., Any]] = []


def learn_kernel(function: Function) -> Function:
    """Note a function that the compiled twin is to be made of; the function itself stays as it is."""
    LEARN_KERNELS.append(function)
    return function


NOTHING = -1  # no entry, no clause, no literal

# Why a bound rose: 4 times a number plus one of these.
BY_CLAUSE = 0  # place of the clause in the arena
BY_TERMS = 1  # a propagator, whose condition holds
BY_CONTRAPOSITION = 2  # a propagator, whose condition cannot hold
DECISION = -1

# Kinds of propagators.
AT_MOST = 0  # [literal ->] sum of factor * bound <= limit, all factors positive
DIFFERENT = 1  # [literal ->] sum of factor * variable != limit
RESOURCE = 2  # tasks whose demands may not exceed a limit at any time
KERNEL = 3  # a constraint of the registry, by its own kernel

# A clause in the arena: a head and its atoms, two cells each.
SIZE = 0
LEVELS = 1  # decision levels it joined when it was learned; 0 for a clause of the model
USED = 2  # conflict that used it last
WATCH = 3  # first of its two watch nodes
HEAD_CELLS = 4

# Indices into Learner.scalar.
TRAIL = 0  # entries
NEXT = 1  # first entry not yet passed on
LEVEL = 2
QUEUE_HEAD = 3  # and 4: the cheap and the costly propagators
QUEUE_TAIL = 5  # and 6
ARENA = 7  # cells in use
WATCHES = 8  # watch nodes in use
HEAP = 9  # variables on the heap
INCREMENT = 10  # what a bump adds to an activity
CONFLICTS = 11
DECISIONS = 12
PROPAGATIONS = 13
LEARNED = 14  # clauses learned
KEPT = 15  # learned clauses in the arena
KEEP = 16  # reduce once so many are kept
RESTARTS = 17
RESTART_AT = 18  # number of conflicts at which to restart
HAS_SOLUTION = 19
MUST = 20  # bound that must rise to MUST_TO at the root before search goes on, or NOTHING
MUST_TO = 21
FAILED_BOUND = 22  # the atom that could not be made true, where a conflict is of that form
FAILED_TO = 23
FAILED_WHY = 24  # reason
PREMISES = 25  # how many atoms `premise_*` hold
OPEN = 26  # entries of the present level that analysis still has to resolve
LITERALS = 27  # members of the clause under construction
STAMP = 28  # of `seen` and of `level_seen`
BUDGET = 29  # propagations until the next pause
IS_LOGGED = 30  # 1 where every clause that is learned is written to the log
LOG = 31  # cells of the log in use
FAULT = 32  # 1 once a kernel was to run in a twin that was compiled without them
SCALARS = 33

# Outcomes of `run`.
SOLUTION = 0
EXHAUSTED = 1
PAUSED = 2
FULL = 3
BROKEN = 4  # the twin is not the one that this problem needs: nothing that it did counts


class Learner(NamedTuple):
    """All that the learning search knows; docs/constrint-learn.md tables every array."""

    bound: Cells
    root: Cells
    top: Cells
    plain: Cells
    tier: Cells
    trail_bound: Cells
    trail_old: Cells
    trail_new: Cells
    trail_before: Cells
    trail_why: Cells
    trail_level: Cells
    window_begin: Cells
    window_end: Cells
    seen: Cells
    need: Cells
    known: Cells
    level_start: Cells
    level_seen: Cells
    kind: Cells
    start: Cells
    literal: Cells
    literal_at: Cells
    limit: Cells
    term: Cells
    factor: Cells
    wake_start: Cells
    wake: Cells
    wake_fixed: Cells
    queued: Cells
    queue: Cells
    arena: Cells
    watch_head: Cells
    watch_next: Cells
    watch_key: Cells
    watch_clause: Cells
    premise_bound: Cells
    premise_at: Cells
    clause_entry: Cells
    strongest: Cells
    lifted: Cells
    stack: Cells
    activity: Cells
    heap: Cells
    place: Cells
    phase: Cells
    best: Cells
    rule: Cells
    when_true: Cells
    when_false: Cells
    log: Cells
    room: Cells
    scalar: Cells
