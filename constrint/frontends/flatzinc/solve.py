"""Solving FlatZinc as MiniZinc asks for it: options, the stream of solutions, and the lines that end it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from constrint.branching import Brancher
from constrint.errors import UnboundedError
from constrint.expr import BoolExpr, IntExpr
from constrint.frontends.flatzinc.build import FlatModel, Output
from constrint.result import Result, Status

SOLUTION = "----------"
COMPLETE = "=========="
UNSATISFIABLE = "=====UNSATISFIABLE====="
UNKNOWN = "=====UNKNOWN====="


@dataclass(frozen=True)
class Options:
    """MiniZinc's standard options.

    Attributes:
        all_solutions: All solutions; where something is optimised, each better one as it is found (-a).
        count: At most so many solutions (-n).
        free: Whether search may ignore the model's annotations (-f).
        seconds: Time limit (-t, in milliseconds there).
        seed: Random seed (-r).
        statistics: Whether to print statistics (-s).
    """

    all_solutions: bool = False
    count: int | None = None
    free: bool = False
    seconds: float | None = None
    seed: int = 0
    statistics: bool = False


def lines(flat: FlatModel, options: Options) -> Iterator[str]:
    """What is printed: solutions, the mark of a complete search, statistics."""
    started = perf_counter()
    last: Result | None = None
    found = 0
    status = Status.UNKNOWN
    try:
        if flat.model.goals:
            last = flat.model.solve(
                time_limit=options.seconds, seed=options.seed, branching=brancher(flat, options)
            )
            status = last.status
            if last:
                found = 1
                yield from shown(flat.outputs, last)
        else:
            limit = None if options.all_solutions else options.count or 1
            solutions = flat.model.iter_solutions(
                limit, time_limit=options.seconds, seed=options.seed, branching=brancher(flat, options)
            )
            for last in solutions:
                found += 1
                yield from shown(flat.outputs, last)
            status = Status.FEASIBLE if found else Status.UNKNOWN
            if solutions.complete:
                status = Status.OPTIMAL if found else Status.INFEASIBLE
    except UnboundedError as problem:
        yield f"% {problem}"
    if status is Status.INFEASIBLE:
        yield UNSATISFIABLE
    elif status is Status.OPTIMAL:
        yield COMPLETE
    elif not found:
        yield UNKNOWN
    if options.statistics:
        yield from statistics(last, found, perf_counter() - started)


def brancher(flat: FlatModel, options: Options) -> Brancher:
    """How to branch: as the model's annotations say, where that is wanted and known here."""
    return Brancher()


def shown(outputs: list[Output], result: Result) -> Iterator[str]:
    """A solution as lines."""
    for output in outputs:
        values = [_text(expr, result[expr]) for expr in output.exprs]
        if output.ranges is None:
            yield f"{output.name} = {values[0]};"
        else:
            ranges = "".join(f"{low}..{high}, " for low, high in output.ranges)
            yield f"{output.name} = array{len(output.ranges)}d({ranges}[{', '.join(values)}]);"
    yield SOLUTION


def _text(expr: IntExpr, value: int) -> str:
    return ("true" if value else "false") if isinstance(expr, BoolExpr) else str(int(value))


def statistics(last: Result | None, found: int, seconds: float) -> Iterator[str]:
    """Statistics in MiniZinc's form."""
    if last is not None:
        yield f"%%%mzn-stat: nodes={last.statistics.nodes}"
        yield f"%%%mzn-stat: failures={last.statistics.failures}"
        yield f"%%%mzn-stat: propagations={last.statistics.propagations}"
        if last.objective is not None:
            yield f"%%%mzn-stat: objective={last.objective}"
    yield f"%%%mzn-stat: solutions={found}"
    yield f"%%%mzn-stat: solveTime={seconds:.3f}"
    yield "%%%mzn-stat-end"
