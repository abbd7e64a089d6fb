"""All tilings of a request on a GPU: every strategy's constraint file with the numbers filled in."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from constrint import ConstrintError, Model, Result
from constrint.expr import BoolExpr, IntExpr
from kerneltune.errors import InfeasibleError, InputError
from kerneltune.inputs.descriptions import (
    DESCRIPTIONS,
    FORMER_NAMES,
    RESULT_NAMES,
    Cell,
    Kernels,
    KernelStrategy,
)
from kerneltune.inputs.hardware import MAX_GRID_BLOCKS, HardwareProfile
from kerneltune.inputs.offered import named_in
from kerneltune.inputs.request import Request
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.memory import arrays_of

if TYPE_CHECKING:
    from kerneltune.tiling.ranking import Listed, Solved


@dataclass
class TilingSpace:
    """The tilings of ``problem`` on ``profile``, by all strategies or by one.

    Attributes:
        register_slack: Registers that a constraint file adds to its prediction, by strategy; learnt from
            compile reports.
        read_seconds: Wall time of reading the constraint files, by strategy.
        solve_seconds: Wall time of solving, by strategy, as the solver reports it, without module imports.
        longest_list: Most tilings of a strategy that are listed; beyond, the best are solved one by one. A
            million rows take 100 MB.
    """

    problem: Request
    profile: HardwareProfile
    kernels: Kernels
    strategy: str | None = None
    register_slack: Mapping[str, int] = field(default_factory=dict)
    read_seconds: dict[str, float] = field(default_factory=dict)
    solve_seconds: dict[str, float] = field(default_factory=dict)
    longest_list: int = 1_000_000

    def __post_init__(self) -> None:
        known = self.kernels.strategies
        self.strategy = FORMER_NAMES.get(self.strategy or "", self.strategy)
        self.kernels = self.kernels.for_pass(self.problem.direction)
        if not self.kernels.strategies:
            description = DESCRIPTIONS.get(self.problem.direction, DESCRIPTIONS["forward"])
            raise InputError(
                f"there is no strategy below {self.kernels.root} for the pass '{self.problem.direction}': "
                f"no strategies/*/{description}"
            )
        self.cell: Cell = self.kernels.cell(self.problem.cell)
        if self.strategy in known and self.strategy not in self.kernels.strategies:
            others = ", ".join(sorted(self.kernels.strategies))
            raise InputError(
                f"the strategy '{self.strategy}' has no {self.problem.direction} pass: {others} have one"
            )
        if self.strategy is not None:
            self.strategy = self.kernels.strategy(self.strategy).name

    def candidates(self, limit: int = 1) -> list[Candidate]:
        """The best ``limit`` tilings over all strategies, the fastest first; empty if nothing fits.

        Ties are in the order of strategies, then of smaller variable values. The first one is what `best`
        returns.
        """
        if limit > 1:
            from kerneltune.tiling.ranking import best_of

            return best_of([self._all_of(strategy, limit) for strategy in self.applicable()], limit)
        found: list[Candidate] = []
        for strategy in self.applicable():
            model = self._read(strategy)
            if found:  # proofs are needed only if the strategy can still be the best
                model.add(_named(model, "cycles") < found[0].cycles)
            found = self._best_of(strategy, model, 1) or found
        return found

    def best_with(self, strategy: KernelStrategy, chosen: Mapping[str, int]) -> Candidate | None:
        """The fastest tiling of one strategy in which the named variables have these values, or None."""
        model = self.model(strategy)
        for name, value in chosen.items():
            model.add(_named(model, name) == value)
        result = self._solved(strategy, model)
        return self._candidate(strategy, result.values) if result else None

    def draw(self, strategy: KernelStrategy, count: int, seed: int = 0) -> list[Candidate]:
        """Up to ``count`` distinct tilings of one strategy, drawn uniformly from all of them."""
        from kerneltune.tiling.ranking import with_definitions

        model = self.model(strategy)
        rows = model.solutions().sample(count, seed=seed)
        return [self._candidate(strategy, with_definitions(model, row)) for row in rows]

    def best(self) -> Candidate:
        """The fastest tiling.

        Raises:
            InfeasibleError: There is none; the message has the reason.
        """
        found = self.candidates()
        if not found:
            raise InfeasibleError(self.why_empty())
        return found[0]

    def why_empty(self) -> str:
        """The reason why there is no tiling, as resources, and the nearest feasible request."""
        if isinstance(self.problem, ScanProblem):
            from kerneltune.tiling.scan_shortage import explain_scan

            return explain_scan(self)
        from kerneltune.tiling.shortage import explain

        return explain(self)

    def refusals(self) -> dict[str, str]:
        """The strategies that are excluded before solving, with the reason.

        The GPU or the dtype excludes them, or that they are taken by name only and this space names none.
        """
        strategies = self._strategies()
        products = not isinstance(self.problem, ScanProblem)
        if products and not self.profile.mma_depth(self.problem.dtype):
            reason = f"{self.problem.dtype} has no tensor-core shape on {self.profile.name}"
            other = self.profile.other_products(self.problem.dtype)
            if other:
                reason += f" that kernels have, 16×8×k, but {', '.join(other)} only"
            return {strategy.name: f"{reason} ({self.profile.target})" for strategy in strategies}
        found = {s.name: s.refusal(self.profile, self.problem.dtype) for s in strategies}
        if getattr(self.problem, "sequences", 0):
            reason = "it does not divide a row into sequences"
            takes = {s.name for s in strategies if "sequences" in s.spec.parameters}
            found = {name: found[name] or (None if name in takes else reason) for name in found}
        if self.strategy is None:
            reason = "it is taken only where it is named"
            found = {s.name: found[s.name] or (reason if s.spec.by_name else None) for s in strategies}
        if self.cell.constants().get("state_width", 1) > 1:
            reason = f"a state of {self.cell.name} is several numbers, for which it is not written"
            found = {s.name: found[s.name] or (None if s.spec.wide_states else reason) for s in strategies}
        return {name: reason for name, reason in found.items() if reason}

    def applicable(self) -> list[KernelStrategy]:
        """The strategies that are not refused."""
        refused = self.refusals()
        return [strategy for strategy in self._strategies() if strategy.name not in refused]

    def model(self, strategy: KernelStrategy) -> Model:
        """The strategy's constraint file for this request as a model, not yet solved."""
        path = strategy.constraints_path
        try:
            text = strategy.constraints_text
            constants = named_in(text, self.constants(strategy))
            model = Model.from_text(text, filename=str(path), constants=constants)
        except ConstrintError as error:
            raise InputError(str(error)) from None
        for name in RESULT_NAMES:
            if not _has(model, name):
                raise InputError(f"{path}: '{name}' is not defined, but every tiling must give it")
        try:
            self._limit_launch(model)
        except ConstrintError as error:
            raise InputError(f"{path}: {error}") from None
        return model

    def array_bytes(self) -> int:
        """Bytes of the arrays that every launch needs."""
        return sum(arrays_of(self.problem, self.cell).values())

    def arrays_fit(self) -> bool:
        """Whether the arrays fit the GPU's memory; if not, no tiling helps."""
        return self.array_bytes() <= self.profile.memory_bytes

    def constants(self, strategy: KernelStrategy) -> dict[str, int]:
        """Every name that the strategy's constraint file may use without defining it."""
        return {
            **self.profile.constants(self.problem.dtype),
            **self.cell.constants(),
            **self.cell.work(self.problem.dtype_bytes == 4),
            **self.problem.constants(),
            "register_slack": self.register_slack.get(strategy.name, 0),
        }

    def tightened(self, strategy: str, slack: int) -> TilingSpace:
        """This space with ``slack`` more registers required of one strategy's tilings."""
        total = self.register_slack.get(strategy, 0) + slack
        demanded = {**self.register_slack, strategy: total}
        return replace(self, register_slack=demanded, read_seconds={}, solve_seconds={})

    def for_problem(self, problem: Request) -> TilingSpace:
        """The space of another request on the same GPU."""
        return replace(self, problem=problem, read_seconds={}, solve_seconds={})

    def of_strategy(self, name: str) -> TilingSpace:
        """This space with one strategy only."""
        return replace(self, strategy=name, read_seconds={}, solve_seconds={})

    def _limit_launch(self, model: Model) -> None:
        """Add the limits of every launch, so that constraint files need not repeat them."""
        workspace = _named(model, "workspace") if _has(model, "workspace") else 0
        needed = model.let("device_memory", workspace + self.array_bytes())
        model.add(needed <= self.profile.memory_bytes, name="device_memory_fits")
        model.add(_named(model, "blocks") <= MAX_GRID_BLOCKS, name="grid_fits")

    def _strategies(self) -> list[KernelStrategy]:
        if self.strategy is not None:
            return [self.kernels.strategy(self.strategy)]
        return list(self.kernels.strategies.values())

    def _all_of(self, strategy: KernelStrategy, limit: int) -> Listed | Solved:
        """All tilings of a strategy; if they are too many to list, the best ``limit``."""
        from kerneltune.tiling.ranking import Listed, Solved, TooManyError

        model = self._read(strategy)
        started = time.perf_counter()
        try:
            found = Listed(model, lambda values: self._candidate(strategy, values), self.longest_list)
        except TooManyError:
            return Solved(self._best_of(strategy, model, limit))
        self.solve_seconds[strategy.name] = time.perf_counter() - started
        return found

    def _read(self, strategy: KernelStrategy) -> Model:
        started = time.perf_counter()
        model = self.model(strategy)
        self.read_seconds[strategy.name] = time.perf_counter() - started
        return model

    def _best_of(self, strategy: KernelStrategy, model: Model, limit: int) -> list[Candidate]:
        self.solve_seconds[strategy.name] = 0.0
        found: list[Candidate] = []
        while len(found) < limit:
            result = self._solved(strategy, model)
            self.solve_seconds[strategy.name] += result.statistics.seconds
            if not result:
                break
            candidate = self._candidate(strategy, result.values)
            found.append(candidate)
            # The next best must differ in a parameter: tilings with equal parameters are the same kernel.
            others = _differs(model, candidate.parameters)
            if others is None:
                break
            model.add(others)
        return found

    def _solved(self, strategy: KernelStrategy, model: Model) -> Result:
        try:
            return model.solve()
        except ConstrintError as error:
            raise InputError(f"{strategy.constraints_path}: {error}") from None

    def _candidate(self, strategy: KernelStrategy, values: Mapping[str, int]) -> Candidate:
        known = {**self.constants(strategy), **values}
        missing = [name for name in strategy.spec.parameters if name not in known]
        if missing:
            raise InputError(
                f"{strategy.description_path}: parameters: '{missing[0]}' is not in "
                f"{strategy.constraints_path.name}"
            )
        return Candidate(
            strategy=strategy.name,
            problem=self.problem,
            gpu=self.profile.name,
            boost_mhz=self.profile.boost_mhz,
            parameters={name: int(known[name]) for name in strategy.spec.parameters},
            values={name: int(value) for name, value in values.items()},
            register_slack=self.register_slack.get(strategy.name, 0),
            workspace_fill=strategy.spec.workspace_fill,
            workspace_kept=strategy.spec.workspace_kept,
            stepwise=strategy.spec.stepwise,
        )


def _has(model: Model, name: str) -> bool:
    return name in model.lets or name in model.variables


def _named(model: Model, name: str) -> IntExpr:
    return model.lets[name] if name in model.lets else model.variables[name]


def _differs(model: Model, parameters: Mapping[str, int]) -> BoolExpr | None:
    different: BoolExpr | None = None
    for name, value in parameters.items():
        expr = model.variables.get(name, model.lets.get(name))
        if expr is not None:
            one = expr != value
            different = one if different is None else different | one
    return different
