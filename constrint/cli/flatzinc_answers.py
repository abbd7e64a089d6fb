"""Solving FlatZinc: MiniZinc's options, the stream of solutions, and the status lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any

from constrint.errors import UnboundedError
from constrint.expr import BoolExpr, IntExpr
from constrint.frontends.flatzinc.items import Call, Value
from constrint.frontends.flatzinc.model_building import FlatModel, Output
from constrint.frontends.flatzinc.sets import set_text
from constrint.model import Model
from constrint.modelling.result import Result, Status
from constrint.modelling.symbols import SetExpr
from constrint.preparing.branching import Brancher, Group, ValueSelector, VariableSelector
from constrint.preparing.restart_rules import Restarts
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from constrint.support.log_target import Log

SOLUTION = "----------"
COMPLETE = "=========="
UNSATISFIABLE = "=====UNSATISFIABLE====="
UNKNOWN = "=====UNKNOWN====="


@dataclass(frozen=True)
class MiniZincOptions:
    """MiniZinc's standard options.

    Attributes:
        all_solutions: All solutions; when optimising, each better one as it is found (-a).
        count: Maximum number of solutions (-n), also of all (-a); no limit when optimising, as MiniZinc says.
        free: Whether search may ignore the model's annotations (-f).
        seconds: Time limit; MiniZinc gives it in milliseconds (-t).
        seed: Random seed (-r).
        statistics: Whether to print statistics (-s).
        intermediate: When optimising, each better solution as it is found (-i).
        workers: Number of workers (-p); with several, annotations about restarts are ignored.
        verbose: Whether to write a log to standard error (-v).
    """

    all_solutions: bool = False
    count: int | None = None
    free: bool = False
    seconds: float | None = None
    seed: int = 0
    statistics: bool = False
    intermediate: bool = False
    workers: int = 1
    verbose: bool = False

    @property
    def log(self) -> Log:
        """Where the log goes."""
        return sys.stderr if self.verbose else False


def lines(flat: FlatModel, options: MiniZincOptions) -> Iterator[str]:
    """All printed lines at once; see `report`."""
    printed: list[str] = []
    report(flat, options, printed.append)
    return iter(printed)


def report(flat: FlatModel, options: MiniZincOptions, write: Callable[[str], object]) -> None:
    """Write solutions as they are found, the status line, and statistics."""
    started = perf_counter()
    answer = _Answer()
    try:
        if flat.model.goals:
            _optimise(flat, options, write, answer)
        else:
            _enumerate(flat, options, write, answer)
    except UnboundedError as problem:
        write(f"% {problem}")
    if answer.status is Status.INFEASIBLE:
        write(UNSATISFIABLE)
    elif answer.status is Status.OPTIMAL:
        write(COMPLETE)
    elif not answer.found:
        write(UNKNOWN)
    if options.statistics:
        for line in statistics(answer.last, answer.found, perf_counter() - started):
            write(line)


@dataclass
class _Answer:
    """The state of an answer: number of solutions, the last one, and how the search ended."""

    last: Result | None = None
    found: int = 0
    status: Status = Status.UNKNOWN


def _solve(
    flat: FlatModel, options: MiniZincOptions, on_solution: Callable[[Result], None] | None = None
) -> Result:
    return Model.of(flat.model).solve(
        time_limit=options.seconds,
        seed=options.seed,
        branching=brancher(flat, options),
        restarts=restarts(flat, options),
        log=options.log,
        workers=options.workers,
        on_solution=on_solution,
    )


def _optimise(
    flat: FlatModel, options: MiniZincOptions, write: Callable[[str], object], answer: _Answer
) -> None:
    def show(result: Result) -> None:
        answer.last = result
        answer.found += 1
        for line in shown(flat.outputs, result):
            write(line)

    result = _solve(flat, options, show if options.all_solutions or options.intermediate else None)
    answer.status = result.status
    if result and (answer.last is None or answer.last.objective != result.objective):
        show(result)
    answer.last = result


def _enumerate(
    flat: FlatModel, options: MiniZincOptions, write: Callable[[str], object], answer: _Answer
) -> None:
    limit = options.count or (None if options.all_solutions else 1)
    if limit == 1:  # finds one even if a variable is unbounded
        answer.last = _solve(flat, options)
        if answer.last:
            answer.found = 1
            for line in shown(flat.outputs, answer.last):
                write(line)
        # Listing is complete when all solutions are known, not when the first of many is found.
        answer.status = Status.FEASIBLE if answer.last else answer.last.status
        return
    solutions = Model.of(flat.model).iter_solutions(
        limit,
        time_limit=options.seconds,
        seed=options.seed,
        branching=brancher(flat, options),
        log=options.log,
        workers=options.workers,
    )
    for answer.last in solutions:
        answer.found += 1
        for line in shown(flat.outputs, answer.last):
            write(line)
    answer.status = Status.FEASIBLE if answer.found else Status.UNKNOWN
    if solutions.complete:
        answer.status = Status.OPTIMAL if answer.found else Status.INFEASIBLE


VARIABLES: dict[str, VariableSelector] = {
    "input_order": "input_order",
    "first_fail": "first_fail",
    "anti_first_fail": "anti_first_fail",
    "smallest": "smallest",
    "largest": "largest",
    "occurrence": "occurrence",
    "most_constrained": "most_constrained",
    "max_regret": "max_regret",
    "dom_w_deg": "dom_w_deg",
}
VALUES: dict[str, ValueSelector] = {
    "indomain": "min",
    "indomain_min": "min",
    "indomain_max": "max",
    "indomain_median": "middle",
    "indomain_middle": "middle",
    "indomain_random": "random",
    "indomain_split": "lower_half",
    "indomain_reverse_split": "upper_half",
    "indomain_interval": "lower_half",
}


def brancher(flat: FlatModel, options: MiniZincOptions) -> Brancher | None:
    """The brancher that the annotations ask for, or None with -f; unknown selectors are ignored."""
    if options.free or not flat.searched:
        return None
    groups = [
        Group(exprs, VARIABLES.get(variables, "dom_deg"), VALUES.get(values, "auto"))
        for exprs, variables, values in flat.searched
    ]
    return Brancher(groups=tuple(groups))


def restarts(flat: FlatModel, options: MiniZincOptions) -> Restarts | None:
    """The restarts that an annotation of the solve item asks for; other searches go on beside them."""
    if options.free or options.workers > 1:
        return None
    for annotation in flat.document.search:
        if isinstance(annotation, Call) and annotation.name in ("restart_luby", "restart_geometric"):
            numbers = [number for value in annotation.args if (number := _number(value)) is not None]
            unit = max(1, int(numbers[-1])) if numbers else 100
            if annotation.name == "restart_luby":
                return Restarts("luby", unit, alone=False)
            if numbers:
                return Restarts("geometric", unit, max(1.001, numbers[0]), alone=False)
    return None


def annotated(flat: FlatModel) -> Iterator[str]:
    """The search annotations in lines for people; those whose selectors are unknown say what is used."""
    for exprs, variables, values in flat.searched:
        used = VARIABLES.get(variables, "dom_deg"), VALUES.get(values, "auto")
        unknown = "" if variables in VARIABLES and values in VALUES else f" (as {', '.join(used)})"
        of = counted(len(exprs), "variable")
        yield f"annotation: {of} by {variables}, {values}{unknown}, but not with fzn-constrint -f"
    again = restarts(flat, MiniZincOptions())
    if again is not None:
        yield f"annotation: {again.rule} restarts beside the other searches"


def _number(value: Value) -> float | None:
    """A number in an annotation; None for anything else, and for numbers too large to be meant."""
    try:
        number = float(value) if isinstance(value, int | str) else inf
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def shown(outputs: list[Output], result: Result) -> Iterator[str]:
    """The output lines of a solution."""
    for output in outputs:
        values = [_text(expr, result[expr]) for expr in output.exprs]
        if output.ranges is None:
            yield f"{output.name} = {values[0]};"
        else:
            ranges = "".join(f"{low}..{high}, " for low, high in output.ranges)
            yield f"{output.name} = array{len(output.ranges)}d({ranges}[{', '.join(values)}]);"
    yield SOLUTION


def _text(expr: IntExpr | SetExpr, value: Any) -> str:
    if isinstance(expr, SetExpr):
        return set_text(value)
    return ("true" if value else "false") if isinstance(expr, BoolExpr) else str(int(value))


def statistics(last: Result | None, found: int, seconds: float) -> Iterator[str]:
    """Statistics in MiniZinc's format."""
    if last is not None:
        yield f"%%%mzn-stat: nodes={last.statistics.nodes}"
        yield f"%%%mzn-stat: failures={last.statistics.failures}"
        yield f"%%%mzn-stat: propagations={last.statistics.propagations}"
        yield f'%%%mzn-stat: method="{last.statistics.method}"'
        for name, reason in last.statistics.absent.items():
            yield f"% took no part: {name}: {reason}"
        if last.objective is not None:
            yield f"%%%mzn-stat: objective={last.objective}"
    yield f"%%%mzn-stat: solutions={found}"
    yield f"%%%mzn-stat: solveTime={seconds:.3f}"
    yield "%%%mzn-stat-end"
