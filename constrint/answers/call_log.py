"""The log of a call: what presolve made of the model, the plan, solutions, bounds, and the searches' work.

Its parts are what callers can have themselves: `on_solution`, the watcher of searches, the statistics of the
result, and `Model.plan`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.errors import printable, shown
from constrint.expr.evaluation import is_light
from constrint.modelling.result import Result, Statistics, Status, gap_of, shown_values
from constrint.search.choose import Case, choose
from constrint.search.portfolio import Portfolio
from constrint.search.progress import bound_of
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from constrint.answers.presented import PresentedGoals
    from constrint.expr import IntExpr
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.options import OnSolution, Options
    from constrint.preparing.prepared import Prepared
    from constrint.preparing.search_protocol import Search
    from constrint.search.call import WorkTotal

LONGEST_GOAL = 60  # characters of a goal, so that its line fits a screen


class CallLog:
    """Writes the log of one call.

    Attributes:
        work: The work of the call.

    Args:
        write: Takes a line.
        started: Start of the call, by `perf_counter`.
        work: The work of the call.
        presented: The goals as the user sees them; None for all solutions.
        between: Seconds from one line to the next while the search goes on, at least.
        first: The solutions whose lines do not wait: those of short searches, and what long ones begin with.
        share: The time since the start, divided by this, comes at least between two lines on the work of
            searches, so that hours have no more than some hundred.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        started: float,
        work: WorkTotal,
        presented: PresentedGoals | None = None,
        *,
        between: float = 1.0,
        first: int = 5,
        share: float = 50.0,
    ) -> None:
        self._write = write
        self._started = started
        self.work = work
        self._presented = presented
        self._between, self._first, self._share = between, first, share
        self._before: Callable[[Search], None] | None = None
        self._said = 0.0  # when the last line was written
        self._status = 0.0  # when the last line on the work of a search was written
        self._last: Result | None = None
        self._waits = False  # whether the last solution has no line yet
        self._was_solution = False  # whether the last line was that of a solution
        self._solutions = 0
        self._finders: Counter[str] = Counter()
        self._bounds: dict[int, object] = {}
        self._members: set[str] = set()  # those whose joining is told
        self._spent: dict[str, float] = {}  # the work of each member
        self._left: set[str] = set()
        self._has_plan = False
        self._next: deque[str] = deque()  # members whose work is told next

    def begin(self, model: Declarations) -> None:
        """Write the line that tells the version, the model and the goals."""
        from constrint.support.version import version

        goals = [] if self._presented is None else self._presented.goals
        texts = [
            f"{'minimize' if direction == 'min' else 'maximize'} "
            + (printable(shown(self._text(expr), LONGEST_GOAL)) if is_light(expr) else "an expression")
            for expr, direction in goals
        ]
        sizes = {"variable": len(model.variables), "constraint": len(model.constraints)}
        size = ", ".join([counted(count, name) for name, count in sizes.items()])
        name = f"{printable(shown(model.name, LONGEST_GOAL))}: " if model.name else ""
        self._line("model", "; ".join([f"{name}{size}", *texts, f"constrint {version()}"]))

    def _text(self, goal: IntExpr) -> str:
        """A goal, with its fractions."""
        units = {} if self._presented is None else self._presented.units
        return str(units.get(goal, goal))

    def watching(self, options: Options) -> Options:
        """The options of the call, with this as its watcher."""
        self._before = options.watch
        return replace(options, watch=self.watch, on_prepared=self.on_prepared)

    def solved(self, then: OnSolution | None) -> OnSolution:
        """The caller's callback, which gets each solution after this."""

        def on_solution(result: Result) -> bool | None:
            self._note(result)
            return None if then is None else then(result)

        return on_solution

    def on_prepared(self, prepared: Prepared, options: Options) -> None:
        """Write what presolve made of the model, and the methods of the search."""
        for line in prepared.presolve_lines():
            self._line("presolve", line)
        if prepared.root is None:
            return
        if self._presented is None:
            shared = options.sharing is not None
            self._line("plan", "all solutions: tree search" + (", shared by workers" if shared else ""))
        else:
            for choice in choose(Case(prepared, prepared.root, options)):
                self._line("plan", str(choice))

    def watch(self, run: Search) -> None:
        """Write one line if there is something to tell and the last line is long enough ago."""
        if self._before is not None:
            self._before(run)
        if isinstance(run, Portfolio) and len(run.members) > 1:
            self._spent = {member.name: member.spent for member in run.members}
        now = perf_counter()
        if now - self._said < self._between:
            return
        self._said = now
        if isinstance(run, Portfolio) and not self._has_plan and (run.absent or len(run.members) > 1):
            self._plan_members(run)
        elif (news := next(self._news(run, now), None)) is not None:
            self._line(*news)

    def _news(self, run: Search, now: float) -> Iterator[tuple[str, str]]:
        """Lines that may be written: a new solution first, but never twice in a row where there is more."""
        last, is_turn = self._last, not self._was_solution
        if self._waits and last is not None and is_turn:
            yield self._solution(last)
        self._was_solution = False
        if (news := self._new_bound(run)) is not None:
            yield news
        if isinstance(run, Portfolio):
            yield from self._changes(run)
        if now - self._status >= max(self._between, (now - self._started) / self._share):
            self._status = now
            yield self._work_of(run)
        if self._waits and last is not None:
            yield self._solution(last)

    def _note(self, result: Result) -> None:
        self._last, self._waits = result, True
        self._solutions += 1
        self._finders[result.statistics.finder] += 1
        pause = self._between * (1 + self._was_solution)  # so that other lines get their turn
        if self._solutions <= self._first or perf_counter() - self._said >= pause:
            self._line(*self._solution(result))

    def _solution(self, result: Result) -> tuple[str, str]:
        self._waits, self._was_solution = False, True
        value = "" if result.objective is None else f": {shown_values(result.objective)}"
        finder = f", found by {result.statistics.finder}" if result.statistics.finder else ""
        place = self.work.place
        return "solution", f"{self._solutions:,}{value}{finder}{self._gap(place)}"

    def _value(self, place: int) -> object:
        """The value of a goal in the last solution, or None."""
        if self._last is None or self._presented is None:
            return None
        objective = self._last.objective
        values = objective if isinstance(objective, tuple) else (objective,)
        if self._presented.hides_first:
            values = (self._last.violation, *values)
        return values[place] if place < len(values) else None

    def _gap(self, place: int) -> str:
        """The known bound of a goal, and the gap of the last solution."""
        bound = self._bounds.get(place)
        gap = gap_of(self._value(place), bound)
        return "" if gap is None else f"; bound {shown_values(bound)}, gap {gap:.2%}"

    def _new_bound(self, run: Search) -> tuple[str, str] | None:
        """The line of a bound that has changed."""
        place = self.work.place
        goals = [] if self._presented is None else self._presented.goals
        if place >= len(goals) or self._presented is None:
            return None
        bound, value = self._presented.in_units(place, bound_of(run, place)), self._value(place)
        if bound is None or bound == self._bounds.get(place):
            return None
        if value is not None and (value < bound if goals[place][1] == "min" else value > bound):
            bound = value  # a search that has ended: nothing is better
        self._bounds[place] = bound
        finder = run.bound_finder() if isinstance(run, Portfolio) else run.statistics().finder
        of = f"of goal {place + 1 - self._presented.hides_first}: " if len(goals) > 1 else ""
        of = "of the violated weight: " if place < self._presented.hides_first else of
        gap = self._gap(place).partition(", ")[2]
        return "bound", f"{of}{shown_values(bound)}, proven by {finder}{gap and '; ' + gap}"

    def _plan_members(self, run: Portfolio) -> None:
        """Write which members of a portfolio search, and why others do not."""
        self._has_plan = True
        names = list(dict.fromkeys(member.name for member in run.members))
        self._members = set(names)
        self._line("plan", f"these search: {', '.join(names)}")
        for name, reason in run.absent.items():
            self._line("plan", f"not at first: {name}: {reason}")
        self._left = {name for name in names if name in run.absent}

    def _changes(self, run: Portfolio) -> Iterator[tuple[str, str]]:
        """The lines of members that have joined or left."""
        for member in run.members:
            if member.name not in self._members:
                self._members.add(member.name)
                yield member.name, "joins the search"
            elif member.name in run.absent and member.name not in self._left:
                self._left.add(member.name)
                yield member.name, f"leaves the search: {run.absent[member.name]}"

    def _work_of(self, run: Search) -> tuple[str, str]:
        """The line on the work of a search, of a portfolio of each member in turn."""
        if isinstance(run, Portfolio) and len(run.members) > 1:
            by_name = {member.name: member for member in run.members if member.name not in run.absent}
            if not self._next:
                self._next.extend(by_name)
            while self._next:
                member = by_name.get(self._next.popleft())  # type: ignore[call-overload] # names of members
                if member is not None:
                    return member.name, member.facts()
        found = f"{counted(self.work.found, 'solution')}, " if self._presented is None else ""
        return "search", found + _work_text(run.statistics())

    def end(self, result: Result) -> Result:
        """Write the summary of the call; returns its result."""
        work = result.statistics
        parts = [result.status.value]
        if result.objective is not None:
            parts.append(f"objective {shown_values(result.objective)}")
        if result.bound is not None and result.status is not Status.OPTIMAL:
            parts.append(f"bound {shown_values(result.bound)}")
        gaps = [f"{gap:.2%}" for gap in result.gaps if gap is not None]
        if gaps and result.status is not Status.OPTIMAL:
            parts.append(f"gap {', '.join(gaps)}")
        if result.violation is not None:
            parts.append(f"violated weight {shown_values(result.violation)}")
        self._line("end", ", ".join(parts))
        if work.finder:
            finders = [f"{count:,} by {name}" for name, count in self._finders.items() if name]
            self._line("end", f"the solution was found by {work.finder}; solutions: {', '.join(finders)}")
        self._summary(work)
        return result

    def end_of_all(self, found: int, is_complete: bool, work: Statistics) -> None:
        """Write the summary of a call that asks for all solutions."""
        self._line("end", f"{counted(found, 'solution')}, {'' if is_complete else 'not '}all of them")
        if work.method == "diagrams":
            self._line("end", "counted by diagrams, without a search")
        else:
            self._summary(work)

    def _summary(self, work: Statistics) -> None:
        said = f"{_work_text(work)}; {work.method}, {work.engine}, {work.arithmetic}"
        self._line("end", said)
        total = sum(self._spent.values())
        if total > 0:
            shares = [f"{name} {spent / total:.0%}" for name, spent in self._spent.items()]
            self._line("end", f"work: {', '.join(shares)}")
        for name, reason in work.absent.items():
            self._line("end", f"took no part: {name}: {reason}")

    def _line(self, name: str, text: str) -> None:
        self._said = perf_counter()
        seconds = self._said - self._started
        self._write(f"{seconds:8.2f} s  {name:<14}  {text}")


def _work_text(work: Statistics) -> str:
    """The work of searches."""
    counts = {"node": work.nodes, "failure": work.failures, "propagation": work.propagations}
    parts = [counted(count, name) for name, count in counts.items()]
    if work.learned:
        parts.append(f"{counted(work.learned, 'clause')} learned")
    return ", ".join(parts)
