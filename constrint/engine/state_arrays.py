"""Building the engine's arrays from the normal form, and growing those that search fills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from constrint.engine.encoding import Encoding, encoded
from constrint.engine.select import BY_DEGREE, VALUE_RULES, VARIABLE_RULES
from constrint.errors import InternalError
from constrint.settings import DEFAULT
from constrint.store.propagator import Propagator
from constrint.store.state import (
    ASKED_FROM,
    BITS,
    CAP,
    CULPRIT,
    GOAL_VARIABLE,
    HEAD,
    HUGE,
    LEAST_UNIT,
    LEAVES,
    LEVEL,
    NEXT_STAMP,
    PATIENCE,
    PRIORITIES,
    RANDOM,
    RECORDING,
    REFUTED,
    SCALARS,
    TAIL,
    TRAIL,
    UNIT,
    WEIGHING,
    WORD_TRAIL,
    Cells,
    Scalars,
    State,
    StateScalar,
    write,
)

# The widest domain with a bitset, in steps. Propagators walk through bitsets; a Member propagator keeps the
# inner holes of wider domains.
WIDEST_BITSET = 4096
WIDEST_PLAIN_BITSET = 128

PATIENCE_BASE = 2000
PATIENCE_OF_NODE = 40

FIRST_LEVELS = 64
LARGE_TRAIL = 50_000  # entries beyond one for each cell; trails of large states begin with a second one only

LIMIT = 1 << 62  # all values and intermediate results of the int64 engine are smaller


@dataclass(frozen=True, slots=True)
class Branch:
    """The decision variables and rules of a search.

    Attributes:
        variables: The decision variables.
        values: The value rule of each.
        degrees: The degree of each, from 1; between domains of equal size, the greater degree goes first.
        groups: (end, rule): the variables before the end, and not in an earlier group, are decided by a rule
            before all later ones. Those after the last end are decided by degree.
        seed: Seed of random values.
        weighing: How scores are updated; 0 for not at all.
        credits: For each constraint, the places of the variables whose scores its failures raise.
        least_ranked: The least number of variables that are ranked; fewer are scanned.
    """

    variables: Sequence[int] = ()
    values: Sequence[int] = ()
    degrees: Sequence[int] = ()
    groups: Sequence[tuple[int, int]] = ()
    seed: int = 0
    weighing: int = 0
    credits: Sequence[Sequence[int]] = ()
    least_ranked: int = DEFAULT.search.least_ranked


@dataclass(frozen=True, slots=True)
class Box:
    """Root domains by variable: bounds, step, and explicit values or None."""

    lo: Sequence[int]
    hi: Sequence[int]
    step: Sequence[int]
    values: Sequence[tuple[int, ...] | None]

    def size(self, v: int) -> int:
        """The number of values of a variable."""
        values = self.values[v]
        return (self.hi[v] - self.lo[v]) // self.step[v] + 1 if values is None else len(values)


def _bitset(values: tuple[int, ...] | None, lo: int, hi: int, step: int, words: Cells) -> int:
    """Append the bitset of a domain to the words; returns its place, or -1 for none."""
    size = (hi - lo) // step + 1
    if size > (WIDEST_PLAIN_BITSET if values is None else WIDEST_BITSET):
        return -1
    place = len(words)
    bits = (1 << size) - 1
    if values is not None:
        bits = 0
        for value in values:
            bits |= 1 << (value - lo) // step
    elif size <= BITS:
        words.append(bits)
        return place
    word = (1 << BITS) - 1
    while bits:
        words.append(bits & word)
        bits >>= BITS
    return place


def build(
    box: Box,
    propagators: Sequence[Propagator],
    branch: Branch,
    huge: int = LIMIT,
    encoding: Encoding | None = None,
) -> State:
    """Make the state of a search that starts at the root with every propagator queued.

    Args:
        box: Root domain of each variable; explicit values must span at most WIDEST_BITSET steps.
        propagators: The propagators.
        branch: Decision variables and rules.
        huge: The bound that means "no bound"; its square root already counts as one.
        encoding: The encoding of the propagators, if it is known.
    """
    known = encoded(len(box.lo), propagators) if encoding is None else encoding
    if known.blocks:
        box = with_blocks(box, known.blocks)
    words: Cells = []
    hole = [
        _bitset(values, lo, hi, step, words) if lo < hi else -1
        for lo, hi, step, values in zip(box.lo, box.hi, box.step, box.values, strict=True)
    ]
    args = list(known.args)  # constraints keep notes there
    for place, number in known.trailed:
        args[place] = len(words)
        words.extend([0] * number)
    state = State(
        watch_start=known.watches[0],
        watch_constraint=known.watches[1],
        watch_mask=known.watches[2],
        kind=known.kind,
        start=known.start,
        priority=known.priority,
        idempotent=known.idempotent,
        args=args,
        **_fresh(box, hole, words, len(known.kind)),
        **_decisions(len(box.lo), len(known.kind), branch, huge),
    )
    queue_all(state)
    return state


def with_blocks(box: Box, blocks: Sequence[tuple[tuple[int, int], ...]]) -> Box:
    """The box with a variable for each block of terms, their sum."""
    lo, hi = list(box.lo), list(box.hi)
    for terms in blocks:
        lo.append(sum([a * (box.lo[v] if a > 0 else box.hi[v]) for a, v in terms]))
        hi.append(sum([a * (box.hi[v] if a > 0 else box.lo[v]) for a, v in terms]))
    count = len(blocks)
    return Box(lo, hi, [*box.step, *[1] * count], [*box.values, *[None] * count])


def decided(state: State, branch: Branch, huge: int) -> dict[str, Cells]:
    """The fields that a search needs in addition to a state at the fixpoint of the root.

    Args:
        state: The state, without decisions so far.
        branch: Decision variables and rules.
        huge: The bound that means "no bound".
    """
    return _decisions(len(state.lo), len(state.kind), branch, huge)


def can_resume(state: State, box: Box) -> bool:
    """Whether a search may continue from a state at its fixpoint as if built from the domains.

    False if a domain has become narrow enough for a bitset, or if the state before exceeded int64.
    """
    if max(state.step) >= LIMIT or max(state.base) >= LIMIT or min(state.base) <= -LIMIT:
        return False
    for lo, hi, step, place in zip(box.lo, box.hi, box.step, state.hole, strict=True):
        if place < 0 and lo < hi < lo + WIDEST_PLAIN_BITSET * step:
            return False
    return True


def _room(count: int) -> int:
    """The space at the start of a trail of so many cells; that of a large state grows where it is needed."""
    return min(8 * count, count + max(count, LARGE_TRAIL))


def _fresh(box: Box, hole: Cells, words: Cells, count: int) -> dict[str, Cells]:
    """Domains, queues and space for trails, at the root."""
    n = len(box.lo)
    room, words_room = _room(n), _room(len(words))
    return {
        "lo": list(box.lo),
        "hi": list(box.hi),
        "step": list(box.step),
        "stamp": [0] * n,
        "hole": hole,
        "holes": [
            0 if values is None or place < 0 else (hi - lo) // step + 1 - len(values)
            for values, place, lo, hi, step in zip(box.values, hole, box.lo, box.hi, box.step, strict=True)
        ],
        "base": list(box.lo),
        "words": words,
        "word_stamp": [0] * len(words),
        "dirty": [0] * n,
        "changed": [0] * n,
        "queued": [0] * count,
        "queue": [0] * (PRIORITIES * count),
        "trail_variable": [0] * room,
        "trail_lo": [0] * room,
        "trail_hi": [0] * room,
        "trail_step": [0] * room,
        "trail_holes": [0] * room,
        "trail_stamp": [0] * room,
        "trail_word": [0] * words_room,
        "trail_bits": [0] * words_room,
        "trail_word_stamp": [0] * words_room,
        **{name: [0] * FIRST_LEVELS for name in LEVELS},
    }


def queue_all(state: State) -> None:
    """Queue every propagator of a state with empty queues."""
    count = len(state.kind)
    scalar, queue = state.scalar, state.queue
    for priority in range(PRIORITIES):
        scalar[HEAD + priority] = scalar[TAIL + priority] = 0
    for c, priority in enumerate(state.priority):
        queue[priority * count + scalar[TAIL + priority]] = c
        scalar[TAIL + priority] += 1
    write(state.queued, 0, [1] * count)


def _scalars(count: int, branch: Branch, huge: int, leaves: int) -> Cells:
    """The scalars at the start."""
    cells = [0] * SCALARS
    scalar: Scalars[StateScalar] = cells
    scalar[NEXT_STAMP] = 1
    scalar[GOAL_VARIABLE] = -1
    scalar[HUGE] = huge if huge == LIMIT else 1 << (huge.bit_length() // 2)
    scalar[CAP] = huge
    scalar[CULPRIT] = scalar[ASKED_FROM] = -1
    scalar[WEIGHING] = branch.weighing
    scalar[UNIT] = LEAST_UNIT
    scalar[LEAVES] = leaves
    scalar[PATIENCE] = PATIENCE_BASE + PATIENCE_OF_NODE * count
    scalar[RANDOM] = branch.seed % (1 << 31)
    return cells


RANKING = ("rank_group", "rank_size", "rank_share", "rank_tree", "stale", "is_stale")
"""Fields of the ranking tree."""

LEVELS = [name for name in State._fields if name.startswith(("level_", "refuted_"))]
"""Space for levels and for the decisions refuted at them."""


def _decisions(n: int, propagators: int, branch: Branch, huge: int) -> dict[str, Cells]:
    """The decision variables, their rules, ranks and scores, and the scalars at the start."""
    decided = len(branch.variables)
    degree = list(branch.degrees) or [1] * decided
    groups = [*branch.groups, (decided, BY_DEGREE)]
    if not VALUE_RULES.issuperset(branch.values):
        raise InternalError(f"choose_value knows no value rule {set(branch.values) - VALUE_RULES}")
    if not VARIABLE_RULES.issuperset([rule for _, rule in groups]):
        raise InternalError(f"select_between knows no variable rule {groups}")
    ranked = _ranking(branch, [end for end, _ in groups])
    credit_start = [0, *accumulate(map(len, branch.credits))]
    if branch.credits:  # those of blocks of long sums raise none
        credit_start += [credit_start[-1]] * (propagators - len(branch.credits))
    return {
        **ranked,
        "scalar": _scalars(propagators, branch, huge, len(ranked["rank_tree"]) // 2),
        "branch": list(branch.variables),
        "branch_value": list(branch.values),
        "degree": degree,
        "group_end": [end for end, _ in groups],
        "group_rule": [rule for _, rule in groups],
        "score": list(degree) if branch.weighing else [],
        "entry": _entries(n, branch) if branch.weighing or ranked["rank_tree"] else [],
        "credit_start": credit_start,
        "credit_entry": [place for places in branch.credits for place in places],
        "phase": [0] * decided,
        "keep": [0] * decided,
        "path_start": [0],
        "path_variable": [],
        "path_decision": [],
        "path_value": [],
        "path_refuted": [],
    }


def _ranking(branch: Branch, ends: Sequence[int]) -> dict[str, Cells]:
    """The tree that ranks the decision variables, and its work space.

    All empty where they are scanned: where they are few, or one stands in two places.
    """
    count = len(branch.variables)
    if count < branch.least_ranked or len(set(branch.variables)) < count:
        return {name: [] for name in RANKING}
    groups = [group for group, (first, end) in enumerate(pairwise([0, *ends])) for _ in range(first, end)]
    leaves = 1 << (count - 1).bit_length()
    return {
        **{name: [0] * count for name in RANKING},
        "rank_group": groups,
        "rank_tree": [-1] * (2 * leaves),
    }


def _entries(n: int, branch: Branch) -> Cells:
    """For each variable its place among the decision variables, or -1."""
    entry = [-1] * n
    for place, v in enumerate(branch.variables):
        entry[v] = place
    return entry


DOMAIN_TRAIL = ("trail_variable", "trail_lo", "trail_hi", "trail_step", "trail_holes", "trail_stamp")
WORD_TRAILS = ("trail_word", "trail_bits", "trail_word_stamp")


def full(state: State, refutations: int = 0) -> list[str]:
    """The fields without space for one more level; the same condition as `dfs.has_room`.

    Args:
        state: The state.
        refutations: Number of refuted decisions to record as well.
    """
    scalar = state.scalar
    level = scalar[LEVEL]
    names: list[str] = []
    if scalar[TRAIL] + len(state.lo) > len(state.trail_variable):
        names += DOMAIN_TRAIL
    if scalar[WORD_TRAIL] + len(state.words) > len(state.trail_word):
        names += WORD_TRAILS
    if level + 1 >= len(state.level_trail):
        names += [name for name in State._fields if name.startswith("level_")]
    refuted = max(level + 2 if scalar[RECORDING] else 0, refutations)
    if refuted and scalar[REFUTED] + refuted >= len(state.refuted_variable):
        names += [name for name in State._fields if name.startswith("refuted_")]
    return names


def grow(state: State, refutations: int = 0) -> State:
    """The same state with doubled space in the trails, levels and refutations that are full."""
    fields = {name: getattr(state, name) for name in full(state, refutations)}
    return state._replace(**{name: [*cells, *[0] * (len(cells) + 8)] for name, cells in fields.items()})
