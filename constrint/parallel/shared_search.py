"""Parallel search: disjoint parts of one tree, one shared bound, answers in a fixed order.

The search starts alone; short searches end there. Then its remaining tree is cut into parts. Each part goes
to a worker with the best known bound, and comes back after a fixed amount of work with what was found and
what is still open. If too few parts wait, open parts are cut again: that gives idle workers work. Parts are
handed out and answers taken in an order that does not depend on their duration, so equal seeds and numbers of
workers give equal answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from time import perf_counter

from constrint.engine import background_compile as compiling
from constrint.engine import cache
from constrint.frontends.json.model import to_json
from constrint.modelling.result import Statistics
from constrint.parallel.share import Answer, Common, Memory, Share, Wanted, answer_of, share_text, written
from constrint.parallel.workers import AHEAD, Workers
from constrint.preparing.checks import Assignment, check
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask
from constrint.search.depth_first import DepthFirstRun
from constrint.search.subtree import Subtree
from constrint.store.state import BOUND, HAS_BOUND, WIDER
from constrint.support.deadline import Stopped

LAST_ANSWERS = 0.1
"""Seconds after the time limit in which workers may still answer; they stop as long before the limit."""


@dataclass(eq=False)
class _Part:
    """An open part of the tree: waiting, or with a worker.

    Attributes:
        subtree: What is still open of it.
        memory: Memory of the search that reached it.
        is_running: Whether a worker has it.
        is_dropped: Whether its answer is no longer needed.
    """

    subtree: Subtree
    memory: Memory
    is_running: bool = False
    is_dropped: bool = False


@dataclass
class _Tree:
    """The open parts, from left to right."""

    parts: list[_Part] = field(default_factory=list)

    def replace(self, part: _Part, left: Subtree | None, memory: Memory) -> None:
        """Replace a part by what is still open of it."""
        place = self.parts.index(part)
        self.parts[place : place + 1] = [] if left is None else [_Part(left, memory)]

    def drop_from(self, part: _Part) -> None:
        """Drop a part and all parts to its right."""
        place = self.parts.index(part)
        for dropped in self.parts[place:]:
            dropped.is_dropped = True
        del self.parts[place:]

    def waiting(self, wanted: int) -> list[_Part]:
        """The first waiting parts; if there are fewer than wanted, some are cut."""
        waiting = [part for part in self.parts if not part.is_running]
        while len(waiting) < wanted:
            # The part with the most open decisions most likely has the most work below its first cut.
            part = max(waiting, key=lambda each: each.subtree.open, default=None)
            if part is None or part.subtree.open == 0:
                break
            place = self.parts.index(part)
            self.parts[place : place + 1] = [_Part(half, part.memory) for half in part.subtree.cut()]
            waiting = [each for each in self.parts if not each.is_running]
        return waiting[:wanted]


class SharedRun:
    """A search by many workers; it follows the protocol `Search`."""

    def __init__(self, task: SearchTask, workers: Workers, is_every: bool = False) -> None:
        """Start alone.

        Args:
            task: The task.
            workers: The workers.
            is_every: Whether all solutions are wanted; otherwise, without a goal, the first.
        """
        self.prepared, root, self._options, _, self._goal = task
        self._workers = workers
        self._wanted: Wanted = "better" if task.goal else "all" if is_every else "first"
        self._deadline = task.deadline
        self._began = perf_counter()
        self._rules = rules = root.settings.search
        self._alone = DepthFirstRun(task, most_work=rules.work_alone)
        self._shared: Iterator[SearchStep] | None = None
        self._total: Statistics | None = None
        self._value = 0
        self._bound: int | None = None
        self._near: list[int] | None = None
        self._is_wider = False
        self._common: Common
        self._text = ""

    def next(self, checked: bool = True) -> SearchStep:
        """The next solution, or why there is none; see `Search.next`.

        One search runs alone until it gives up at its limit of work; workers go on with what is open.

        Args:
            checked: Whether to check the solution; in a search for all, workers have checked it already.
        """
        if self._shared is None:
            step = self._alone.next(checked)
            if step.outcome is not Outcome.GAVE_UP:
                return step
            self._total = self._alone.statistics()
            self._shared = self._search()
        try:
            step = next(self._shared)
        except Stopped:
            return SearchStep(Outcome.STOPPED)
        if step.found is not None and checked and self._wanted != "all":
            check(self.prepared, step.found)
        return step

    def value(self, v: int) -> int:
        """Value of the objective's variable in the last solution."""
        return self._alone.value(v) if self._shared is None else self._value

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value; only before the search begins."""
        self._alone.demand_better(value)

    def goal_bounds(self) -> tuple[int, int]:
        """Bounds of the objective's variable at the root."""
        return self._alone.goal_bounds()

    def statistics(self) -> Statistics:
        """The work of all workers so far."""
        return self._alone.statistics() if self._total is None else self._total

    def _search(self) -> Iterator[SearchStep]:
        """The solutions that the workers find, and at last why there is no other."""
        left, memory = self._hand_out()
        tree = _Tree([] if left is None else [_Part(left, memory)])
        running: deque[tuple[_Part, Future[str]]] = deque()
        first: Assignment | None = None
        end = SearchStep(Outcome.EXHAUSTED)
        try:
            while end.outcome is Outcome.EXHAUSTED:
                for part in tree.waiting(AHEAD * self._workers.count - len(running)):
                    part.is_running = True
                    running.append((part, self._submit(part)))
                if not running:
                    break
                part, future = running.popleft()
                answer = self._answer(future)
                if part.is_dropped:
                    continue
                if self._wanted == "first" and answer.found:
                    first = self._assignment(answer.found[0])
                    check(self.prepared, first)
                    if not self.prepared.preferences:
                        break
                    tree.drop_from(part)  # solutions to the left may be preferred
                    continue
                for found in self._solutions(answer):
                    yield SearchStep(Outcome.FOUND, found)
                end = self._end(answer)
                tree.replace(part, answer.left, answer.memory or part.memory)
        except (Stopped, KeyboardInterrupt):
            if first is None:
                raise
            end = SearchStep(Outcome.STOPPED, first)
        finally:
            self._workers.dismiss()
        if end.outcome is Outcome.EXHAUSTED:
            if self._is_wider and (first is None or self.prepared.preferences):
                end = SearchStep(Outcome.NEEDS_WIDER)
            elif first is not None:
                yield SearchStep(Outcome.FOUND, first)
        while True:
            yield end

    def _hand_out(self) -> tuple[Subtree | None, Memory]:
        """The open part of the search that ran alone; that search ends here."""
        prepared, wanted = self.prepared, self._wanted
        left, state, is_settled = self._alone.leave()
        memory = Memory.of(state)
        self._is_wider = bool(state.scalar[WIDER])
        if left is None:
            return None, memory
        self._bound = int(state.scalar[BOUND]) if state.scalar[HAS_BOUND] else None
        model = to_json(prepared.model) if wanted == "all" else ""
        numbers = list(prepared.variables.values())
        self._common = Common(state, self._alone.exact, is_settled, numbers, wanted, model)
        self._text = written(self._common)
        self._workers.start(self._is_compiled())
        return left, memory

    def _is_compiled(self) -> bool:
        """Whether shares run compiled; if so, threads run them in parallel without starting interpreters."""
        if self._common.exact or self._options.engine == "interpreted":
            return False
        if not cache.is_loaded() and not compiling.is_ready(
            "engine", self._alone.seconds, self._deadline, self._rules
        ):
            return False
        compiling.loaded(compiling.load_engine, self._deadline)
        return True

    def _submit(self, part: _Part) -> Future[str]:
        if self._options.engine == "auto" and not self._common.exact:
            # Workers use the compiled engine as soon as it is ready.
            compiling.is_ready("engine", perf_counter() - self._began, self._deadline, self._rules)
        seconds, ends = self._deadline.rest, None
        if seconds is not None:
            seconds = max(seconds - LAST_ANSWERS, 0.9 * seconds)
            ends = perf_counter() + seconds if self._workers.have_our_clock else None
        share = Share(
            *(part.subtree, part.memory, self._bound, self._near),
            *(self._rules.work_of_share, seconds, self._options.engine, ends),
        )
        return self._workers.submit(self._text, share_text(share, self._common.exact))

    def _answer(self, future: Future[str]) -> Answer:
        seconds = max(0.0, self._deadline.left + LAST_ANSWERS) if self._deadline.is_set else None
        try:
            answer = answer_of(self._workers.answer(future, seconds), self._common.exact)
        except TimeoutError:
            raise Stopped from None
        self._is_wider = self._is_wider or answer.is_wider
        total = self.statistics()
        self._total = replace(
            total,
            nodes=total.nodes + answer.nodes,
            failures=total.failures + answer.failures,
            propagations=total.propagations + answer.propagations,
            engine=answer.engine,
        )
        if self._options.watch is not None:
            self._options.watch(self)
        return answer

    def _solutions(self, answer: Answer) -> Iterator[Assignment]:
        """The solutions of an answer; with an objective, only if they improve it."""
        if self._goal is None:
            yield from map(self._assignment, answer.found)
        elif answer.value is not None:
            least = self._goal[1] == "min"
            bound = answer.value - 1 if least else answer.value + 1
            if self._bound is None or (bound < self._bound if least else bound > self._bound):
                self._bound, self._value = bound, answer.value
                self._near = answer.near
                yield self._assignment(answer.found[0])

    def _end(self, answer: Answer) -> SearchStep:
        """How the search goes on after a share: `EXHAUSTED` stands for a share that did not end it."""
        if answer.end == "stopped":
            raise Stopped
        if answer.end == "unbounded":
            return SearchStep(Outcome.UNBOUNDED, unbounded=self.prepared.name_of(answer.unbounded))
        return SearchStep(Outcome.EXHAUSTED)

    def _assignment(self, values: Sequence[int]) -> Assignment:
        return dict(zip(self.prepared.variables, values, strict=True))


class SharedSearches:
    """Factory of searches shared by the workers of one call."""

    def __init__(self, count: int, executor: Executor | None) -> None:
        """Make the factory; workers are started when a search first needs them.

        Args:
            count: Number of workers.
            executor: The executor whose workers are used; None for own processes.
        """
        self._count = count
        self._executor = executor
        self._workers: Workers | None = None

    def start(self, task: SearchTask, is_every: bool = False) -> SharedRun:
        """Start a search; see `SearchFactory.start`."""
        if self._workers is None:
            self._workers = Workers(self._count, self._executor, task.root.settings.search.most_losses)
        return SharedRun(task, self._workers, is_every)

    def close(self) -> None:
        """Release the workers."""
        if self._workers is not None:
            self._workers.close()
