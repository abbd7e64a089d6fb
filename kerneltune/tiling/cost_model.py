"""The cost model as a function of its constants: ``cycles`` of the constraint files, for fixed tilings.

The formula is read from the constraint file, with the constants of the profile's `cost` section as variables,
and evaluated in exact integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from constrint import BoolVar, ConstrintError, IntVar, Model
from constrint.expr import IntExpr
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.offered import named_in
from kerneltune.inputs.request import Request, kernels_for
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

LARGEST_COST = 10**9


@dataclass(frozen=True)
class Tiling:
    """A measured tiling: the values that the formula needs, and the time.

    Attributes:
        strategy: The strategy's name.
        problem: The request.
        values: Its numbers by name; at least those that the constraint file chooses.
        milliseconds: The median time of its launches.
    """

    strategy: str
    problem: Request
    values: Mapping[str, int]
    milliseconds: float

    @classmethod
    def of(cls, candidate: Candidate, milliseconds: float) -> Tiling:
        """The measured tiling of a candidate."""
        values = {**candidate.parameters, **candidate.values}
        return cls(candidate.strategy, candidate.problem, values, milliseconds)

    @property
    def request(self) -> Request:
        """The request without its number of steps, on which no tiling depends."""
        return self.problem if isinstance(self.problem, ScanProblem) else replace(self.problem, steps=1)


@dataclass(frozen=True)
class _Formula:
    cycles: IntExpr
    variables: Mapping[str, IntVar | BoolVar]
    costs: frozenset[str]


class CostModel:
    """The cost formulas of a profile's strategies, cached for each request."""

    def __init__(self, profile: HardwareProfile, kernels: Kernels) -> None:
        self.profile = profile
        self._kernels = kernels
        self._formulas: dict[tuple[str, Request], _Formula] = {}

    def costs_of(self, tiling: Tiling) -> frozenset[str]:
        """The cost constants in the formula of a tiling's strategy."""
        return self._formula(tiling).costs

    def cycles(self, tiling: Tiling, costs: Mapping[str, int]) -> int:
        """Predicted clock cycles of a step. Raises `InputError` if the formula does not fit the tiling."""
        formula = self._formula(tiling)
        known = {**tiling.values, **{name: costs[name] for name in formula.costs}}
        missing = [name for name in formula.variables if name not in known]
        if missing:
            raise InputError(
                f"a measured tiling of '{tiling.strategy}' has no {missing[0]}, which its constraint file "
                "now chooses"
            )
        assignment = {variable: known[name] for name, variable in formula.variables.items()}
        return formula.cycles.evaluate(assignment)

    def measured(self, tiling: Tiling) -> float:
        """Measured clock cycles of a step."""
        return (
            tiling.milliseconds
            * 1e3
            / tiling.problem.steps
            * tiling.problem.modelled_steps
            * self.profile.boost_mhz
        )

    def _formula(self, tiling: Tiling) -> _Formula:
        key = tiling.strategy, tiling.request
        if key not in self._formulas:
            self._formulas[key] = self._read(*key)
        return self._formulas[key]

    def _read(self, name: str, problem: Request) -> _Formula:
        space = TilingSpace(problem, self.profile, kernels_for(problem, self._kernels), name)
        strategy = space.kernels.strategy(name)
        constants = space.constants(strategy)
        costs = sorted(cost for cost in self.profile.cost if cost in strategy.constraints_text)
        declared = "".join(f"{cost} in 1..{LARGEST_COST}\n" for cost in costs)
        others = {name: value for name, value in constants.items() if name not in costs}
        try:
            text, path = declared + strategy.constraints_text, str(strategy.constraints_path)
            model = Model.from_text(text, filename=path, constants=named_in(text, others))
        except ConstrintError as error:
            raise InputError(str(error)) from None
        found = model.lets.get("cycles")
        if found is None:
            raise InputError(f"{strategy.constraints_path}: 'cycles' is not defined as an expression")
        used = {variable.name for variable in found.variables()}
        variables = {name: variable for name, variable in model.variables.items() if name in used}
        return _Formula(found, variables, frozenset(used.intersection(costs)))
