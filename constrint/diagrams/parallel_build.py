"""Building and listing solution sets in parallel: by threads, or by any executor of `concurrent.futures`.

Threads process the chunks of a layer in parallel, because numpy releases the GIL in long operations. With an
executor (of processes, of Dask, of machines), the first layers are built here until there are several nodes
for each worker. A node stands for all prefixes that leave the same rest. A worker gets the model as JSON and
one prefix for each of its nodes, builds what follows them, and returns it as the file of a solution set. Only
text and bytes are sent.

Numbers and order of the solutions do not depend on the workers.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice, pairwise
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from constrint.diagrams.diagram import Diagram, Layer
from constrint.diagrams.files import columns_of_bytes, columns_to_bytes, of_bytes, to_bytes
from constrint.diagrams.layers import EdgeBudget, LayerBuilder, planning
from constrint.diagrams.listing import fill, product_columns
from constrint.diagrams.merge import merged
from constrint.diagrams.planner import Maker, Planner
from constrint.diagrams.terms import INT64, OBJECT, Array
from constrint.parallel.workers import AHEAD, check_version, checked, own_version, result_of
from constrint.support.deadline import Deadline

SHARES = 4
"""Shares for each worker, because some take longer than others."""
SLOW = 100
"""Relative time of a row of Python's integers, compared with numpy's numbers."""

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Source = dict[str, Any]


def ordered(
    executor: Executor, function: Callable[[Item], Answer], items: Iterable[Item], ahead: int
) -> Iterator[Answer]:
    """The answers in order of the items; at most `ahead` items are submitted ahead."""
    waiting = iter(items)
    running = deque(executor.submit(function, item) for item in islice(waiting, ahead))
    try:
        while running:
            answer = result_of(running.popleft())
            running.extend(executor.submit(function, item) for item in islice(waiting, 1))
            yield answer
    finally:
        for future in running:
            future.cancel()


@contextmanager
def maker(executor: Executor | None, workers: int | None, source: Callable[[], Source]) -> Iterator[Maker]:
    """The maker of the components' diagrams: this thread, threads, or an executor.

    Args:
        executor: The executor; without one, threads of this process if there are several workers.
        workers: Number of workers.
        source: Returns the data from which a worker makes the same plan; only called with an executor.
    """
    workers = checked(workers, executor)
    if executor is not None:
        yield _Shares(executor, workers, source())
    elif workers > 1:
        with ThreadPoolExecutor(workers, "constrint") as pool:
            yield partial(_by_threads, pool, workers)
    else:
        yield _alone


def _alone(builder: LayerBuilder, estimate: float) -> Diagram:
    return builder.build()


def _by_threads(pool: Executor, workers: int, builder: LayerBuilder, estimate: float) -> Diagram:
    if _work(builder, estimate) >= builder.settings.least_rows:
        builder.mapper = lambda function, items: ordered(pool, function, items, AHEAD * workers)
    return builder.build()


def _work(builder: LayerBuilder, estimate: float) -> float:
    """The expected rows, weighted by the time of Python's integers."""
    terms = dict.fromkeys(builder.conditions)
    waiting = list(terms)
    while waiting:
        term = waiting.pop()
        if term.dtype == OBJECT:
            return estimate * SLOW
        waiting += [arg for arg in term.args if arg not in terms]
        terms.update(dict.fromkeys(term.args))
    return estimate


# Building in shares


@dataclass
class _Task:
    """A worker's task, as JSON.

    Attributes:
        version: Version of constrint, which must be the worker's.
        source: The data from which the plan is made.
        order: The variables of the component.
        prefixes: For each of the first variables, a value for each node.
        edges: Maximum number of edges.
        rows: Maximum number of rows.
        seconds: Time left; None for no limit.
    """

    version: str
    source: Source
    order: list[int]
    prefixes: list[list[object]]
    edges: int
    rows: int
    seconds: float | None


@dataclass
class _Shares:
    """Builds components by shares of an executor."""

    executor: Executor
    workers: int
    source: Source

    def __call__(self, builder: LayerBuilder, estimate: float) -> Diagram:
        shares = SHARES * self.workers
        if _work(builder, estimate) < builder.settings.least_rows:
            return builder.build()
        while builder.nodes < shares and len(builder.layers) < len(builder.order) - 1:
            builder.advance()
        if builder.nodes < 2:
            return builder.build()
        cuts = np.unique(np.linspace(0, builder.nodes, shares + 1).astype(np.int64)).tolist()
        prefixes = [column.tolist() for column in builder.prefixes()]
        tasks = [self._task(builder, [column[i:j] for column in prefixes]) for i, j in pairwise(cuts)]
        answers = []
        for content in ordered(self.executor, build_share, tasks, AHEAD * self.workers):
            diagrams, header = of_bytes(content)
            answers.append(diagrams[0] if diagrams else None)
            builder.budget.spend(header["edges"], header["rows"])
        return merged(_assembled(builder, cuts, answers))

    def _task(self, builder: LayerBuilder, prefixes: list[list[object]]) -> str:
        budget = builder.budget
        seconds = None if budget.deadline is None else budget.deadline - perf_counter()
        order = list(builder.order)
        task = _Task(own_version(), self.source, order, prefixes, budget.edges, budget.rows, seconds)
        return json.dumps(asdict(task))


def build_share(text: str) -> bytes:
    """A worker's part: the layers after a run of nodes, below one root with an edge to each of them."""
    task = _Task(**json.loads(text))
    check_version(task.version)
    with planning(Deadline(task.seconds)):
        return _share(task)


