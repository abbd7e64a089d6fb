"""Random requests for verification: each pass, strategy, cell and dtype in turn; random shape and tiling.

A case is a number: `Drawing.case(number)` depends on the seed and the number only.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sanitizer import DEFINES

from kerneltune.cells.structure import Structure
from kerneltune.compiling.compile import Compiler
from kerneltune.errors import CompilationError, KernelTuneError
from kerneltune.inputs.descriptions import ENDING, Kernels, discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.hardware import HardwareProfile, load_profile
from kerneltune.inputs.problem import HEAD_DIM_STEP, PASSES, Problem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

TRIES = 30  # most shapes that are drawn until one has a tiling
# Options of the backward pass; half of its cases have one.
OPTIONS: tuple[dict[str, Any], ...] = (
    {"gate_gradient_clip": 0.05},
    {"cut_recurrent_gradient": True},
    {"gate_gradient_clip": 0.2, "cut_recurrent_gradient": True},
)
FORWARD_CLIP = 0.3  # for a quarter of all cases


@dataclass(frozen=True)
class Limits:
    """The largest shapes that are drawn; ``work``: multiplications with R, which the reference does too."""

    heads: int = 16
    head_dim: int = 2048
    batch: int = 100
    steps: int = 200
    work: int = 1_000_000_000


SMALL = Limits(heads=3, head_dim=128, batch=10, steps=6, work=4_000_000)


@dataclass(frozen=True)
class Kind:
    """A combination of pass, strategy, cell and dtype."""

    direction: str
    strategy: str
    cell: str
    dtype: str


@dataclass(frozen=True)
class Drawn:
    """A case before compilation: the candidate, or the reason why there is none."""

    number: int
    kind: Kind
    candidate: Candidate | None
    failure: str | None = None


@dataclass(frozen=True)
class Prepared:
    """A case that is ready to run, or the reason why it is not.

    Attributes:
        drawn: The drawn case.
        cubin: Its machine code.
        broken: Predictions that the compiled kernel exceeds; it is verified nevertheless.
        failure: The reason why there is no machine code.
        cubins: Machine code by tool, for tools with their own macros (`sanitizer.DEFINES`).
    """

    drawn: Drawn
    cubin: bytes = b""
    broken: tuple[str, ...] = ()
    failure: str | None = None
    cubins: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawing:
    """All cases of a seed on a GPU.

    Attributes:
        gpu: The profile.
        seed: The seed of all draws.
        limits: The largest shapes.
        strategy: Only this strategy, if given.
        directions: The passes.
        for_tools: Whether cases run under tools: machine code then has source lines, and variants for some
            tools.
        cells: A folder of cells of equations instead of the shipped ones; as many cases as there are cells
            have one each.
    """

    gpu: str
    seed: int
    limits: Limits = field(default_factory=Limits)
    strategy: str | None = None
    directions: tuple[str, ...] = PASSES
    for_tools: bool = False
    cells: str = ""

    @cached_property
    def profile(self) -> HardwareProfile:
        return load_profile(self.gpu)

    @cached_property
    def kernels(self) -> Kernels:
        return discover()

    @cached_property
    def kinds(self) -> list[Kind]:
        """Every combination that this GPU can run, in an order drawn by the seed."""
        found = [
            Kind(direction, strategy.name, cell, dtype)
            for direction in self.directions
            for strategy in self.kernels.for_pass(direction).strategies.values()
            for cell, fitting in self._cells.items()
            for dtype in strategy.spec.dtypes
            if self.strategy in (None, strategy.name)
            and strategy.name in fitting
            and self.profile.mma_depth(dtype)
            and strategy.refusal(self.profile, dtype) is None
        ]
        if not found:
            raise KernelTuneError(f"{self.gpu} can run nothing of what is asked for")
        random.Random(f"kinds {self.seed}").shuffle(found)
        if self.cells:
            turns: Counter[str] = Counter()
            order = {kind: (turns.update([kind.cell]), turns[kind.cell])[1] for kind in found}
            found.sort(key=order.__getitem__)
        return found

    @cached_property
    def _cells(self) -> dict[str, list[str]]:
        """The cells, each with the strategies that are exact for it."""
        if not self.cells:
            return {name: list(self.kernels.strategies) for name in sorted(self.kernels.cells)}
        read = {str(path): EquationCell.of_file(path) for path in sorted(Path(self.cells).glob(f"*{ENDING}"))}
        structures = {path: Structure(cell.derivation.equations) for path, cell in read.items()}
        return {path: one.strategies for path, one in structures.items() if one.kind == "recurrent"}

    def case(self, number: int) -> Drawn:
        """The case of that number: a feasible shape, with its best tiling or a random one."""
        kind = self.kinds[number % len(self.kinds)]
        draw = random.Random(f"case {self.seed} {number}")
        gates = len(self.kernels.cell(kind.cell).spec.gates)
        for _ in range(TRIES):
            options = draw.choice(OPTIONS) if kind.direction == "backward" and draw.random() < 0.5 else {}
            if draw.random() < 0.25:
                options = {**options, "forward_clip": FORWARD_CLIP}
            shape = drawn_shape(draw, self.limits, gates)
            problem = Problem(kind.cell, **shape, dtype=kind.dtype, direction=kind.direction, **options)
            space = TilingSpace(problem, self.profile, self.kernels, kind.strategy)
            if draw.random() < 0.5:
                found = space.candidates(1)
            else:
                strategy = space.kernels.strategy(kind.strategy)
                found = space.draw(strategy, 1, seed=draw.randrange(1 << 30))
            if found:
                return Drawn(number, kind, found[0])
        return Drawn(number, kind, None, f"none of {TRIES} shapes has a tiling")

    def small(self) -> Drawing:
        """The same drawing with small shapes, for slow tools."""
        return replace(self, limits=replace(SMALL, work=min(SMALL.work, self.limits.work)), for_tools=True)

    def input_seed(self, number: int) -> int:
        """The seed of a case's input."""
        return random.Random(f"input {self.seed} {number}").randrange(1 << 32)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def drawn_shape(draw: random.Random, limits: Limits, gates: int) -> dict[str, int]:
    """Sizes with uniform logarithms, so that small, odd and large ones all occur.

    Steps as the work allows.
    """
    heads = logarithmic(draw, 1, limits.heads)
    widest = min(limits.head_dim, math.isqrt(limits.work // gates)) // HEAD_DIM_STEP
    head_dim = HEAD_DIM_STEP * logarithmic(draw, 1, max(1, widest))
    heads = max(1, min(heads, limits.work // (gates * head_dim**2)))
    a_step = heads * gates * head_dim**2
    most = max(1, min(limits.steps, limits.work // a_step))
    steps = logarithmic(draw, min(2, most) if draw.random() < 0.9 else 1, most)  # one step alone tests little
    batch = logarithmic(draw, 1, max(1, min(limits.batch, limits.work // (a_step * steps))))
    return {"heads": heads, "head_dim": head_dim, "batch": batch, "steps": steps}


def logarithmic(draw: random.Random, least: int, most: int) -> int:
    """An integer with a uniformly distributed logarithm."""
    return min(most, int(math.exp(draw.uniform(math.log(least), math.log(most + 1)))))


_compilers: dict[tuple[str, str, bool, tuple[str, ...]], Compiler] = {}


def prepare(drawing: Drawing, number: int, backend: str = "nvrtc") -> Prepared:
    """Draw a case and compile it; runs in worker processes, which keep their compilers."""
    try:
        drawn = drawing.case(number)
    except KernelTuneError as error:
        kind = drawing.kinds[number % len(drawing.kinds)]
        return Prepared(Drawn(number, kind, None, str(error)), failure=str(error))
    if drawn.candidate is None:
        return Prepared(drawn, failure=drawn.failure)
    prepared = compiled(drawn, compiler(drawing, backend).compile)
    if not drawing.for_tools or prepared.failure is not None:
        return prepared
    own = {
        tool: compiled(drawn, compiler(drawing, backend, names).compile) for tool, names in DEFINES.items()
    }
    failure = next((f"for {tool}: {one.failure}" for tool, one in own.items() if one.failure), None)
    return replace(prepared, failure=failure, cubins={tool: one.cubin for tool, one in own.items()})


def compiler(drawing: Drawing, backend: str, defines: tuple[str, ...] = ()) -> Compiler:
    """This process's compiler for a drawing's cases."""
    key = drawing.gpu, backend, drawing.for_tools, defines
    if key not in _compilers:
        _compilers[key] = Compiler(
            drawing.kernels, drawing.profile, backend=backend, lines=drawing.for_tools, defines=defines
        )
    return _compilers[key]


def compiled(drawn: Drawn, compile_candidate: Callable[[Candidate], Any]) -> Prepared:
    """A drawn case with its compiled kernel."""
    assert drawn.candidate is not None
    try:
        made = compile_candidate(drawn.candidate)
    except CompilationError as error:
        return Prepared(drawn, failure=f"does not compile: {error}")
    return Prepared(drawn, made.cubin, tuple(made.report.broken_promises()))
