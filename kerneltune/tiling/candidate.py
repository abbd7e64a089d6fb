"""A solved tiling: its parameters and predicted resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kerneltune.inputs.problem import Problem


@dataclass(frozen=True)
class Candidate:
    """One strategy with all numbers fixed. ``values`` has all of the solver's values, parameters included."""

    strategy: str
    problem: Problem
    gpu: str
    boost_mhz: int
    parameters: Mapping[str, int]
    values: Mapping[str, int]
    register_slack: int = 0
    workspace_fill: int = 0

    @property
    def threads(self) -> int:
        """Threads in a block."""
        return self.values["threads"]

    @property
    def blocks(self) -> int:
        """Blocks in the grid."""
        return self.values["blocks"]

    @property
    def cluster(self) -> int:
        """Blocks in a cluster; 1 where clusters are not used."""
        return self.values["cluster"]

    @property
    def shared_memory(self) -> int:
        """Dynamic shared memory of a block in bytes."""
        return self.values["shared_memory"]

    @property
    def registers(self) -> int:
        """Registers of a thread; a limit for the compiler."""
        return self.values["registers"]

    @property
    def blocks_per_sm(self) -> int:
        """Blocks that must be resident on an SM at the same time."""
        return self.values["blocks_per_sm"]

    @property
    def cycles(self) -> int:
        """Analytic clock cycles of one time step."""
        return self.values["cycles"]

    @property
    def workspace(self) -> int:
        """Bytes of the workspace of a launch, each set to ``workspace_fill`` before it."""
        return self.values.get("workspace", 0)

    @property
    def microseconds_per_step(self) -> float:
        """The analytic time of one step at the boost clock."""
        return self.cycles / self.boost_mhz

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` is the inverse."""
        return {
            "strategy": self.strategy,
            "gpu": self.gpu,
            "boost_mhz": self.boost_mhz,
            "problem": asdict(self.problem),
            "parameters": dict(self.parameters),
            "values": dict(self.values),
            "register_slack": self.register_slack,
            "workspace_fill": self.workspace_fill,
            "microseconds_per_step": round(self.microseconds_per_step, 4),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Candidate:
        """The inverse of `to_json`."""
        return cls(
            strategy=data["strategy"],
            problem=Problem(**data["problem"]),
            gpu=data["gpu"],
            boost_mhz=data["boost_mhz"],
            parameters=data["parameters"],
            values=data["values"],
            register_slack=data["register_slack"],
            workspace_fill=data["workspace_fill"],
        )
