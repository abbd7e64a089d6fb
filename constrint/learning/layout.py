"""The state of the learning search: a NamedTuple of integer arrays, and the constants that index them.

Every variable v has two *bounds* that only ever rise: bound 2 v is its least value, bound 2 v + 1 the negated
greatest value. An *atom* (b, k) says "bound b is at least k"; its negation is (b ^ 1, 1 - k). Literals,
decisions, premises and members of clauses are all atoms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from constrint.store.state import Scalars

Cells: TypeAlias = list[int]
Function = TypeVar("Function", bound=Callable[..., object])

# Every function of the learning search; see `compilable`.
LEARN_COMPILABLE: list[Callable[..., object]] = []


def learn_compilable(function: Function) -> Function:
    """Register a function for compilation, and return it unchanged."""
    LEARN_COMPILABLE.append(function)
    return function


PART = "learn"  # its part of the machine code

NOTHING = -1  # no entry, no clause, no literal

# The reason of a bound: 4 times a number plus one of these.
BY_CLAUSE = 0  # place of the clause in the arena
BY_TERMS = 1  # a propagator whose condition holds
BY_CONTRAPOSITION = 2  # a propagator whose condition cannot hold
DECISION = -1

# Kinds of propagators.
AT_MOST = 0  # [literal ->] sum of factor * bound <= limit, all factors positive
DIFFERENT = 1  # [literal ->] sum of factor * variable != limit
RESOURCE = 2  # tasks whose demands never exceed a limit
PROPAGATOR = 3  # a constraint of the registry, with its own propagator
CIRCUIT = 4  # literals of arcs that form one cycle; it may leave out nodes where the limit is 1
EXTREME = 5  # some entry, whose condition holds, is at least the bound whose number is the limit
OPEN_RESOURCE = 6  # a resource with variables for durations, demands and the capacity
DISTINCT = 7  # a resource whose durations, demands and limit are 1: its starts differ

# A clause in the arena: a head and its atoms, two cells each.
SIZE = 0
LEVELS = 1  # least number of decision levels that it joined so far; 0 for a clause of the model
USED = 2  # the conflict that used it last
WATCH = 3  # first of its two watch nodes
ACTIVITY = 4  # as of that conflict
HEAD_CELLS = 5

if TYPE_CHECKING:

    class LearnScalar(int):
        """The name of a cell of `Learner.scalar`."""

        def __add__(self, other: int, /) -> LearnScalar: ...

else:
    LearnScalar = int  # so that machine code has plain numbers

# Indices into Learner.scalar.
TRAIL = LearnScalar(0)  # entries on the trail
NEXT = LearnScalar(1)  # first entry that is not propagated
LEVEL = LearnScalar(2)
QUEUE_HEAD = LearnScalar(3)  # and 4: the queues of cheap and costly propagators
QUEUE_TAIL = LearnScalar(5)  # and 6
ARENA = LearnScalar(7)  # used cells
WATCHES = LearnScalar(8)  # used watch nodes
HEAP = LearnScalar(9)  # number of variables on the heap
INCREMENT = LearnScalar(10)  # what a bump adds to an activity
CONFLICTS = LearnScalar(11)
DECISIONS = LearnScalar(12)
PROPAGATIONS = LearnScalar(13)  # runs of propagators, and bounds raised by clauses
LEARNED = LearnScalar(14)  # clauses learned
KEPT = LearnScalar(15)  # learned clauses in the arena
KEEP = LearnScalar(16)  # number of kept clauses at which to reduce
RESTARTS = LearnScalar(17)
RESTART_AT = LearnScalar(18)  # number of conflicts at which to restart
HAS_SOLUTION = LearnScalar(19)
MUST = LearnScalar(20)  # bound that must rise to MUST_TO at the root before search continues, or NOTHING
MUST_TO = LearnScalar(21)
FAILED_BOUND = LearnScalar(22)  # the atom that could not be made true, in conflicts of that form
FAILED_TO = LearnScalar(23)
FAILED_WHY = LearnScalar(24)  # reason
PREMISES = LearnScalar(25)  # number of atoms in `premise_*`
OPEN = LearnScalar(26)  # entries of the present level that analysis still has to resolve
LITERALS = LearnScalar(27)  # members of the clause under construction
STAMP = LearnScalar(28)  # of `seen` and of `level_seen`
BUDGET = LearnScalar(29)  # steps until the next pause: propagations, and what else takes as long as one
IS_LOGGED = LearnScalar(30)  # 1 if every learned clause is written to the log
LOG = LearnScalar(31)  # cells of the log in use
FAULT = LearnScalar(32)  # 1 if an inference cannot be explained
GOAL = LearnScalar(33)  # the bound of the objective that is proved, or NOTHING
IS_BELOW = LearnScalar(34)  # 1 in stretches that assume that the objective is close to that bound
WITHIN = LearnScalar(35)  # how close
BELOW = LearnScalar(36)  # conflicts of such a stretch
ABOVE = LearnScalar(37)  # conflicts of the present stretch of the other kind
LEAST_ABOVE = LearnScalar(38)
SIDE_AT = LearnScalar(39)  # number of conflicts at which the stretch ends
BEGUN_AT = LearnScalar(40)  # the proven bound when it began
JOINS = LearnScalar(41)  # stamp of `level_joined`
FOLLOWS = LearnScalar(42)  # 1 in a turn that follows the annotations
FOLLOWED = LearnScalar(43)  # conflicts of all such turns before the present one
FOLLOWS_SINCE = LearnScalar(44)  # number of conflicts when the present turn began
MEMBERS = LearnScalar(45)  # and 46: members of the clauses learned in turns of either kind, lately
COUNTED = LearnScalar(47)  # and 48: their number
INBOX = LearnScalar(49)  # cells of the inbox in use
TAKEN = LearnScalar(50)  # cells of it that are taken in
CONSULT_AT = LearnScalar(51)  # number of conflicts after which a node at rest consults a relaxation
# Settings.
RESTART_UNIT = LearnScalar(52)
LONGEST_ABOVE = LearnScalar(53)
TRIAL = LearnScalar(54)
LATELY = LearnScalar(55)
RARE = LearnScalar(56)
RECENT = LearnScalar(57)
CORE_LEVELS = LearnScalar(58)
MIDDLE_LEVELS = LearnScalar(59)
MOST_TRIED = LearnScalar(60)
LEAST_SHRUNK = LearnScalar(61)
WINDOWS_COST = LearnScalar(62)
MOST_SKIPPED = LearnScalar(63)
SCALARS = 64

# Outcomes of `run`.
SOLUTION = 0
EXHAUSTED = 1
PAUSED = 2
FULL = 3
BROKEN = 4  # an inference cannot be explained: discard the results
CONSULT = 5  # the relaxation is to be consulted, at a node at rest


class Learner(NamedTuple):
    """The arrays of the learning search; docs/constrint-learn.md has a table of all of them."""

    # Bounds
    bound: Cells
    root: Cells
    top: Cells
    plain: Cells
    tier: Cells
    # The trail, and what explanations mark on it
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
    block: Cells
    block_need: Cells
    # Levels
    level_start: Cells
    level_seen: Cells
    level_joined: Cells
    # Propagators, and their queues
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
    gain: Cells
    to_skip: Cells
    queue: Cells
    # Clauses, and their watches
    arena: Cells
    watch_head: Cells
    watch_next: Cells
    watch_key: Cells
    watch_clause: Cells
    # Explanations, and the clause that is learned
    premise_bound: Cells
    premise_at: Cells
    clause_entry: Cells
    strongest: Cells
    lifted: Cells
    stack: Cells
    # Ranking of the variables
    activity: Cells
    heap: Cells
    place: Cells
    # Values, and rules of decisions
    phase: Cells
    best: Cells
    rule: Cells
    when_true: Cells
    when_false: Cells
    follow_bound: Cells
    follow_at: Cells
    follow_rule: Cells
    group_end: Cells
    group_rule: Cells
    # What is passed on: the proof, clauses of others
    log: Cells
    inbox: Cells
    room: Cells
    scalar: Scalars[LearnScalar]
