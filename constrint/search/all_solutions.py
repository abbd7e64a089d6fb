"""`AllSolutions`: all solutions of a model, one after the other or counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.errors import UnboundedError
from constrint.expr import IntExpr, IntVar
from constrint.expr.domain import BINARY, Domain
from constrint.modelling.result import Result, Status
from constrint.preparing.checks import Assignment
from constrint.preparing.prepared import WIDEST_BITS
from constrint.preparing.search_protocol import Outcome
from constrint.search.depth_first import DepthFirstRun
from constrint.search.near_zero import nearby_roots
from constrint.search.projected import projected, solutions
from constrint.search.solver import Solver
from constrint.search.start import prepared_for
from constrint.support.deadline import Stopped, until

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.options import Options
    from constrint.search.call import SearchLog


class AllSolutions(Solver):
    """Answers one call of `Model` that asks for all solutions.

    Attributes:
        complete: Whether all solutions have been given.
    """

    def __init__(self, model: Declarations, options: Options, log: SearchLog | None = None) -> None:
        """Make one; `log` is told of the call."""
        if log is None:
            super().__init__(model, options)
        else:
            super().__init__(model, log.watching(options), log.work)
        self.complete = False
        self._log = log

    def every(self, limit: int | None, variables: Sequence[IntExpr] | None = None) -> Iterator[Result]:
        """All solutions, each once; of some variables, each combination of their values once.

        Those of a model that cannot be searched for want of bounds are sought near 0, as `best` does; after
        the last one that is found so, `UnboundedError` is raised.
        """
        yield from self._every(limit, variables)
        self._end()

    def _end(self) -> None:
        """Write the end of the log."""
        if self._log is not None:
            work = self.work.statistics.within(perf_counter() - self.work.started)
            self._log.end_of_all(self.work.found, self.complete, work)

    def _every(self, limit: int | None, variables: Sequence[IntExpr] | None) -> Iterator[Result]:
        if limit is not None and limit <= 0:
            return
        solutions = self._all(variables) if variables is not None else self._all_or_nearby()
        call = self.call()
        deadline = call.deadline
        try:
            while True:
                with until(deadline):  # the caller's own time between solutions does not count
                    assignment = next(solutions, None)
                if assignment is None:
                    break
                self.work.found += 1
                self.work.statistics = self.work.statistics.counting(self.work.found)
                result = call.result(Status.OPTIMAL, assignment)
                is_last = self.options.on_solution is not None and self.options.on_solution(result) is False
                yield result
                if self.work.found == limit or is_last:
                    return
        except Stopped:
            return
        finally:
            self.close()

    def _all_or_nearby(self) -> Iterator[Assignment]:
        """All solutions; of unbounded variables those found near 0, and then an error."""
        if all(_domain_of(variable).is_finite for variable in self.model.variables.values()):
            yield from self._all()
            return
        known: set[tuple[int, ...]] = set()
        try:
            for assignment in self._all():
                known.add(tuple(assignment.values()))
                yield assignment
            return
        except UnboundedError as error:
            unbounded = error
        prepared = prepared_for(self.call(), is_every=True)
        roots = iter(()) if prepared.root is None else nearby_roots(prepared, prepared.root)
        for root in roots:
            most = root.settings.search.nodes_near_zero
            run = DepthFirstRun(self.call().task(prepared, root), most_nodes=most)
            while (step := run.next()).found is not None:
                values = tuple(step.found.values())
                if values not in known:
                    known.add(values)
                    yield step.found
            if step.outcome is Outcome.STOPPED:
                return
            self.work.add(run, 0)
        raise unbounded

    def _all(self, variables: Sequence[IntExpr] | None = None) -> Iterator[Assignment]:
        """All solutions; if bounds leave the range that represents all integers, those of a wider range."""
        call = self.call()
        prepared = prepared_for(call, is_every=True)
        call.told(prepared)
        is_bounded = all(_domain_of(variable).is_finite for variable in prepared.variables)
        known: set[tuple[int, ...]] | None = None if is_bounded else set()
        while prepared.root is not None:
            part = projected(prepared, variables)
            outcome, unbounded = yield from solutions(call, prepared, part, known)
            if outcome is Outcome.UNBOUNDED:
                raise UnboundedError(unbounded)
            if outcome is not Outcome.NEEDS_WIDER:
                self.complete = outcome is Outcome.EXHAUSTED
                return
            if prepared.bits >= WIDEST_BITS:
                raise UnboundedError(prepared.first_unbounded())
            prepared = prepared_for(call, 4 * prepared.bits, is_every=True)
        self.complete = True

    def count(self, variables: Sequence[IntExpr] | None = None) -> tuple[int, bool]:
        """The number of solutions found, and whether they are all."""
        try:
            with until(self.call().deadline):
                for _ in self._all(variables):
                    self.work.found += 1
        except Stopped:
            pass
        finally:
            self.close()
        self._end()
        return self.work.found, self.complete


def _domain_of(variable: IntExpr) -> Domain:
    return variable.domain if isinstance(variable, IntVar) else BINARY
