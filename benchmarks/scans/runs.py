"""What the measurements of scans share: kernels made by many processes, their launches, rows and results."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.compiling.scan_arguments import packed_scan
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace


class Job(NamedTuple):
    """A kernel to make, by one strategy or any, with some numbers of its tiling given.

    `root` is the folder of kernels, by default the package's.
    """

    problem: ScanProblem
    gpu: str
    strategy: str | None = None
    given: tuple[tuple[str, int], ...] = ()
    sigma: float = 0.5
    root: Path | None = None


class Kernel(NamedTuple):
    """A compiled tiling: the candidate as JSON with its report, and the machine code."""

    data: dict[str, Any]
    cubin: bytes
    cooperative: bool


def parser(description: str | None, workers: int) -> argparse.ArgumentParser:
    """The arguments of every measurement."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    made.add_argument("--gpu", default="h100_sxm", help="the profile")
    made.add_argument("--workers", type=int, default=workers, help="processes that compile")
    made.add_argument("--explore", action="store_true", help="other tilings of some shapes besides")
    return made


def made(job: Job) -> Kernel | str:
    """The best tiling with some numbers given, compiled; or why there is none."""
    profile, kernels = load_profile(job.gpu), discover_scans(job.root)
    space = TilingSpace(job.problem, profile, kernels, job.strategy)
    compiler = Compiler(kernels, profile)
    try:
        if not job.given:
            compiled = settle(space, compiler).compiled
        else:
            strategy = space.applicable()[0]
            model = space.model(strategy)
            for name, value in job.given:
                model.add(model.variables[name] == value)
            result = model.solve()
            if not result:
                return "nothing fits"
            compiled = compiler.compile(space._candidate(strategy, result.values))
    except KernelTuneError as error:
        return str(error)
    cooperative = space.kernels.strategy(compiled.candidate.strategy).spec.cooperative
    data = {**compiled.candidate.to_json(), "report": compiled.report.to_json()}
    return Kernel(data, compiled.cubin, cooperative)


def made_all(jobs: Sequence[Job], workers: int) -> list[tuple[Job, Kernel]]:
    """The jobs and their kernels; what has none is printed."""
    started = time.time()
    with ProcessPoolExecutor(workers) as pool:
        kernels = list(pool.map(made, jobs))
    print(f"{len(jobs)} kernels made in {time.time() - started:.0f} s", flush=True)
    found = []
    for job, kernel in zip(jobs, kernels, strict=True):
        if isinstance(kernel, str):
            print(f"{job.problem.label} {dict(job.given) or ''}: {kernel[:200]}", flush=True)
        else:
            found.append((job, kernel))
    return found


def copy_rate() -> float:
    """GB/s of a large copy, read and written."""
    import torch
    from triton.testing import do_bench

    x = torch.empty(2**30, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    return float(4 * x.numel() / do_bench(lambda: y.copy_(x), return_mode="median") / 1e6)


def dtype_of(problem: ScanProblem) -> Any:
    """torch's type of the elements."""
    import torch

    return {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[problem.dtype]


def launched(
    problem: ScanProblem,
    kernel: Kernel,
    tensors: dict[str, Any],
    outputs: Sequence[Any],
    milliseconds: int,
    note: Callable[[], None] = lambda: None,
) -> tuple[list[Any], dict[str, Any]]:
    """The outputs of the first launch; the time of one, and whether later ones write the same bits.

    Args:
        problem: What is computed.
        kernel: By what.
        tensors: The arrays of the kernel by name, outputs among them, without the workspace.
        outputs: The arrays that it writes.
        milliseconds: How long it is timed.
        note: Called after the first launch.
    """
    import torch
    from triton.testing import do_bench

    from kerneltune.running.launch import ExtendedKernel

    candidate = Candidate.from_json(kernel.data)
    loaded = ExtendedKernel(kernel.cubin, candidate, cooperative=kernel.cooperative)
    workspace = torch.full((max(candidate.workspace, 16),), 0, dtype=torch.uint8, device="cuda")
    addresses = {name: tensor.data_ptr() for name, tensor in {**tensors, "workspace": workspace}.items()}
    arguments = packed_scan(problem, addresses)

    class Stream:
        handle = torch.cuda.current_stream().cuda_stream

    for output in outputs:
        output.fill_(float("nan"))
    loaded.launch(arguments, Stream)
    first = [output.clone() for output in outputs]
    note()
    spent = do_bench(
        lambda: loaded.launch(arguments, Stream), warmup=5, rep=milliseconds, return_mode="median"
    )
    torch.cuda.synchronize()
    same = all(
        torch.equal(x.view(torch.uint8), y.view(torch.uint8)) for x, y in zip(first, outputs, strict=True)
    )
    unwritten = sum(int(torch.isnan(output).sum()) for output in first)
    loaded.unload()
    return first, {"milliseconds": spent, "same_bits": same, "unwritten": unwritten}


def facts(job: Job, kernel: Kernel) -> dict[str, Any]:
    """What a row says of the kernel itself."""
    data = kernel.data
    return {
        "problem": asdict(job.problem),
        "given": dict(job.given),
        "strategy": data["strategy"],
        "parameters": data["parameters"],
        "predicted_milliseconds": data["values"]["cycles"] / data["boost_mhz"] / 1e3,
        "blocks_per_sm": data["values"]["blocks_per_sm"],
        "registers": data["report"]["registers"],
        "spills": data["report"]["spill_stores"],
    }


def percent(least_bytes: int, rate: float, milliseconds: float) -> float:
    """The time that the bytes take at a rate in GB/s, in percent of a time."""
    return round(least_bytes / rate / 1e4 / milliseconds, 1)


def write(path: Path, rate: float, rows: list[dict[str, Any]], **more: Any) -> None:
    """What was found so far."""
    import torch

    result = {
        "machine": torch.cuda.get_device_name(),
        "copy_gbs": round(rate),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
        },
        "command": " ".join(["python", *sys.argv]),
        "rows": rows,
        **more,
    }
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
