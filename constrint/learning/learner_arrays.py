"""Building the arrays of the learning search from a `LearningNormalForm`, and growing those that it fills."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from constrint.engine.state_arrays import Box
from constrint.learning.analyse import MOST_VISITED
from constrint.learning.circuits import ROOM_OF_NODE
from constrint.learning.clauses import RANKS, attach
from constrint.learning.entries import Atom
from constrint.learning.follow import VARIABLE
from constrint.learning.heap import FIRST_INCREMENT, push
from constrint.learning.layout import (
    ABOVE,
    ARENA,
    AT_MOST,
    BELOW,
    CONSULT_AT,
    CORE_LEVELS,
    DIFFERENT,
    GOAL,
    HEAD_CELLS,
    INCREMENT,
    KEEP,
    LATELY,
    LEAST_ABOVE,
    LEAST_SHRUNK,
    LEVEL,
    LONGEST_ABOVE,
    MIDDLE_LEVELS,
    MOST_SKIPPED,
    MOST_TRIED,
    MUST,
    NOTHING,
    QUEUE_TAIL,
    RARE,
    RECENT,
    RESTART_AT,
    RESTART_UNIT,
    SCALARS,
    SIDE_AT,
    TRAIL,
    TRIAL,
    WATCHES,
    WINDOWS_COST,
    Cells,
    Learner,
    LearnScalar,
)
from constrint.learning.normal import LearningNormalForm
from constrint.learning.propagator_arrays import PropagatorArrays
from constrint.learning.resource import ROOM_OF_TASK
from constrint.propagators import Propagator
from constrint.settings import DEFAULT, LearningSettings
from constrint.store.state import Scalars
from constrint.support.deadline import check_deadline

LOG_CELLS = 10_000
NEVER_CONSULT = 1 << 60
WIDEST_EXPLANATION = 16  # cells for premises, for each bound beyond the first two
GROWING = {
    "trail": ("trail_bound", "trail_old", "trail_new", "trail_before", "trail_why", "trail_level"),
    "windows": ("window_begin", "window_end"),
    "marks": ("seen", "need", "known", "block", "block_need"),
    "clauses": ("arena",),
    "watches": ("watch_next", "watch_key", "watch_clause"),
    "levels": ("level_start", "level_seen", "level_joined"),
}


@dataclass(frozen=True, slots=True)
class Guide:
    """How search decides, by variable.

    Attributes:
        tier: Lower tiers are decided first.
        rule: `decide.AS_BEFORE`, or always the least or greatest value.
        phase: The value to try before there is a previous one.
        activity: The initial activity.
        followed: The entries of annotations: variable and value rule.
        groups: (end, variable rule) of each annotation's entries.
    """

    tier: Sequence[int]
    rule: Sequence[int]
    phase: Sequence[int]
    activity: Sequence[int]
    followed: Sequence[tuple[int, int]] = ()
    groups: Sequence[tuple[int, int]] = ()


def build(
    normal: LearningNormalForm,
    constraints: Sequence[Propagator],
    box: Box,
    guide: Guide,
    rules: LearningSettings = DEFAULT.learning,
) -> Learner:
    """Make the learner at the root with every propagator queued.

    Args:
        normal: The problem.
        constraints: The propagators to whose places `normal.propagators` refers.
        box: Root domains.
        guide: How to decide.
        rules: The settings.
    """
    n = len(box.lo)
    propagators = _propagators(normal, constraints, box)
    bound = [b for v in range(n) for b in (box.lo[v], -box.hi[v])]
    room = rules.first_trail + 4 * n
    cells = sum(HEAD_CELLS + 2 * len(clause) for clause in normal.clauses) + 20 * room
    watches = 2 * len(normal.clauses) + room
    ls = Learner(
        bound=bound,
        root=list(bound),
        top=[NOTHING] * (2 * n),
        plain=[int(box.step[v] == 1 and box.values[v] is None) for v in range(n)],
        tier=list(guide.tier),
        **{name: [0] * room for group in ("trail", "windows", "marks") for name in GROWING[group]},
        **{name: [0] * (2 * n + 4) for name in GROWING["levels"]},
        **propagators.arrays(2 * n),
        arena=[0] * cells,
        watch_head=[NOTHING] * (2 * n),
        watch_next=[0] * watches,
        watch_key=[0] * watches,
        watch_clause=[0] * watches,
        **_analysis_room(n, room),
        activity=list(guide.activity),
        heap=[0] * n,
        place=[-1] * n,
        phase=list(guide.phase),
        best=list(guide.phase),
        rule=list(guide.rule),
        when_true=[NOTHING] * n,
        when_false=[NOTHING] * n,
        **_annotations(normal, guide),
        log=[0] * (LOG_CELLS + 4 * n),
        inbox=[0] * rules.inbox_cells,
        room=[0] * _scratch(normal),
        scalar=_first_scalars(rules),
    )
    _tie_values(ls, propagators)
    for v in range(n):
        if v not in normal.replaced:
            push(ls, v)
    for clause in normal.clauses:
        check_deadline()
        if len(clause) > 1:
            add_clause(ls, clause)
    _queue_all(ls)
    return ls


def _propagators(normal: LearningNormalForm, constraints: Sequence[Propagator], box: Box) -> PropagatorArrays:
    """The propagators of a problem."""
    propagators = PropagatorArrays()
    for (condition, terms), limit in normal.at_most.items():
        check_deadline()
        propagators.at_most(condition, terms, limit)
    for condition, terms, limit in normal.different:
        propagators.different(condition, terms, limit)
    for tasks, capacity in normal.resources:
        propagators.resource(tasks, capacity)
    for tasks, capacity in normal.open_resources:
        propagators.open_resource(tasks, capacity)
    for arcs, kind in normal.circuits:
        propagators.circuit(arcs, kind)
    for z, entries in normal.extremes:
        propagators.extreme(z, entries)
    for place in normal.propagators:
        check_deadline()
        propagators.propagator(place, constraints[place], box)
    return propagators


def _annotations(normal: LearningNormalForm, guide: Guide) -> dict[str, Cells]:
    """The arrays of annotations; a literal that stands for a bound is that bound."""
    atoms = [normal.replaced.get(v, (2 * v, VARIABLE)) for v, _ in guide.followed]
    return {
        "follow_bound": [b for b, _ in atoms],
        "follow_at": [k for _, k in atoms],
        "follow_rule": [rule for _, rule in guide.followed],
        "group_end": [end for end, _ in guide.groups],
        "group_rule": [rule for _, rule in guide.groups],
    }


def _scratch(normal: LearningNormalForm) -> int:
    """The cells that a run of a resource or of a circuit needs."""
    resources = (*normal.resources, *normal.open_resources)
    tasks = max((len(tasks) for tasks, _ in resources), default=0)
    nodes = max((len(arcs) for arcs, _ in normal.circuits), default=0)
    return max(ROOM_OF_TASK * tasks, ROOM_OF_NODE * nodes)


def _first_scalars(rules: LearningSettings) -> Scalars[LearnScalar]:
    scalar: Scalars[LearnScalar] = [0] * SCALARS
    scalar[INCREMENT] = FIRST_INCREMENT
    scalar[KEEP] = rules.first_keep
    scalar[RESTART_AT] = scalar[RESTART_UNIT] = rules.restart_unit
    scalar[MUST] = scalar[GOAL] = NOTHING
    scalar[CONSULT_AT] = NEVER_CONSULT
    scalar[BELOW] = rules.stretch_below
    scalar[ABOVE] = scalar[SIDE_AT] = scalar[LEAST_ABOVE] = rules.stretch_above
    scalar[LONGEST_ABOVE] = rules.longest_above
    scalar[TRIAL], scalar[LATELY], scalar[RARE] = rules.trial, rules.lately, rules.rare
    scalar[RECENT], scalar[MOST_TRIED] = rules.recent, rules.most_tried
    scalar[LEAST_SHRUNK] = rules.least_shrunk
    scalar[WINDOWS_COST], scalar[MOST_SKIPPED] = rules.windows_cost, rules.most_skipped
    scalar[CORE_LEVELS], scalar[MIDDLE_LEVELS] = rules.core_levels, rules.middle_levels
    return scalar


def _analysis_room(n: int, entries: int) -> dict[str, Cells]:
    """The scratch arrays of an analysis."""
    return {
        "premise_bound": [0] * (4 * n + WIDEST_EXPLANATION),
        "premise_at": [0] * (4 * n + WIDEST_EXPLANATION),
        "clause_entry": [0] * entries,
        "strongest": [NOTHING] * (2 * n),
        "lifted": [0] * max(n + 2, RANKS),
        "stack": [0] * (MOST_VISITED + 1),
    }


def _queue_all(ls: Learner) -> None:
    """Queue every propagator."""
    for p, kind in enumerate(ls.kind):
        which = 0 if kind <= DIFFERENT else 1
        tail = ls.scalar[QUEUE_TAIL + which]
        ls.queue[which * len(ls.kind) + tail] = p
        ls.queued[p] = 1
        ls.scalar[QUEUE_TAIL + which] = tail + 1


def _tie_values(ls: Learner, propagators: PropagatorArrays) -> None:
    """Record for each 0/1 variable which sums hold if it is 1 and if it is 0: they suggest a value."""
    for p, kind in enumerate(propagators.kind):
        b = propagators.literal[p]
        if kind == AT_MOST and b != NOTHING and ls.tier[b >> 1] == 0:
            (ls.when_false if b & 1 else ls.when_true)[b >> 1] = p


def add_clause(ls: Learner, atoms: Iterable[Atom]) -> None:
    """Add a clause of at least two undecided members to a learner at its root."""
    members = list(atoms)
    clause = ls.scalar[ARENA]
    ls.arena[clause] = len(members)
    for i, (b, k) in enumerate(members):
        ls.arena[clause + HEAD_CELLS + 2 * i] = b
        ls.arena[clause + HEAD_CELLS + 2 * i + 1] = k
    ls.scalar[ARENA] = clause + HEAD_CELLS + 2 * len(members)
    attach(ls, clause)


def units(normal: LearningNormalForm) -> list[Atom]:
    """The unit atoms."""
    return [clause[0] for clause in normal.clauses if len(clause) == 1]


def full(ls: Learner) -> list[str]:
    """The fields without the space that `loop.has_room` requires."""
    scalar = ls.scalar
    most = len(ls.bound) + 2
    names: list[str] = []
    if scalar[TRAIL] + 2 * most >= len(ls.trail_bound):
        names += [name for group in ("trail", "windows", "marks") for name in GROWING[group]]
        names.append("clause_entry")
    if scalar[ARENA] + HEAD_CELLS + 2 * most >= len(ls.arena):
        names += GROWING["clauses"]
    if scalar[WATCHES] + 2 >= len(ls.watch_next):
        names += GROWING["watches"]
    if scalar[LEVEL] + 2 >= len(ls.level_start):
        names += GROWING["levels"]
    return names


def grow(ls: Learner) -> Learner:
    """The same learner with doubled space in what is full: entries, clauses, watches or levels."""
    names = full(ls)
    return ls._replace(**{name: [*getattr(ls, name), *[0] * (len(getattr(ls, name)) + 8)] for name in names})
