"""The command `constrint space`: the set of all solutions of a model or of a tuner's search space."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from constrint.cli.given import chosen_values, named_in
from constrint.cli.solve import UNDECIDED, infeasible, value_text, written
from constrint.errors import LimitError, ModelError, printable
from constrint.support.deadline import Deadline
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from constrint.model import Model
    from constrint.solutions.solutionset import SolutionSet
    from constrint.support.limits import Limits
    from constrint.tuning.spaces import Space

Shown: TypeAlias = Literal["summary", "count", "list", "sample"]

INFEASIBLE = 1
TABLES, SETS, T1 = (".parquet", ".csv", ".npy"), (".npz",), (".json",)
PICTURES = (".svg", ".html")
MOST_NAMED = 8  # most values of a variable in a summary or an error


@dataclass(frozen=True)
class SpaceRequest:
    """The output that `constrint space` is to give.

    Attributes:
        shown: What is printed.
        number: Number of samples, or maximum length of the list.
        seed: Seed of the sample.
        given: Conditions NAME=VALUE, NAME in LOW..HIGH or NAME in {VALUE, …}.
        out: File for all solutions, or None.
        picture: File for a picture, or None.
        picture_edges: The most edges of a diagram that a page holds, or None for the usual number.
        json: Whether to print JSON.
        time_limit: Seconds for building, or None.
        memory_limit: Bytes for building, or None.
        limits: Limits of the search space's size, or None.
    """

    shown: Shown = "summary"
    number: int | None = None
    seed: int = 0
    given: tuple[str, ...] = ()
    out: str | None = None
    picture: str | None = None
    picture_edges: int | None = None
    json: bool = False
    time_limit: float | None = None
    memory_limit: int | None = None
    limits: Limits | None = None

    def check(self) -> None:
        """Refuse file names with unknown endings before any work is done."""
        endings = (*TABLES, *SETS, *T1)
        if self.out is not None and Path(self.out).suffix.lower() not in endings:
            raise ModelError(f"--out {self.out}: the name must end in {', '.join(endings)}")
        if self.picture is not None and Path(self.picture).suffix.lower() not in PICTURES:
            raise ModelError(f"--picture {self.picture}: the name must end in {' or '.join(PICTURES)}")


@dataclass
class Built:
    """A set and its source.

    Attributes:
        solutions: The set.
        source: The model or the search space.
        seconds: Time that building took.
        written: Files that were written.
    """

    solutions: SolutionSet
    source: Model | Space
    seconds: float
    written: list[str] = field(default_factory=list)


def describe(source: Model | Mapping[str, object], name: str, request: SpaceRequest) -> int:
    """Build the set of a model or of a JSON search space, and print; returns the exit code."""
    request.check()
    deadline = Deadline(request.time_limit)
    try:
        built = _built(source, name, request)
    except LimitError as problem:
        reason = str(problem).replace("`iter_solutions()`", "`constrint solve --all`")
        if request.json:
            _write_json({"status": "unknown", "reason": reason})
        else:
            _write(f"unknown: {reason}")
        return UNDECIDED
    if not built.solutions.size:
        return _none(built, request, deadline)
    wanted = built.solutions
    for condition in request.given:
        wanted = _given(wanted, condition)
        if not wanted.size:
            return _nothing_given(built.solutions, condition, request)
    built.solutions = wanted
    _write_files(built, request)
    _SHOW[request.shown](built, name, request)
    return 0


def _built(source: Model | Mapping[str, object], name: str, request: SpaceRequest) -> Built:
    from constrint.tuning.spaces import from_json

    begun = perf_counter()
    with _waiting("building the space"):
        if isinstance(source, Mapping):
            space = from_json(
                source,
                filename=name,
                limits=request.limits,
                memory_limit=request.memory_limit,
                time_limit=request.time_limit,
            )
            return Built(space, space, perf_counter() - begun)
        solutions = source.solutions(memory_limit=request.memory_limit, time_limit=request.time_limit)
    return Built(solutions, source, perf_counter() - begun)


def _none(built: Built, request: SpaceRequest, deadline: Deadline) -> int:
    from constrint.model import Model

    if isinstance(built.source, Model):
        return infeasible(built.source, request.json, deadline)
    *notes, reason = built.source.notes
    return _no_solution(reason, request, notes)


def _no_solution(reason: str, request: SpaceRequest, notes: Sequence[str] = ()) -> int:
    if request.json:
        _write_json({"status": "infeasible", "reason": reason, "notes": list(notes)})
        return INFEASIBLE
    _write(f"infeasible: {reason}")
    for note in notes:
        _write(f"  {note}")
    return INFEASIBLE


def _given(solutions: SolutionSet, condition: str) -> SolutionSet:
    """The solutions that meet NAME=VALUE, NAME in LOW..HIGH, or NAME in {VALUE, …}."""
    name = _variable_of(solutions, condition)
    values = chosen_values(condition, solutions.values_of(name), name)
    if not values:
        return solutions - solutions
    if (
        len(values) > 1
        and name not in solutions.sets
        and all(isinstance(value, Hashable) for value in values)
    ):
        return solutions.given(**{name: set(values)})
    return reduce(or_, (solutions.given(**{name: value}) for value in values))


def _variable_of(solutions: SolutionSet, condition: str) -> str:
    name = named_in(condition, solutions.names)
    solutions.values_of(name)  # raises for an unknown name
    return name


def _nothing_given(solutions: SolutionSet, condition: str, request: SpaceRequest) -> int:
    name = _variable_of(solutions, condition)
    others = [one for one in request.given if one != condition]
    why = f"no solution has {condition}" + (f" together with {', '.join(others)}" if others else "")
    return _no_solution(f"{why}; the values of {name} are {_some(solutions.values_of(name))}", request)


def _some(values: list[object]) -> str:
    """A shortened list of values."""
    if len(values) <= MOST_NAMED:
        return ", ".join(map(value_text, values))
    return f"{', '.join(map(value_text, values[: MOST_NAMED - 1]))}, …, {value_text(values[-1])}"


# Files


def _write_files(built: Built, request: SpaceRequest) -> None:
    if request.out is not None:
        _write_out(built, request.out)
        built.written.append(request.out)
    if request.picture is not None:
        with _waiting("drawing"):
            built.solutions.picture(request.picture, most_edges=request.picture_edges)
        built.written.append(request.picture)


def _write_out(built: Built, path: str) -> None:
    from constrint.model import Model
    from constrint.support.placing import placed

    solutions, suffix = built.solutions, Path(path).suffix.lower()
    if suffix in SETS:
        solutions.save(path)
    elif suffix in T1:
        if isinstance(built.source, Model) or solutions is not built.source:
            raise ModelError(f"--out {path}: only a whole search space of a tuner can be written as T1")
        with placed(path) as aside:
            aside.write_text(json.dumps(built.source.to_t1(), indent=1) + "\n", encoding="utf-8")
    else:
        write = {".parquet": solutions.to_parquet, ".csv": solutions.to_csv, ".npy": solutions.to_npy}[suffix]
        with _counting(f"writing {path}", solutions.size) as advance:
            write(path, progress=advance)


@contextmanager
def _waiting(what: str) -> Iterator[None]:
    """Show a spinner with a text on a terminal while the block runs."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …"):
        yield


