"""A share: one part of a parallel search, with its input and answer as text.

A worker gets the engine's state at the root as numbers, and a part of the tree (`subtrees`). It needs neither
the model nor its prepared form, so both sides see the same numbers; the model is sent only if the worker
checks many solutions itself. Work is counted in nodes and propagator runs, not in seconds, so a share has the
same answer on every machine.
"""

from __future__ import annotations

import json
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from constrint.engine import cache, native
from constrint.engine.background_compile import LOADING
from constrint.engine.fixpoint import enqueue_all
from constrint.frontends.json.model import number
from constrint.parallel.subtree_search import SubtreeSearch
from constrint.parallel.workers import check_version, own_version
from constrint.preparing.checks import check_solution
from constrint.preparing.search_protocol import Outcome
from constrint.search.sliced import SearchLimits
from constrint.search.subtree import Subtree, left_of
from constrint.store.state import (
    BOUND,
    EXHAUSTED,
    FAILURES,
    GOAL_VARIABLE,
    GUIDED,
    HAS_BOUND,
    HAS_PHASE,
    NEEDS_BOUND,
    NODES,
    PROPAGATIONS,
    RANDOM,
    SOLUTION,
    UNBOUNDED,
    UNIT,
    WIDER,
    State,
    write,
)
from constrint.support.deadline import Deadline, Stopped, check_deadline

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.options import Engine

Wanted: TypeAlias = Literal["better", "first", "all"]
End: TypeAlias = Literal["", "stopped", "unbounded"]


class Memory(NamedTuple):
    """State of a search's heuristics; it does not change the set of solutions.

    Attributes:
        score: Score of each decision variable.
        unit: Amount by which a change raises a score.
        random: State of the random generator.
    """

    score: list[int]
    unit: int
    random: int

    @staticmethod
    def of(state: State) -> Memory:
        """The memory of a search."""
        scalar = state.scalar
        return Memory(list(map(int, state.score)), int(scalar[UNIT]), int(scalar[RANDOM]))

    def recall(self, state: State) -> None:
        """Copy the memory into another search."""
        write(state.score, 0, self.score)
        state.scalar[UNIT], state.scalar[RANDOM] = self.unit, self.random


class Share(NamedTuple):
    """A part of the work.

    Attributes:
        subtree: The part of the tree to search.
        memory: The memory of the search that reached the subtree.
        bound: The objective must be at most (minimise) or at least (maximise) this; None for no bound.
        near: Values of the decision variables, near which value rules begin.
        work: Work to do before answering.
        seconds: Time left when it is handed out, or None.
        engine: "auto": compiled if the compiled engine is ready.
        ends: When the time ends by `perf_counter`, for workers that have the caller's clock: a share may wait
            for its worker. None for others.
    """

    subtree: Subtree
    memory: Memory
    bound: int | None
    near: list[int] | None
    work: int
    seconds: float | None
    engine: Engine
    ends: float | None = None

    def deadline(self, started: float) -> Deadline:
        """When a worker that began then must answer."""
        return Deadline(self.seconds, started) if self.ends is None else Deadline(0.0, self.ends)


@dataclass
class Answer:
    """The answer to a share.

    Attributes:
        found: Solutions as values of the model's variables: all of them, or the best one.
        count: Number of solutions found.
        value: Objective of the best solution.
        near: Values of the decision variables in the last solution.
        left: The part of the share that is still open.
        memory: The memory of the search at its end.
        nodes: Nodes visited.
        failures: Failed nodes.
        propagations: Runs of propagators.
        end: Reason of an early end: "stopped" by the clock, or "unbounded" variable.
        is_wider: Whether a bound left the range that stands for all integers, so that failures prove nothing.
        unbounded: The number of the unbounded variable.
        engine: The engine that ran.
    """

    found: list[list[int]] = field(default_factory=list)
    count: int = 0
    value: int | None = None
    near: list[int] | None = None
    left: Subtree | None = None
    memory: Memory | None = None
    nodes: int = 0
    failures: int = 0
    propagations: int = 0
    end: End = ""
    is_wider: bool = False
    unbounded: int = -1
    engine: str = "interpreted"


# The part that all shares have in common


@dataclass(frozen=True)
class Common:
    """The input that all shares of a search have in common.

    Attributes:
        root: The state at the root; each search takes a copy.
        exact: Whether its numbers need Python's integers.
        is_settled: Whether the root is at its fixpoint.
        numbers: Numbers of the model's variables, in its order.
        wanted: What to look for.
        model: The model as JSON if the worker checks solutions; else empty.
    """

    root: State
    exact: bool
    is_settled: bool
    numbers: list[int]
    wanted: Wanted
    model: str = ""

    @cached_property
    def arrays(self) -> State:
        """The root as arrays, which are faster to copy."""
        return State(*cast("list[list[int]]", [native.array_of(cells) for cells in self.root]))

    @cached_property
    def checked(self) -> Declarations:
        """The model by which solutions are checked."""
        from constrint.frontends.json.model import from_json

        return from_json(self.model)


