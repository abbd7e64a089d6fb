"""`AllSolutions`: all solutions of a model, one after the other or counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from constrint.errors import UnboundedError
from constrint.expr import IntExpr, IntVar
from constrint.expr.domain import BINARY, Domain
from constrint.lowering.problem import NeedsWiderBounds
from constrint.modelling.result import Result, Status
from constrint.preparing.checks import Assignment
from constrint.preparing.prepared import WIDEST_BITS
from constrint.preparing.search_protocol import GaveUp
from constrint.search.depth_first import DepthFirstRun
from constrint.search.near_zero import nearby_roots
from constrint.search.projected import projected, solutions
from constrint.search.solver import Solver
from constrint.support.deadline import Deadline, Stopped, until

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.options import Options


class AllSolutions(Solver):
    """Answers one call of `Model` that asks for all solutions.

    Attributes:
        complete: Whether `every` has given all solutions.
    """

    def __init__(self, model: Declarations, options: Options) -> None:
        super().__init__(model, options)
        self.complete = False

    def every(self, limit: int | None, variables: Sequence[IntExpr] | None = None) -> Iterator[Result]:
        """All solutions, each once; of some variables, each combination of their values once.

        Those of a model that cannot be searched for want of bounds are sought near 0, as `best` does; after
        the last one that is found so, `UnboundedError` is raised.
        """
        found = 0
        if limit is not None and limit <= 0:
            return
        solutions = self._all(variables) if variables is not None else self._all_or_nearby()
        deadline = Deadline(self.options.time_limit, self.started)
        try:
            while True:
                with until(deadline):  # the caller's own time between solutions does not count
                    assignment = next(solutions, None)
                if assignment is None:
                    break
                found += 1
                self.total = self.total.counting(found)
                result = self._result(Status.OPTIMAL, assignment)
                is_last = self.options.on_solution is not None and self.options.on_solution(result) is False
                yield result
                if found == limit or is_last:
                    return
        except Stopped:
            return
        finally:
            self._close()
        self.complete = True

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
        prepared = self._prepare((), (), is_every=True)
        roots = iter(()) if prepared.root is None else nearby_roots(prepared, prepared.root)
        for root in roots:
            most = root.settings.search.nodes_near_zero
            run = DepthFirstRun(prepared, root, self.options, self.started, most_nodes=most)
            with suppress(GaveUp, NeedsWiderBounds, UnboundedError):
                while (found := run.next()) is not None:
                    values = tuple(found.values())
                    if values not in known:
                        known.add(values)
                        yield found
            self.add(run, 0)
        raise unbounded

    def _all(self, variables: Sequence[IntExpr] | None = None) -> Iterator[Assignment]:
        """All solutions; if bounds leave the range that represents all integers, those of a wider range."""
        prepared = self._prepare((), (), is_every=True)
        is_bounded = all(_domain_of(variable).is_finite for variable in prepared.variables)
        known: set[tuple[int, ...]] = set()
        while prepared.root is not None:
            try:
                for found, whole in solutions(self, prepared, projected(prepared, variables)):
                    if not is_bounded:
                        values = tuple(found.values())
                        if values in known:
                            continue
                        known.add(values)
                    yield whole
                return
            except NeedsWiderBounds:
                if prepared.bits >= WIDEST_BITS:
                    raise UnboundedError(prepared.first_unbounded()) from None
                prepared = self._prepare((), (), 4 * prepared.bits, is_every=True)

    def count(self, variables: Sequence[IntExpr] | None = None) -> tuple[int, bool]:
        """The number of solutions found, and whether they are all."""
        found = 0
        try:
            with until(Deadline(self.options.time_limit, self.started)):
                for _ in self._all(variables):
                    found += 1
        except Stopped:
            return found, False
        finally:
            self._close()
        return found, True


def _domain_of(variable: IntExpr) -> Domain:
    return variable.domain if isinstance(variable, IntVar) else BINARY
