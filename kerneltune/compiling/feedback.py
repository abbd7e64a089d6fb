"""The register loop: compile, and solve again with more registers if too few were predicted."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from kerneltune.compiling.compile import Compiled, Compiler
from kerneltune.errors import CompilationError, InfeasibleError
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

MAX_ROUNDS = 12
SLACK_STEP = 8  # registers of a thread are allocated in steps of 8
MOST_SLACK = 1024  # four times what a thread can have


@dataclass(frozen=True)
class Tightening:
    """One round of the loop: the compile report of a tiling, and the registers added for the next."""

    strategy: str
    broken: tuple[str, ...]
    added_registers: int
    cycles: int

    @property
    def sentence(self) -> str:
        """A sentence about the round."""
        return (
            f"{self.strategy} ({self.cycles} cycles) came out with {'; '.join(self.broken)}: "
            f"solved again with {self.added_registers} more registers required"
        )


@dataclass(frozen=True)
class Settled:
    """A compiled candidate within its predictions, and the rounds that led to it."""

    compiled: Compiled
    tightenings: tuple[Tightening, ...]
    space: TilingSpace


def settle(
    space: TilingSpace, compiler: Compiler, solving: AbstractContextManager[object] | None = None
) -> Settled:
    """Solve and compile until the compiler needs no more registers than predicted and spills none.

    Args:
        space: The tilings.
        compiler: The compiler.
        solving: Held while solving: a lock, where several threads settle at the same time.

    Raises:
        InfeasibleError: Nothing fits, at first or with the compiler's needs.
        CompilationError: The compiler refuses the kernel, its shared memory differs from the prediction, or
            the loop does not end.
    """
    turns: list[Tightening] = []
    last: object = None
    repeated = 0
    for _ in range(MAX_ROUNDS + 1):
        try:
            with solving or nullcontext():
                candidate = space.best()
        except InfeasibleError as error:
            raise InfeasibleError("\n".join([str(error), *_history(turns)])) from None
        compiled = compiler.compile(candidate)
        report = compiled.report
        broken = tuple(report.broken_promises())
        if not broken:
            return Settled(compiled, tuple(turns), space)
        excess = max(0, report.registers - report.predicted_registers)
        if not excess and not report.spills:
            raise CompilationError(
                f"{candidate.strategy}: {'; '.join(broken)}: its constraint file and its kernel disagree"
            )
        # The same tiling spills as before, whatever it is given: twice as much.
        repeated = repeated + 1 if (candidate.parameters, broken) == last else 0
        last = candidate.parameters, broken
        slack = max(SLACK_STEP << repeated, -(-excess // SLACK_STEP) * SLACK_STEP)
        with solving or nullcontext():
            slack = _least_other(space, candidate, slack)
        turns.append(Tightening(candidate.strategy, broken, slack, candidate.cycles))
        space = space.tightened(candidate.strategy, slack)
    raise CompilationError(
        "\n".join([f"no tiling within its predictions after {MAX_ROUNDS} rounds", *_history(turns)])
    )


def _least_other(space: TilingSpace, candidate: Candidate, slack: int) -> int:
    """The least slack from this one on with which other code comes out, or nothing fits.

    A tiling that spills with all registers that it can have is the best one for many steps of slack.
    """

    def is_other(more: int) -> bool:
        try:
            return _code(space.tightened(candidate.strategy, more).best()) != _code(candidate)
        except InfeasibleError:
            return True

    same, other = 0, slack
    while not is_other(other):
        same, other = other, 2 * other
        if other > MOST_SLACK:
            raise CompilationError(f"{candidate.strategy}: its constraint file bounds no registers")
    while same and other - same > SLACK_STEP:
        middle = (same + other) // 2 // SLACK_STEP * SLACK_STEP
        same, other = (same, middle) if is_other(middle) else (middle, other)
    return other


def _code(candidate: Candidate) -> object:
    """The values that the machine code depends on."""
    return candidate.strategy, candidate.registers, dict(candidate.parameters)


def _history(turns: list[Tightening]) -> list[str]:
    return [f"  turn {number}: {turn.sentence}" for number, turn in enumerate(turns, 1)]
