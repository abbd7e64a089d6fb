"""Makes a case's files: threads draw the input, one process for each block computes the reference.

Processes are used because the cells' references are plain numpy: threads would contend for small operations,
and libraries of linear algebra do not run well in several threads at once.
"""

from __future__ import annotations

import itertools
import math
import os
import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import RunError
from kerneltune.inputs.descriptions import Cell, Kernels
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.request import Request, kernels_for
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.messages import BadMessageError, BlockOrder, Done, Failed, decoded, encoded
from kerneltune.running import scan_arrays
from kerneltune.running.case import made_case
from kerneltune.running.case_files import create_array, open_array, write_manifest
from kerneltune.running.child_process import MODULE, ChildProcess, SilentError
from kerneltune.running.drawn_input import Allocate, random_arrays
from kerneltune.running.reference import SUMS, Block, expected_shapes, fill, made_inputs

WORKER = (MODULE, "kerneltune.running.reference_child")
ROWS_OF_A_BLOCK = 16  # least rows of a block; with fewer, reading R takes longer than its products
OPERATIONS_PER_SECOND = 2e10  # of a core, to estimate whether processes pay
SECONDS_OF_A_VALUE = 2e-8  # time of a gate's elementwise part
WORTH_PROCESSES = 1.5  # seconds from which processes pay
PASSES = {"forward": 1, "training": 2, "backward": 5}  # products, relative to the forward pass
# One thread in each process, or a few if there are fewer blocks than cores.
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def expected_seconds(problem: Problem, cell: Cell) -> float:
    """Estimated time of the reference on one core."""
    values = problem.steps * problem.batch * problem.heads * problem.head_dim * len(cell.spec.gates)
    products = 2.0 * values * problem.head_dim
    return PASSES[problem.direction] * (products / OPERATIONS_PER_SECOND + values * SECONDS_OF_A_VALUE)


