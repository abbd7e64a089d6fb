"""`workers=`: the members of a portfolio run at the same time, in threads.

A round gives as many members as there are workers a turn of the same work, those with the least claims. When
all of them are over, the best solution bounds the objective for all, and learning searches exchange their
short clauses and bounds. Nothing is exchanged within a round, so equal seeds and
numbers of workers give equal answers at any speed. Machine code runs without Python's lock.

Where learning weighs more than one worker, or there are more workers than members, further searches of the
kinds that learn and that look near the best solution join, with other seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from constrint.errors import InternalError
from constrint.learning.clause_exchange import exchange_clauses
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask
from constrint.search.admission import MemberMaker, may_learn
from constrint.search.members import NeighbourhoodMember
from constrint.search.portfolio import Portfolio
from constrint.search.rounds import FoundSolution, Round, RoundGoal, Turn

if TYPE_CHECKING:
    from constrint.preparing.search_protocol import Search


class ThreadedPortfolio(Portfolio):
    """A portfolio whose members run at the same time; it follows the protocol `Search`."""

    def __init__(self, task: SearchTask) -> None:
        options = task.options
        self._round: list[Round] = []  # the one under way
        rounds = self._round  # members refer to it, not to this search: a cycle would keep all of it

        def look(_: Search) -> None:
            for one in rounds:
                one.check()

        super().__init__(task._replace(options=options.watched(look)))
        self.workers = options.workers
        self._watch = None if options.watch is None else partial(options.watch, self)
        self._values: Mapping[int, int] | None = None  # of the last solution, where it is of a round
        self._stop: BaseException | None = None  # raised after the last solution is returned
        self._is_over = False  # the round
        self._is_exhausted = False
        self._seeds = 0

    def value(self, v: int) -> int:
        """Value of a variable in the last solution."""
        return super().value(v) if self._values is None else self._values[v]

    def _play(self) -> SearchStep:
        if self._stop is not None:
            raise self._stop
        if self._is_exhausted:
            return SearchStep(Outcome.EXHAUSTED)
        if len(self._playing) == 1:
            self._values = None
            if self._watch is not None:
                self._watch()
            return super()._play()
        if self._is_over:
            self._is_over = False
            return SearchStep(Outcome.PAUSED)
        variables = {v for member in self._members for v in member.decided}
        if self._goal is not None:
            variables.add(self._goal[0])
        self._round[:] = [
            Round(self._playing, RoundGoal(self._goal, frozenset(variables), self._task.deadline))
        ]
        self._stop = self._round[0].run(self._watch)
        self._is_over = True
        return self._best_of(self._round[0].turns)

    def _best_of(self, turns: list[Turn]) -> SearchStep:
        """The best solution of a round, or how it ended."""
        before = inf if self._best is None or self._goal is None else self._cost(self._best)
        best: FoundSolution | None = None
        for turn in turns:
            if turn.end.outcome in (Outcome.UNBOUNDED, Outcome.NEEDS_WIDER):
                return turn.end
            if turn.end.outcome is Outcome.GAVE_UP:
                self._dismiss(turn.member)
            if turn.found is not None and turn.found.cost < before:
                turn.member.found += 1
                if best is None or turn.found.cost < best.cost:
                    best, self._finder = turn.found, turn.member
        self._is_exhausted = any(_is_proven(turn, before, best) for turn in turns)
        exchange_clauses([learner.run for learner in self._learners])
        if best is not None:
            self._values = best.values
            return SearchStep(Outcome.FOUND, best.assignment)
        if self._is_exhausted:
            return SearchStep(Outcome.EXHAUSTED)
        if self._stop is not None:
            raise self._stop
        return SearchStep(Outcome.PAUSED)

    def _cost(self, value: int) -> int:
        """The value of the goal, negated where that is maximised."""
        return -value if self._goal is not None and self._goal[1] == "max" else value

    def _join(self, maker: MemberMaker) -> None:
        """Add the members whose time has come, and others of their kinds for idle workers."""
        super()._join(maker)
        weight = sum(member.present_weight for member in self._members)
        learners = round(self.workers * maker.share / weight) if self._learners else 0
        while len(self._learners) < learners:
            self._admit(maker.learning(self._standing(), self._seed()))
        while len(self._members) < self.workers:
            near = sum(isinstance(member, NeighbourhoodMember) for member in self._members)
            if self._learners and may_learn(maker) and (near == 0 or len(self._learners) <= near):
                self._admit(maker.learning(self._standing(), self._seed()))
            elif near > 0:
                self._admit(maker.neighbourhoods(self._seed()))
            else:
                break

    def _seed(self) -> int:
        """Another seed."""
        self._seeds += 1
        return self._seeds


def _is_proven(turn: Turn, before: float, best: FoundSolution | None) -> bool:
    """Whether a member has proven that no solution is better than the best so far.

    Args:
        turn: Its turn.
        before: The cost of the best solution before the round; infinite without one.
        best: The best solution of the round.

    Raises:
        InternalError: Another one has found a better solution.
    """
    if turn.end.outcome is not Outcome.EXHAUSTED:
        return False
    known = before if turn.found is None else min(before, turn.found.cost)
    if best is not None and best.cost < known:
        raise InternalError("one search has proven that there is no solution such as another has found")
    return True