@contextmanager
def _counting(what: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar on a terminal while the block runs."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=float(total))
        yield lambda rows: progress.advance(task, rows)


# Standard output


def _show_count(built: Built, name: str, request: SpaceRequest) -> None:
    if request.json:
        _write_json({"count": built.solutions.size, **_files(built)})
    else:
        _write(str(built.solutions.size))


def _show_sample(built: Built, name: str, request: SpaceRequest) -> None:
    drawn = built.solutions.sample(request.number or 1, request.seed)
    if request.json:
        _write_json({"solutions": drawn, "count": built.solutions.size, **_files(built)})
    else:
        for row in drawn:
            _write(_line(row))


def _show_list(built: Built, name: str, request: SpaceRequest) -> None:
    """Print all solutions in order as they are computed, so that a long list needs no memory."""
    limit = request.number
    size = built.solutions.size
    most = size if limit is None else min(limit, size)
    if request.json:
        sys.stdout.write('{"solutions": [')
    for number, row in enumerate(built.solutions):
        if number == most:
            break
        if request.json:
            sys.stdout.write(("\n" if not number else ",\n") + json.dumps(row, default=written))
        else:
            _write(_line(row))
    if request.json:
        rest = {"count": size, "complete": most == size, **_files(built)}
        _write(f"\n], {json.dumps(rest)[1:]}")


def _show_summary(built: Built, name: str, request: SpaceRequest) -> None:
    solutions = built.solutions
    if request.json:
        _write_json(
            {
                "file": name,
                "count": solutions.size,
                "variables": {name: len(solutions.values_of(name)) for name in solutions.names},
                "order": list(solutions.order),
                "edges": solutions.edges,
                "width": solutions.width,
                "seconds": round(built.seconds, 6),
                "notes": list(getattr(built.source, "notes", ())),
                **_files(built),
            }
        )
        return
    _write(f"{name}: {counted(solutions.size, 'solution')}")
    for line in solutions.facts():
        _write(f"  {line}")
    _write(f"  built in {built.seconds:.3f} s")
    names = [printable(variable) for variable in solutions.names]
    width = max(map(len, names), default=0)
    for variable, name in zip(solutions.names, names, strict=True):
        _write(f"  {name:<{width}}  {printable(_some(solutions.values_of(variable)))}")
    for path in built.written:
        _write(f"wrote {path}")


def _files(built: Built) -> dict[str, list[str]]:
    return {"written": built.written} if built.written else {}


def _line(row: Mapping[str, object]) -> str:
    return " ".join(f"{printable(name)}={value_text(value)}" for name, value in row.items())


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")


def _write_json(document: Mapping[str, object]) -> None:
    _write(json.dumps(document, default=written))


_SHOW: dict[str, Callable[[Built, str, SpaceRequest], None]] = {
    "summary": _show_summary,
    "count": _show_count,
    "list": _show_list,
    "sample": _show_sample,
}
