"""Rounds of a portfolio: turns of some members at the same time, each in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

from constrint.preparing.search_protocol import Outcome, SearchStep
from constrint.search.members import Member
from constrint.support.deadline import Deadline, Stopped, until

if TYPE_CHECKING:
    from constrint.preparing.checks import Assignment

CHECK_SECONDS = 0.05  # seconds between two checks of a running round by the caller


@dataclass(frozen=True, slots=True)
class FoundSolution:
    """A solution of a member.

    Attributes:
        assignment: The solution.
        values: The values of the variables that were asked for, by variable.
        cost: The value of the goal, negated where that is maximised; 0 without a goal.
    """

    assignment: Assignment
    values: dict[int, int]
    cost: int


@dataclass(frozen=True, slots=True)
class RoundGoal:
    """The request to every member of a round.

    Attributes:
        goal: The goal's variable and its direction; None where the first solution is wanted.
        variables: The variables whose values in a solution are wanted, the goal's included.
        deadline: The end of the call.
    """

    goal: tuple[int, str] | None
    variables: frozenset[int]
    deadline: Deadline

    def cost(self, value: int) -> int:
        """The cost of a value of the goal."""
        return -value if self.goal is not None and self.goal[1] == "max" else value


class Turn:
    """A turn of a member.

    Attributes:
        member: The member.
        found: Its last solution, the best one where there is a goal; None without one.
        end: The member's last step.
        failure: The exception that ended it, or None.
    """

    def __init__(self, member: Member, asked: RoundGoal) -> None:
        self.member = member
        self.found: FoundSolution | None = None
        self.end = SearchStep(Outcome.PAUSED)
        self.failure: BaseException | None = None
        self._asked = asked
        self._thread = Thread(target=self._play, name="constrint")

    def start(self) -> None:
        """Begin, in a thread."""
        self._thread.start()

    def join(self, seconds: float | None = None) -> bool:
        """Wait for its end, at most so many seconds; returns whether it has ended or was never started."""
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _play(self) -> None:
        try:
            with until(self._asked.deadline):
                self.end = self._search()
        except BaseException as failure:
            self.failure = failure

    def _search(self) -> SearchStep:
        run, asked = self.member.run, self._asked
        while True:
            step = run.next(checked=False)
            if step.found is None:
                if step.outcome is Outcome.PAUSED and self.member.goes_on():
                    continue
                return step
            cost = 0 if asked.goal is None else asked.cost(run.value(asked.goal[0]))
            if self.found is None or cost < self.found.cost:
                self.found = FoundSolution(step.found, {v: run.value(v) for v in asked.variables}, cost)
            if asked.goal is None:
                return step


class Round:
    """Turns that run at the same time, each in a thread of its own."""

    def __init__(self, members: Sequence[Member], asked: RoundGoal) -> None:
        self.turns = [Turn(member, asked) for member in members]
        self._is_off = False

    def check(self) -> None:
        """End a turn, in its thread, once the round is called off."""
        if self._is_off:
            raise Stopped

    def run(self, watch: Callable[[], None] | None) -> BaseException | None:
        """Run all turns to their ends; returns what ends the call, such as Ctrl-C or the deadline.

        Args:
            watch: Called at intervals meanwhile; it may raise `Stopped`.
        """
        stop: BaseException | None = None
        try:
            for turn in self.turns:
                turn.start()
            for turn in self.turns:
                while not turn.join(None if watch is None else CHECK_SECONDS):
                    if watch is not None:
                        watch()
        except BaseException as problem:
            self._is_off = True
            stop = problem
            for turn in self.turns:
                turn.join()
        for turn in self.turns:
            if turn.failure is not None:
                raise turn.failure
            if turn.end.outcome is Outcome.STOPPED:
                stop = stop or Stopped()
        return stop
