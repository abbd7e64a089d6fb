"""Scans on this machine's GPU: the solved tiling of each request, checked, timed, beside peers.

    python benchmarks/scans/measure.py --out results.json [--gpu h100_sxm] [--explore] [--peers]

A time is the median of launches into a cleared L2 (triton's do_bench). "percent" is what the least bytes take
at the rate of a large copy, over the time. Least bytes: every array read or written once. Results are held
against float64 in a sample of channels of the first row, and their bits against those of the last launch.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS, packed_scan
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

SHAPES = (
    (16, 16384, 128),
    (1, 65536, 1024),
    (4, 8192, 2048),
    (8, 65536, 1536),
    (32, 2048, 2048),
    (1, 2**20, 1024),
)
EXPLORED = SHAPES[1], SHAPES[4]
SMALL = (1, 2**20, 1), (1, 65536, 8), (3, 5000, 1001)
LIMIT = {"bf16": 3e-3, "fp16": 1e-3, "fp32": 3e-6}


def requests() -> list[ScanProblem]:
    """What is measured."""
    found = []
    for cell, dtypes in (("linear", ("bf16", "fp32")), ("mingru", ("bf16",)), ("minlstm", ("bf16",))):
        for dtype in dtypes:
            for direction in ("forward", "backward"):
                for shape in SHAPES:
                    small = shape[0] * shape[1] * shape[2] < 2**29
                    if small or (cell == "linear" and dtype == "bf16"):
                        found.append(ScanProblem(cell, *shape, dtype, direction))
    found += [ScanProblem("linear", *shape, "bf16", d) for shape in SMALL for d in ("forward", "backward")]
    return found


def made(job: tuple[ScanProblem, str, dict[str, int]]) -> tuple[dict[str, Any], bytes] | str:
    """The best tiling with some numbers given, compiled; or why there is none."""
    problem, gpu, given = job
    profile, kernels = load_profile(gpu), discover_scans()
    space = TilingSpace(problem, profile, kernels)
    compiler = Compiler(kernels, profile)
    try:
        if not given:
            compiled = settle(space, compiler).compiled
        else:
            strategy = space.applicable()[0]
            model = space.model(strategy)
            for name, value in given.items():
                model.add(model.variables[name] == value)
            result = model.solve()
            if not result:
                return "nothing fits"
            compiled = compiler.compile(space._candidate(strategy, result.values))
    except KernelTuneError as error:
        return str(error)
    return {**compiled.candidate.to_json(), "report": compiled.report.to_json()}, compiled.cubin


def alternatives(problem: ScanProblem, explore: bool) -> list[dict[str, int]]:
    """Tilings to look at beside the solver's choice."""
    if not explore or (problem.batch, problem.steps, problem.channels) not in EXPLORED:
        return [{}]
    grid = [
        {"segment_steps": steps, "columns": columns, "threads": threads}
        for steps in (4, 8, 12, 16)
        for columns, threads in ((8, 256), (16, 128), (16, 256))
    ]
    return [{}, *grid]