def _share(task: _Task) -> bytes:
    planner = _planner(task.source)
    deadline = None if task.seconds is None else perf_counter() + task.seconds
    budget = EdgeBudget(task.edges, task.rows, deadline)
    builder = planner.builder(task.order, budget)
    depth, nodes = len(task.prefixes), len(task.prefixes[0])
    builder.begin([_column(builder, v, given) for v, given in zip(task.order, task.prefixes, strict=False)])
    while len(builder.layers) < len(task.order):
        builder.advance()
    root = Layer(np.array([0, nodes]), np.arange(nodes), np.arange(nodes))
    diagram = Diagram.of_layers([-1, *task.order[depth:]], [root, *builder.layers[depth:]])
    spent = {"edges": task.edges - budget.edges, "rows": task.rows - budget.rows}
    return to_bytes([diagram] if diagram.size else None, spent)


def _column(builder: LayerBuilder, v: int, values: list[object]) -> Array:
    """Values in the type that the terms of their variable are computed from."""
    domain = builder.terms.domains[v]
    wide = max(map(abs, builder.terms.limits[v])) >= 1 << 62
    return np.array(values, dtype=domain.dtype if domain is not None else OBJECT if wide else INT64)


def _planner(source: Source) -> Planner:
    if "model" in source:
        from constrint.diagrams.planner import plan_model
        from constrint.frontends.json.model import from_json

        return plan_model(from_json(source["model"]))
    from constrint.diagrams.parameters import planned

    return planned(source["tune_params"], source["restrictions"])


def _assembled(builder: LayerBuilder, cuts: Sequence[int], answers: Sequence[Diagram | None]) -> Diagram:
    """The first layers, followed by the workers' diagrams for the runs of nodes between the cuts.

    Args:
        builder: Has the first layers, and `nodes` open nodes below them.
        cuts: The first open node of each run, and at last the number of open nodes.
        answers: The diagram of each run: below its root, an edge by its place to each node of the run that
            has solutions. None if no node has any.
    """
    depth = len(builder.layers)
    degree = np.zeros(builder.nodes, dtype=np.int64)
    found = []
    for node, diagram in zip(cuts, answers, strict=False):
        if diagram is not None:
            root, below = diagram.layers[:2]
            degree[node + root.value] = np.diff(below.first)
            found.append(diagram.layers[1:])
    layers = [*builder.layers]
    for k in range(len(builder.order) - depth if found else 0):
        same = [part[k] for part in found]
        firsts = [np.diff(layer.first) for layer in same] if k else [degree]
        first = np.concatenate([[0], *firsts]).cumsum()
        value = np.concatenate([layer.value for layer in same])
        starts = np.cumsum([0, *[part[k + 1].nodes if k + 1 < len(part) else 0 for part in found]])
        target = [layer.target + start for layer, start in zip(same, starts, strict=False)]
        layers.append(Layer(first, value, np.concatenate(target).astype(np.int64)))
    if not found:
        none = np.zeros(0, dtype=np.int64)
        ends = np.zeros(builder.nodes + 1, dtype=np.int64)
        layers.append(Layer(ends, none, none))
        layers += [Layer(ends[:1], none, none)] * (len(builder.order) - depth - 1)
    return Diagram.of_layers(builder.order, layers)


# Listing in shares


def listed(
    diagrams: Sequence[Diagram],
    runs: Iterable[tuple[int, int]],
    executor: Executor | None,
    workers: int | None,
) -> Iterator[dict[int, Array]]:
    """The columns of each run of numbers, in order: by an executor, by threads, or by this thread."""
    workers = checked(workers, executor)
    if executor is not None:
        content = to_bytes(diagrams, {})
        tasks = ((content, start, stop) for start, stop in runs)
        for answer in ordered(executor, list_share, tasks, AHEAD * workers):
            yield columns_of_bytes(answer)
    elif workers > 1:
        with ThreadPoolExecutor(workers, "constrint") as pool:
            yield from ordered(pool, lambda run: product_columns(diagrams, *run), runs, AHEAD * workers)
    else:
        for start, stop in runs:
            yield product_columns(diagrams, start, stop)


Write = Callable[[int, dict[int, Array]], None]
"""Called with the number of the first row, and columns."""


def write_runs(
    diagrams: Sequence[Diagram],
    runs: Sequence[tuple[int, int]],
    write: Write,
    executor: Executor | None,
    workers: int | None,
) -> None:
    """Write the columns of each run; threads write them themselves."""
    workers = checked(workers, executor)
    if executor is not None or workers == 1:
        for (start, _), columns in zip(runs, listed(diagrams, runs, executor, workers), strict=True):
            write(start, columns)
        return
    with ThreadPoolExecutor(workers, "constrint") as pool:
        for _ in ordered(pool, partial(_write_run, diagrams, write), runs, AHEAD * workers):
            pass


def _write_run(diagrams: Sequence[Diagram], write: Write, run: tuple[int, int]) -> None:
    write(run[0], product_columns(diagrams, *run))


def fill_by_threads(table: Array, diagrams: Sequence[Diagram], workers: int) -> None:
    """Write a product of several diagrams with a thread for each column; values are only repeated."""
    with ThreadPoolExecutor(workers, "constrint") as pool:
        written: list[Future[None]] = []
        fill(table, diagrams, lambda function, *given: written.append(pool.submit(function, *given)))
        for future in written:
            future.result()


def list_share(task: tuple[bytes, int, int]) -> bytes:
    """A worker's part: the columns of a run of numbers, from diagrams in a file."""
    content, start, stop = task
    diagrams, _ = of_bytes(content)
    return columns_to_bytes(product_columns(diagrams or (), start, stop))