def case_bytes(problem: Request, kernels: Kernels) -> int:
    """Bytes of a case's files."""
    cell = kernels_for(problem, kernels).cell(problem.cell)
    if isinstance(problem, ScanProblem):
        wide = scan_arrays.expected_shapes(problem, cell)
        stored = {**scan_arrays.drawn_shapes(problem, cell), **scan_arrays.made_shapes(problem, cell)}
        drawn_bytes = 0
    else:
        wide = expected_shapes(problem, cell)
        stored = made_inputs(problem, cell)
        units = problem.heads * problem.head_dim
        drawn = problem.steps * problem.batch * units + units * problem.head_dim
        drawn_bytes = drawn * len(cell.spec.gates) * problem.dtype_bytes
    stored_bytes = sum(math.prod(shape) * dtype.itemsize for shape, dtype in stored.values())
    return sum(8 * math.prod(shape) for shape in wide.values()) + stored_bytes + drawn_bytes


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def blocks_of(problem: Problem, workers: int, least_rows: int = ROWS_OF_A_BLOCK) -> list[Block]:
    """Blocks of heads, and of rows if there are fewer heads than workers; at most as many as workers."""
    heads = min(problem.heads, workers)
    rows = max(1, min(problem.batch // least_rows, workers // heads))
    return [
        Block(of_heads, of_rows)
        for of_heads in _parts(problem.heads, heads)
        for of_rows in _parts(problem.batch, rows)
    ]


def make_case(
    problem: Request,
    kernels: Kernels,
    seed: int,
    folder: Path,
    workers: int | None = None,
    least_rows: int = ROWS_OF_A_BLOCK,
) -> None:
    """Draw a case and compute its reference into the files of a folder.

    Args:
        problem: The request.
        kernels: The kernels, with the problem's cell.
        seed: Seed of the input.
        folder: An empty folder.
        workers: Processes for a recurrent layer's reference; by default one per core if it takes long, else
            none.
        least_rows: Least rows of the part of a reference that a process computes.

    Raises:
        RunError: There is no space for the files, or the reference cannot be computed.
    """
    cell = kernels_for(problem, kernels).cell(problem.cell)

    def allocate(name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
        return create_array(folder, name, shape, dtype)

    if isinstance(problem, ScanProblem):
        _make_scan(problem, cell, seed, folder, allocate)
        return
    if workers is None:
        workers = cores() if expected_seconds(problem, cell) > WORTH_PROCESSES else 0
    arrays = random_arrays(problem, cell, seed, allocate)
    made = {name: allocate(name, *about) for name, about in made_inputs(problem, cell).items()}
    wide = np.dtype(np.float64)
    shapes = expected_shapes(problem, cell)
    expected = {name: allocate(name, shape, wide) for name, shape in shapes.items()}
    if workers:
        _fill_by_processes(
            problem, kernels, folder, blocks_of(problem, workers, least_rows), expected, workers
        )
    else:
        fill(problem, cell, arrays, {**made, **expected})
    arrays |= made
    used = made_case(problem, cell, arrays, expected).inputs.keys() | {"initial"}
    for name in arrays.keys() - used:
        (folder / f"{name}.npy").unlink()
    write_manifest(folder, problem, seed, sorted(used), shapes)


def _fill_by_processes(
    problem: Problem,
    kernels: Kernels,
    folder: Path,
    blocks: Sequence[Block],
    expected: Mapping[str, NDArray[np.generic]],
    workers: int,
) -> None:
    """Fill the expected arrays by processes, each with a block of heads and batch rows.

    Sums over the batch would be written by several processes. Each writes its own part of them to a file,
    and the parts are added here.
    """
    jobs = [_job(problem, kernels, folder, number, block) for number, block in enumerate(blocks)]
    _run_all(jobs, max(1, workers // len(blocks)))
    for number, block in enumerate(blocks):
        for name in SUMS:
            if name in expected:
                part = block.of(name, expected[name])
                part += open_array(folder, partial(name, number))
                (folder / f"{partial(name, number)}.npy").unlink()


def _make_scan(problem: ScanProblem, cell: Cell, seed: int, folder: Path, allocate: Allocate) -> None:
    """The same for a scan, whose reference is vectorised over rows and channels: no processes are needed."""
    arrays = scan_arrays.drawn_arrays(problem, cell, seed, allocate)
    made = {name: allocate(name, *about) for name, about in scan_arrays.made_shapes(problem, cell).items()}
    shapes = scan_arrays.expected_shapes(problem, cell)
    expected = {name: allocate(name, shape, np.dtype(np.float64)) for name, shape in shapes.items()}
    scan_arrays.fill(problem, cell, arrays, {**made, **expected})
    write_manifest(folder, problem, seed, sorted({**arrays, **made}), shapes)


def partial(name: str, number: int) -> str:
    """Name of the array of one block's contribution to a sum over rows."""
    return f"{name}.{number}"


def _parts(count: int, parts: int) -> list[tuple[int, int]]:
    edges = [count * i // parts for i in range(parts + 1)]
    return list(itertools.pairwise(edges))


def _job(problem: Problem, kernels: Kernels, folder: Path, number: int, block: Block) -> bytes:
    return encoded(
        BlockOrder(
            kernels_root=str(kernels.root),
            folder=str(folder),
            problem=asdict(problem),
            number=number,
            heads=block.heads,
            rows=block.rows,
        )
    )


def _run_all(jobs: Sequence[bytes], threads: int) -> None:
    """Run a process for each job; the first failure ends all."""
    environment = dict.fromkeys(THREAD_VARIABLES, str(threads))
    running: list[ChildProcess] = []
    ended: queue.Queue[str | None] = queue.Queue()
    try:
        for job in jobs:
            running.append(ChildProcess(WORKER, job, environment))
        for process in running:
            threading.Thread(target=_await, args=(process, ended), daemon=True).start()
        for _ in running:
            failure = ended.get()
            if failure is not None:
                raise RunError(f"the float64 reference could not be computed: {failure}")
    finally:
        for process in running:
            process.end()


def _await(process: ChildProcess, ended: queue.Queue[str | None]) -> None:
    try:
        said = decoded(process.line(None), Done)
        ended.put(said.failure if isinstance(said, Failed) else None)
    except (SilentError, BadMessageError) as error:
        ended.put(str(error))
