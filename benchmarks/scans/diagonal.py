"""Diagonal cells, and scans in order, on this machine's GPU: checked, timed, what was repaired.

    python benchmarks/scans/diagonal.py --out results.json [--gpu h100_sxm] [--explore]

A time is the median of launches into a cleared L2 (triton's do_bench). "percent" is what the least bytes
take at the rate of a large copy, over the time; backward and in training, the states that are kept count.
Weights are drawn with the standard deviation "sigma". Of up to 2048 steps, results are held against float64
in a sample of channels of the first row; of all, the bits against those of the last launch.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from measure import copy_rate

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS, packed_scan
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

SHAPES = ((32, 2048, 2048), (8, 2048, 256), (8, 16384, 256), (1, 65536, 64))
SIGMAS = (0.5, 1.0, 2.0, 4.0)
CHUNKS = {2048: (64, 128), 16384: (512, 1024), 65536: (64, 128)}  # that are looked at
LIMIT = {"bf16": 5e-3, "fp16": 2e-3, "fp32": 1e-5}
SAMPLED = 16  # channels of the first row that are held against float64


class Job(NamedTuple):
    """A kernel to make, by one strategy or any, with some numbers of its tiling given."""

    problem: ScanProblem
    gpu: str
    strategy: str | None = None
    given: tuple[tuple[str, int], ...] = ()
    sigma: float = 0.5


def jobs(gpu: str, explore: bool) -> list[Job]:
    """What is measured."""
    found = []
    for cell in ("diag_gru", "diag_lstm", "diag_slstm"):
        for shape in SHAPES:
            for direction in ("forward", "training", "backward"):
                problem = ScanProblem(cell, *shape, "bf16", direction)
                found.append(Job(problem, gpu))
                if cell == "diag_gru" and direction != "training" and shape != SHAPES[0]:
                    found += [Job(problem, gpu, sigma=sigma) for sigma in SIGMAS[1:]]
                if explore and cell != "diag_slstm" and direction != "training":
                    found += alternatives(problem, gpu)
        found.append(Job(ScanProblem(cell, *SHAPES[1], "fp32", "forward"), gpu))
        found.append(Job(ScanProblem(cell, *SHAPES[1], "fp32", "backward"), gpu))
    for cell in ("linear", "mingru", "minlstm"):
        for direction in ("forward", "backward"):
            problem = ScanProblem(cell, *SHAPES[0], "bf16", direction)
            found += [Job(problem, gpu, "sequential"), Job(problem, gpu)]
            if explore:
                found += alternatives(problem, gpu)
    return found


def alternatives(problem: ScanProblem, gpu: str) -> list[Job]:
    """Tilings to look at beside the solver's choice."""
    found = []
    if problem.channels == SHAPES[0][2]:
        for vector in (4, 8, 16):
            found.append(Job(problem, gpu, "sequential", (("vector_bytes", vector), ("stages", 2))))
        return found
    for chunk in CHUNKS[problem.steps]:
        for vector in (4, 8):
            given = (("chunk_steps", chunk), ("vector_bytes", vector), ("tile_steps", 16))
            found.append(Job(problem, gpu, "overlap", given))
    return found


def made(job: Job) -> tuple[dict[str, Any], bytes, bool] | str:
    """The best tiling with some numbers given, compiled; or why there is none."""
    profile, kernels = load_profile(job.gpu), discover_scans()
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
    return {**compiled.candidate.to_json(), "report": compiled.report.to_json()}, compiled.cubin, cooperative


