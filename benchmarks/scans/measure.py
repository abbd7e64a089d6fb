"""Scans on this machine's GPU: the solved tiling of each request, checked, timed, beside peers.

    python benchmarks/scans/measure.py --out results.json [--gpu h100_sxm] [--explore] [--peers]

A time is the median of launches into a cleared L2 (triton's do_bench). "percent" is what the least bytes take
at the rate of a large copy, over the time. Least bytes: every array read or written once. Results are held
against float64 in a sample of channels of the first row, and their bits against those of the last launch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runs import Job, Kernel, copy_rate, dtype_of, facts, launched, made_all, parser, percent, write

from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem

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
            for shape in SHAPES:
                for direction in ("forward", "backward"):
                    small = shape[0] * shape[1] * shape[2] < 2**29
                    if small or (cell == "linear" and (dtype == "bf16" or shape == SHAPES[3])):
                        found.append(ScanProblem(cell, *shape, dtype, direction))
    found += [ScanProblem("linear", *shape, "bf16", d) for shape in SMALL for d in ("forward", "backward")]
    return found


def alternatives(problem: ScanProblem, gpu: str, explore: bool) -> list[Job]:
    """The solver's choice, and tilings to look at beside it."""
    found = [Job(problem, gpu)]
    if explore and (problem.batch, problem.steps, problem.channels) in EXPLORED:
        for steps in (4, 8, 12, 16):
            for columns, threads in ((8, 256), (16, 128), (16, 256)):
                given = (("segment_steps", steps), ("columns", columns), ("threads", threads))
                found.append(Job(problem, gpu, given=given))
    return found


class Bench:
    """Arrays of one request, its float64 answer, and launches of kernels on them."""

    def __init__(self, problem: ScanProblem, forward: Bench | None = None) -> None:
        """`forward` has run, and saves another run of its pass if it is that of this request."""
        import torch

        torch.manual_seed(1)
        self.problem, self.torch = problem, torch
        self.dtype = dtype_of(problem)
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
            same = forward is not None and replace(problem, direction="forward") == forward.problem
            self.tensors["hidden"] = forward.outputs[0] if forward and same else self._hidden()
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

    def run(self, kernel: Kernel) -> dict[str, Any]:
        """Errors, whether bits repeat, and the time of one kernel."""
        first, row = launched(self.problem, kernel, self.tensors, self.outputs, 40)
        errors = [
            float((x[:1, :, self.sample].double() - y).norm() / y.norm())
            for x, y in zip(first, self.expected, strict=True)
        ]
        return row | {"error": max(errors)}


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


def main() -> None:
    arguments = parser(__doc__, workers=12)
    arguments.add_argument("--peers", action="store_true", help="what of the peers is installed")
    options = arguments.parse_args()
    jobs = [job for p in requests() for job in alternatives(p, options.gpu, options.explore)]
    kernels = made_all(jobs, options.workers)
    import torch

    rate, rows = copy_rate(), []
    bench: Bench | None = None
    for job, kernel in kernels:
        problem = job.problem
        if bench is None or bench.problem != problem:
            bench = Bench(problem, bench)
            torch.cuda.empty_cache()
        row = bench.run(kernel)
        row["percent"] = percent(bench.least_bytes, rate, row["milliseconds"])
        row["right"] = row["error"] <= LIMIT[problem.dtype] and not row["unwritten"] and row["same_bits"]
        rows.append(row | facts(job, kernel))
        if not job.given or not row["right"]:
            print(line(problem, rows[-1]), flush=True)
    peers = []
    if options.peers:
        from peers import measured

        peers = measured(rate, 120.0, options.out.with_suffix(".log"))
    write(options.out, rate, rows, peers=peers)


def line(problem: ScanProblem, row: dict[str, Any]) -> str:
    """One line of the table."""
    chosen = row["parameters"]
    names = ("threads", "columns", "segment_steps", "vector_bytes", "stages", "window", "keeps")
    knobs = " ".join(f"{name} {chosen[name]}" for name in names if name in chosen)
    found = f"{row['milliseconds']:.4f} ms, {row['percent']} %, predicted {row['predicted_milliseconds']:.4f}"
    made = f"x{row['blocks_per_sm']} r{row['registers']} s{row['spills']}"
    wrong = "" if row["right"] else " WRONG"
    return f"{problem.label} {row['strategy']}: {found}, error {row['error']:.1e}{wrong} [{knobs}] {made}"


if __name__ == "__main__":
    main()