def written(common: Common) -> str:
    """The common input as text; arrays that are zero or unused at the root are written as their length."""
    cells = {}
    for name, values in common.root._asdict().items():
        check_deadline()
        is_empty = name.startswith(("trail_", "level_", "refuted_")) or not any(values)
        cells[name] = len(values) if is_empty else _packed(list(map(int, values)), common.exact)
    told = {name: getattr(common, name) for name in ("exact", "is_settled", "numbers", "wanted", "model")}
    check_deadline()
    return json.dumps({"version": own_version(), "cells": cells, **told})


@lru_cache(maxsize=4)
def _read(text: str) -> Common:
    told = json.loads(text)
    check_version(told.pop("version"))
    cells = {
        name: [0] * values if isinstance(values, int) else _unpacked(values, told["exact"])
        for name, values in told.pop("cells").items()
    }
    return Common(State(**cells), **told)


def _packed(value: object, exact: bool) -> object:
    """A value for JSON; integers too long for Python's JSON reader become hexadecimal texts."""
    if not exact:
        return value
    if isinstance(value, list | tuple):
        return [_packed(part, exact) for part in value]
    return number(value) if type(value) is int else value


def _unpacked(value: object, exact: bool) -> Any:
    if not exact:
        return value
    if isinstance(value, list):
        return [_unpacked(part, exact) for part in value]
    return int(value, 16) if isinstance(value, str) and value.lstrip("-").startswith("0x") else value


def share_text(share: Share, exact: bool) -> str:
    """A share as text for `search_share`."""
    return json.dumps(_packed(share, exact))


def answer_of(text: str, exact: bool) -> Answer:
    """The answer in a text of `search_share`."""
    answer = Answer(*_unpacked(json.loads(text), exact))
    answer.left = answer.left and Subtree(*answer.left)
    answer.memory = answer.memory and Memory(*answer.memory)
    return answer


# Searching a share


def search_share(common: str, text: str) -> str:
    """The function of a worker: search a share, and return the answer as text."""
    started = perf_counter()
    known = _read(common)
    share = Share(*_unpacked(json.loads(text), known.exact))
    share = share._replace(subtree=Subtree(*share.subtree), memory=Memory(*share.memory))
    answer = _ShareSearch(known, share, share.deadline(started)).answer()
    return json.dumps(_packed([getattr(answer, name.name) for name in fields(answer)], known.exact))


class _ShareSearch(SubtreeSearch):
    """The search of a share."""

    def __init__(self, common: Common, share: Share, deadline: Deadline) -> None:
        engine = share.engine
        if engine == "auto":  # compiled if the machine code is loaded, or there is time to load it
            has_time = deadline.left > LOADING
            is_there = cache.is_loaded() or (has_time and cache.is_filled())
            engine = "compiled" if is_there and not common.exact else "interpreted"
        cells = common.arrays if engine == "compiled" and not common.exact else common.root
        state = State._make(map(copy, cells))
        super().__init__(state, engine, common.exact, SearchLimits(deadline))
        self._common = common
        self._share = share
        self._answer = Answer()
        scalar = state.scalar
        share.memory.recall(state)
        if share.bound is not None:
            scalar[HAS_BOUND], scalar[BOUND] = 1, share.bound
        if share.near is not None:
            scalar[HAS_PHASE] = 1
            write(state.phase, 0, share.near)
        self._start()

    def answer(self) -> Answer:
        """Search the share until its work is done."""
        answer = self._answer
        try:
            is_open = self._search()
        except Stopped:
            answer.end = "stopped"
        else:
            if is_open:
                answer.left = left_of(self._state, self._share.subtree.fixed)
        scalar = self._state.scalar
        answer.memory, answer.is_wider = Memory.of(self._state), bool(scalar[WIDER])
        answer.nodes, answer.failures = int(scalar[NODES]), int(scalar[FAILURES])
        answer.propagations, answer.engine = int(scalar[PROPAGATIONS]), self.engine
        return answer

    def _search(self) -> bool:
        """Search; returns whether a part is left that the share's work did not suffice for."""
        if not self._common.is_settled:
            enqueue_all(self._state)
        outcome = self.descend(self._share.subtree)
        self.allow(self._share.work)
        while True:
            if outcome is None:
                outcome = self._advance()
            if outcome == SOLUTION:
                self._note()
                if self._common.wanted == "first":
                    return False
            elif outcome == NEEDS_BOUND:
                self._answer.end, self._answer.unbounded = "unbounded", int(self._state.scalar[UNBOUNDED])
                return False
            elif outcome in (EXHAUSTED, Outcome.GAVE_UP):
                return outcome is Outcome.GAVE_UP
            outcome = None

    def _note(self) -> None:
        """Store the present solution, or count it."""
        answer, common = self._answer, self._common
        self._tighten()
        answer.count += 1
        values = [self.value(v) for v in common.numbers]
        if common.wanted == "better":
            answer.value = self.value(self._state.scalar[GOAL_VARIABLE])
            answer.found = [values]
        else:
            if common.model:
                check_solution(
                    common.checked, dict(zip(common.checked.variables.values(), values, strict=True))
                )
            answer.found.append(values)
        if self._state.scalar[GUIDED]:
            answer.near = list(map(int, self._state.phase))
