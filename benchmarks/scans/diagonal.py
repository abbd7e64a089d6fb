"""Diagonal cells, and scans in order, on this machine's GPU: checked, timed, what was repaired.

    python benchmarks/scans/diagonal.py --out results.json [--gpu h100_sxm] [--explore]

A time is the median of launches into a cleared L2 (triton's do_bench). "percent" is what the least bytes
take at the rate of a large copy, over the time; backward and in training, the states that are kept count.
Weights are drawn with the standard deviation "sigma". Of up to 2048 steps, results are held against float64
in a sample of channels of the first row; of all, the bits against those of the last launch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runs import Job, Kernel, copy_rate, dtype_of, facts, launched, made_all, parser, percent, write

from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.inputs.equation_cell import named
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem

SHAPES = ((32, 2048, 2048), (8, 2048, 256), (8, 16384, 256), (1, 65536, 64))
SIGMAS = (0.5, 1.0, 2.0, 4.0)
CHUNKS = {2048: (64, 128), 16384: (512, 1024), 65536: (64, 128)}  # that are looked at
LIMIT = {"bf16": 5e-3, "fp16": 2e-3, "fp32": 1e-5}
SAMPLED = 16  # channels of the first row that are held against float64


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


class Bench:
    """Arrays of one request and launches of kernels on them."""

    def __init__(self, problem: ScanProblem, sigma: float, training: Bench | None = None) -> None:
        """`training` has run, and saves another run of its pass if it is that of this request."""
        import torch

        torch.manual_seed(1)
        self.problem, self.sigma, self.torch = problem, sigma, torch
        self.cell = discover_scans().cell(problem.cell)
        self.dtype = dtype_of(problem)
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
            self.tensors["checkpoints" if self.nonlinear else "hidden"] = self._of_forward(training)
        self.least_bytes = least * elements
        if self.nonlinear and problem.direction != "forward":
            self.least_bytes += 4 * kept[0] * kept[1] * kept[2] * kept[3]

    def _array(self) -> Any:
        return self.torch.empty(self.shape, device="cuda", dtype=self.dtype)

    def _of_forward(self, training: Bench | None) -> Any:
        """What the backward pass reads of the forward pass: of one that has run, if it is this request's."""
        if self.nonlinear and training is not None:
            wanted = replace(self.problem, direction="training"), self.sigma
            if (training.problem, training.sigma) == wanted:
                return training.outputs["checkpoints"]
        from kerneltune.torch.diagonal import FAMILY
        from kerneltune.torch.scan import scan
        from kerneltune.torch.scan_options import Options

        with self.torch.no_grad():
            if not self.nonlinear:
                return scan(named(self.problem.cell), *self.read)[0]
            options = Options(weights=self.weights, strategy="sequential", keeps=True)
            return FAMILY.forward(named(self.problem.cell), self.read, options)[2]

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

    def run(self, kernel: Kernel) -> dict[str, Any]:
        """Whether bits repeat, what was repaired, and the time of one kernel."""
        repaired: list[int] = []
        tensors = {**self.tensors, **self.outputs, "repaired": self.repaired}
        outputs = list(self.outputs.values())
        _, row = launched(
            self.problem, kernel, tensors, outputs, 30, lambda: repaired.extend(self.repaired.tolist())
        )
        names = ("moved", "rounds", "in_order", "boundaries")
        return row | {"repaired": dict(zip(names, repaired, strict=True))}


def main() -> None:
    arguments = parser(__doc__, workers=14)
    arguments.add_argument("--cells", default="", help="only these, by commas")
    options = arguments.parse_args()
    asked = jobs(options.gpu, options.explore)
    if options.cells:
        asked = [job for job in asked if job.problem.cell in options.cells.split(",")]
    asked.sort(key=lambda job: (str(replace(job.problem, direction="forward")), job.sigma, order(job)))
    kernels = made_all(asked, options.workers)
    import torch

    rate, rows, bench = copy_rate(), [], None
    for job, kernel in kernels:
        if bench is None or (bench.problem, bench.sigma) != (job.problem, job.sigma):
            bench = Bench(job.problem, job.sigma, bench)
            torch.cuda.empty_cache()
        rows.append(row_of(bench, job, kernel, rate))
        print(line(rows[-1], job), flush=True)
        write(options.out, rate, rows)


def order(job: Job) -> int:
    """Of a request's passes: what is kept in training is read backward."""
    return ("forward", "training", "backward").index(job.problem.direction)


def row_of(bench: Bench, job: Job, kernel: Kernel, rate: float) -> dict[str, Any]:
    """What was found of one kernel."""
    row = bench.run(kernel)
    row["percent"] = percent(bench.least_bytes, rate, row["milliseconds"])
    row["error"] = bench.errors() if not job.given and job.problem.steps <= 2048 else None
    return row | {"sigma": job.sigma} | facts(job, kernel)


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