class Bench:
    """Arrays of one request, its float64 answer, and launches of kernels on them."""

    def __init__(self, problem: ScanProblem) -> None:
        import torch

        torch.manual_seed(1)
        self.problem, self.torch = problem, torch
        self.dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[problem.dtype]
        shape = problem.batch, problem.steps, problem.channels
        count = len(discover_scans().cell(problem.cell).spec.gates)
        self.read = [torch.randn(shape, device="cuda", dtype=self.dtype) for _ in range(count)]
        if problem.cell == "linear":
            self.read[0] = torch.rand(shape, device="cuda", dtype=self.dtype)
        backward = problem.direction == "backward"
        self.tensors = dict(zip(INPUTS, self.read, strict=False))
        self.outputs = [
            torch.empty(shape, device="cuda", dtype=self.dtype) for _ in range(count if backward else 1)
        ]
        self.state = torch.empty(shape[::2], device="cuda")
        if backward:
            self.tensors["gradient"] = torch.randn(shape, device="cuda", dtype=self.dtype)
            self.tensors["hidden"] = self._hidden()
        self.tensors |= dict(zip(OUTPUTS, self.outputs, strict=False)) | {"final_state": self.state}
        known = discover_scans().cell(problem.cell).constants()
        arrays = known["forward_reads"] + 1
        if backward:
            arrays = known["backward_reads"] + known["backward_writes"]
        self.least_bytes = arrays * problem.dtype_bytes * shape[0] * shape[1] * shape[2]
        self.sample = slice(None, None, max(1, shape[2] // 16))
        self.expected = self._expected()

    def _coefficients(self, sample: slice) -> tuple[Any, Any]:
        torch = self.torch
        wide = [part[:1, :, sample].double() for part in self.read]
        if self.problem.cell == "linear":
            return wide[0], wide[1]
        logit = -wide[0]
        if self.problem.cell == "minlstm":
            logit = torch.nn.functional.logsigmoid(wide[0]) - torch.nn.functional.logsigmoid(wide[1])
        n = wide[-1]
        return torch.sigmoid(logit), torch.sigmoid(-logit) * torch.where(n >= 0, n + 0.5, torch.sigmoid(n))

    def _hidden(self) -> Any:
        """h as the forward kernel gives it."""
        from kerneltune.torch.scan import scan

        with self.torch.no_grad():
            return scan(self.problem.cell, *self.read)[0]

    def _expected(self) -> list[Any]:
        torch, cell = self.torch, self.problem.cell
        a, b = self._coefficients(self.sample)
        after = chunked_scan(torch, a, b)
        if self.problem.direction == "forward":
            return [after]
        before = torch.cat([torch.zeros_like(after[:, :1]), after[:, :-1]], 1)
        by_hidden = self.tensors["gradient"][:1, :, self.sample].double()
        carried = chunked_scan(torch, a.flip(1), (a * by_hidden).flip(1)).flip(1)
        whole = by_hidden + torch.cat([carried[:, 1:], torch.zeros_like(carried[:, :1])], 1)
        if cell == "linear":
            return [whole * before, whole]
        wide = [part[:1, :, self.sample].double() for part in self.read]
        n, rest = wide[-1], 1 - a
        candidate = torch.where(n >= 0, n + 0.5, torch.sigmoid(n))
        slope = torch.where(n >= 0, torch.ones_like(n), torch.sigmoid(n) * torch.sigmoid(-n))
        by_logit = whole * (before - candidate) * a * rest
        if cell == "mingru":
            return [-by_logit, whole * rest * slope]
        return [by_logit * torch.sigmoid(-wide[0]), -by_logit * torch.sigmoid(-wide[1]), whole * rest * slope]

    def run(self, candidate: Candidate, cubin: bytes) -> dict[str, Any]:
        """Errors, whether bits repeat, and the time of one kernel."""
        from triton.testing import do_bench

        from kerneltune.running.launch import ExtendedKernel

        torch = self.torch
        kernel = ExtendedKernel(cubin, candidate, cooperative=True)
        workspace = torch.full((max(candidate.workspace, 16),), 0, dtype=torch.uint8, device="cuda")
        addresses = {
            name: tensor.data_ptr() for name, tensor in {**self.tensors, "workspace": workspace}.items()
        }
        arguments = packed_scan(self.problem, addresses)

        class Stream:
            handle = torch.cuda.current_stream().cuda_stream

        for output in self.outputs:
            output.fill_(float("nan"))
        kernel.launch(arguments, Stream)
        first = [output.clone() for output in self.outputs]
        milliseconds = do_bench(
            lambda: kernel.launch(arguments, Stream), warmup=5, rep=40, return_mode="median"
        )
        torch.cuda.synchronize()
        same = all(
            torch.equal(x.view(torch.uint8), y.view(torch.uint8))
            for x, y in zip(first, self.outputs, strict=True)
        )
        unwritten = sum(int(torch.isnan(output).sum()) for output in first)
        errors = [
            float((x[:1, :, self.sample].double() - y).norm() / y.norm())
            for x, y in zip(first, self.expected, strict=True)
        ]
        kernel.unload()
        return {"milliseconds": milliseconds, "error": max(errors), "same_bits": same, "unwritten": unwritten}


def chunked_scan(torch: Any, a: Any, b: Any) -> Any:
    """h' = a h + b in float64 on the GPU, chunks side by side."""
    batch, steps, channels = a.shape
    length = 1 << max(0, (steps.bit_length() + 1) // 2)
    count = -(-steps // length)

    def chunks(x: Any, fill: float) -> Any:
        padded = torch.full((batch, count * length, channels), fill, device=x.device, dtype=torch.float64)
        padded[:, :steps] = x
        return padded.view(batch, count, length, channels)

    a, b = chunks(a, 1.0), chunks(b, 0.0)
    product, total = torch.ones_like(a[:, :, 0]), torch.zeros_like(a[:, :, 0])
    for i in range(length):
        total = a[:, :, i] * total + b[:, :, i]
        product = product * a[:, :, i]
    state, entering = torch.zeros_like(product[:, 0]), torch.empty_like(product)
    for k in range(count):
        entering[:, k] = state
        state = product[:, k] * state + total[:, k]
    for i in range(length):
        entering = a[:, :, i] * entering + b[:, :, i]
        b[:, :, i] = entering
    return b.reshape(batch, count * length, channels)[:, :steps]


def copy_rate() -> float:
    """GB/s of a large copy, read and written."""
    import torch
    from triton.testing import do_bench

    x = torch.empty(2**30, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    return 4 * x.numel() / do_bench(lambda: y.copy_(x), return_mode="median") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--gpu", default="h100_sxm", help="the profile")
    parser.add_argument("--workers", type=int, default=12, help="processes that compile")
    parser.add_argument("--explore", action="store_true", help="other tilings of three shapes besides")
    parser.add_argument("--peers", action="store_true", help="what of the peers is installed")
    options = parser.parse_args()
    started = time.time()
    jobs = [(p, options.gpu, given) for p in requests() for given in alternatives(p, options.explore)]
    with ProcessPoolExecutor(options.workers) as pool:
        kernels = list(pool.map(made, jobs))
    print(f"{len(jobs)} kernels made in {time.time() - started:.0f} s", flush=True)
    import torch

    rate = copy_rate()
    rows: list[dict[str, Any]] = []
    bench: Bench | None = None
    for (problem, _, given), kernel in zip(jobs, kernels, strict=True):
        if isinstance(kernel, str):
            if not given:
                print(f"{problem.label}: {kernel}", flush=True)
            continue
        if bench is None or bench.problem != problem:
            bench = None
            torch.cuda.empty_cache()
            bench = Bench(problem)
        data, cubin = kernel
        row = bench.run(Candidate.from_json(data), cubin)
        row["percent"] = round(bench.least_bytes / rate / 1e4 / row["milliseconds"], 1)
        row["right"] = row["error"] <= LIMIT[problem.dtype] and not row["unwritten"] and row["same_bits"]
        row |= {"problem": asdict(problem), "given": given, "parameters": data["parameters"]}
        row |= {"predicted_milliseconds": data["values"]["cycles"] / data["boost_mhz"] / 1e3}
        row |= {"blocks_per_sm": data["values"]["blocks_per_sm"], "registers": data["report"]["registers"]}
        row |= {"spills": data["report"]["spill_stores"]}
        rows.append(row)
        if not given or not row["right"]:
            print(line(problem, row), flush=True)
    peers = []
    if options.peers:
        from peers import measured

        peers = measured(SHAPES, rate)
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
        "peers": peers,
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def line(problem: ScanProblem, row: dict[str, Any]) -> str:
    """One line of the table."""
    chosen = row["parameters"]
    knobs = " ".join(
        str(chosen[k]) for k in ("threads", "columns", "segment_steps", "stages", "window", "keeps")
    )
    found = f"{row['milliseconds']:.4f} ms, {row['percent']} %, predicted {row['predicted_milliseconds']:.4f}"
    made = f"x{row['blocks_per_sm']} r{row['registers']} s{row['spills']}"
    wrong = "" if row["right"] else " WRONG"
    return f"{problem.label}: {found}, error {row['error']:.1e}{wrong} [{knobs}] {made}"


if __name__ == "__main__":
    main()