class Bench:
    """Arrays of one request and launches of kernels on them."""

    def __init__(self, problem: ScanProblem, sigma: float) -> None:
        import torch

        torch.manual_seed(1)
        self.problem, self.sigma, self.torch = problem, sigma, torch
        self.cell = discover_scans().cell(problem.cell)
        self.dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[problem.dtype]
        self.shape = problem.batch, problem.steps, problem.channels
        about = self.cell.constants()
        self.nonlinear, self.states = bool(about["nonlinear"]), about["cell_states"]
        count, backward = about["inputs"], problem.direction == "backward"
        self.read = [self._array().normal_() for _ in range(count)]
        if problem.cell == "linear":
            self.read[0].uniform_(0, 1)
        self.tensors = dict(zip(INPUTS, self.read, strict=False))
        self.outputs = dict(
            zip(OUTPUTS, [self._array() for _ in range(count if backward else 1)], strict=False)
        )
        row = (self.states, problem.batch, problem.channels)
        self.outputs["final_state"] = torch.empty(row, device="cuda")
        self.repaired = torch.zeros(4, dtype=torch.int32, device="cuda")
        least = (count + 1 if not backward else 2 * count + 2 - self.nonlinear) * problem.dtype_bytes
        elements = problem.batch * problem.steps * problem.channels
        kept = (-(-problem.steps // 16), *row)
        if self.nonlinear:
            self.weights = torch.randn(about["weights"], problem.channels, device="cuda") * sigma
            self.tensors["weights"] = self.weights
            if problem.direction == "training":
                self.outputs["checkpoints"] = torch.empty(kept, device="cuda")
            if backward:
                size = problem.batch, about["weights"], problem.channels
                self.outputs["weight_gradient"] = torch.empty(size, device="cuda")
        if backward:
            self.tensors["gradient"] = self._array().normal_()
            self.tensors["initial"] = torch.zeros(row, device="cuda")
            self.tensors["checkpoints" if self.nonlinear else "hidden"] = self._forward()
        self.least_bytes = least * elements
        if self.nonlinear and problem.direction != "forward":
            self.least_bytes += 4 * kept[0] * kept[1] * kept[2] * kept[3]

    def _array(self) -> Any:
        return self.torch.empty(self.shape, device="cuda", dtype=self.dtype)

    def _forward(self) -> Any:
        """What the backward pass reads of the forward pass."""
        from kerneltune.torch.diagonal import _diagonal
        from kerneltune.torch.scan import scan

        with self.torch.no_grad():
            if not self.nonlinear:
                return scan(self.problem.cell, *self.read)[0]
            options = (
                self.problem.cell,
                self.read,
                self.weights,
                None,
                None,
                None,
                False,
                "sequential",
                True,
            )
            return _diagonal(*options)[2]

    def errors(self) -> float | None:
        """Of a sample against float64; by the cell's own reference."""
        if not self.nonlinear:
            return None
        import numpy as np

        from kerneltune.running.diagonal_reference import DiagonalInputs, backward, forward

        every = max(1, self.problem.channels // SAMPLED)

        def wide(array: Any) -> Any:
            return array[:1, :, ::every].double().cpu().numpy()

        steps = self.problem.steps
        channels = len(range(0, self.problem.channels, every))
        inputs = DiagonalInputs(
            tuple(wide(part) for part in self.read),
            self.weights[:, ::every].double().cpu().numpy(),
            np.zeros((self.states, 1, channels)),
            np.array([steps], np.int32),
            np.zeros((1, steps), bool),
        )
        module = self.cell.reference_module()
        if self.problem.direction == "backward":
            wanted, _, _ = backward(
                module, inputs, wide(self.tensors["gradient"]), np.zeros_like(inputs.initial)
            )
        else:
            wanted = (forward(module, inputs).hidden,)
        found = [wide(self.outputs[name]) for name, _ in zip(OUTPUTS, wanted, strict=False)]
        off = [float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in zip(found, wanted, strict=True)]
        return max(off)

    def run(self, candidate: Candidate, cubin: bytes, cooperative: bool) -> dict[str, Any]:
        """Whether bits repeat, what was repaired, and the time of one kernel."""
        from triton.testing import do_bench

        from kerneltune.running.launch import ExtendedKernel

        torch = self.torch
        kernel = ExtendedKernel(cubin, candidate, cooperative=cooperative)
        workspace = torch.full((max(candidate.workspace, 16),), 0, dtype=torch.uint8, device="cuda")
        tensors = {**self.tensors, **self.outputs, "workspace": workspace, "repaired": self.repaired}
        arguments = packed_scan(self.problem, {name: tensor.data_ptr() for name, tensor in tensors.items()})

        class Stream:
            handle = torch.cuda.current_stream().cuda_stream

        for output in self.outputs.values():
            output.fill_(float("nan"))
        kernel.launch(arguments, Stream)
        first = {name: output.clone() for name, output in self.outputs.items()}
        repaired = self.repaired.tolist()
        milliseconds = do_bench(
            lambda: kernel.launch(arguments, Stream), warmup=5, rep=30, return_mode="median"
        )
        torch.cuda.synchronize()
        same = all(
            torch.equal(x.view(torch.uint8), self.outputs[name].view(torch.uint8))
            for name, x in first.items()
        )
        unwritten = sum(int(torch.isnan(output).sum()) for output in first.values())
        kernel.unload()
        return {
            "milliseconds": milliseconds,
            "same_bits": same,
            "unwritten": unwritten,
            "repaired": dict(zip(("moved", "rounds", "in_order", "boundaries"), repaired, strict=True)),
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--gpu", default="h100_sxm", help="the profile")
    parser.add_argument("--workers", type=int, default=14, help="processes that compile")
    parser.add_argument("--explore", action="store_true", help="other tilings besides")
    parser.add_argument("--cells", default="", help="only these, by commas")
    options = parser.parse_args()
    started = time.time()
    asked = jobs(options.gpu, options.explore)
    if options.cells:
        asked = [job for job in asked if job.problem.cell in options.cells.split(",")]
    asked.sort(key=lambda job: (str(job.problem), job.sigma))
    with ProcessPoolExecutor(options.workers) as pool:
        kernels = list(pool.map(made, asked))
    print(f"{len(asked)} kernels made in {time.time() - started:.0f} s", flush=True)
    import torch

    rate, rows, bench = copy_rate(), [], None
    for job, kernel in zip(asked, kernels, strict=True):
        if isinstance(kernel, str):
            print(f"{job.problem.label} {job.given}: {kernel[:200]}", flush=True)
            continue
        if bench is None or (bench.problem, bench.sigma) != (job.problem, job.sigma):
            bench = None
            torch.cuda.empty_cache()
            bench = Bench(job.problem, job.sigma)
        rows.append(row_of(bench, job, kernel, rate))
        print(line(rows[-1], job), flush=True)
        write(options.out, rate, rows)


def write(path: Path, rate: float, rows: list[dict[str, Any]]) -> None:
    """What was found so far."""
    import torch

    result = {
        "machine": torch.cuda.get_device_name(),
        "copy_gbs": round(rate),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"torch": torch.__version__, "cuda": torch.version.cuda},
        "command": " ".join(["python", *sys.argv]),
        "rows": rows,
    }
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def row_of(bench: Bench, job: Job, kernel: tuple[dict[str, Any], bytes, bool], rate: float) -> dict[str, Any]:
    """What was found of one kernel."""
    data, cubin, cooperative = kernel
    row = bench.run(Candidate.from_json(data), cubin, cooperative)
    row["percent"] = round(bench.least_bytes / rate / 1e4 / row["milliseconds"], 1)
    row["error"] = bench.errors() if not job.given and job.problem.steps <= 2048 else None
    row |= {
        "problem": asdict(job.problem),
        "sigma": job.sigma,
        "given": dict(job.given),
        "strategy": data["strategy"],
    }
    row |= {"parameters": data["parameters"], "blocks_per_sm": data["values"]["blocks_per_sm"]}
    row |= {"predicted_milliseconds": data["values"]["cycles"] / data["boost_mhz"] / 1e3}
    return row | {"registers": data["report"]["registers"], "spills": data["report"]["spill_stores"]}


def line(row: dict[str, Any], job: Job) -> str:
    """One line of the table."""
    knobs = ("threads", "vector_bytes", "tile_steps", "stages", "bulk", "chunk_steps", "warm_steps", "window")
    chosen = " ".join(str(row["parameters"][name]) for name in knobs if name in row["parameters"])
    found = f"{row['milliseconds']:.4f} ms {row['percent']} % predicted {row['predicted_milliseconds']:.4f}"
    error = "" if row["error"] is None else f" error {row['error']:.1e}"
    wrong = (
        "" if row["same_bits"] and not row["unwritten"] else f" WRONG {row['same_bits']} {row['unwritten']}"
    )
    mark = "?" if job.given else ""
    fixed = "/".join(str(number) for number in row["repaired"].values())
    made = f"x{row['blocks_per_sm']} r{row['registers']} s{row['spills']}"
    asked = f"{mark}{job.problem.label} u{job.sigma} {row['strategy']}"
    return f"{asked} [{chosen}] {made}: {found}{error} {fixed}{wrong}"


if __name__ == "__main__":
    main()
