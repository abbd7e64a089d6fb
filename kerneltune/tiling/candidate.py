"""Candidates: solved tilings with their parameters and predicted resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kerneltune.inputs.problem import checked
from kerneltune.inputs.request import Request, request_from_json

REQUIRED_VALUES = ("threads", "blocks", "cluster", "shared_memory", "registers", "blocks_per_sm", "cycles")


@dataclass(frozen=True)
class Candidate:
    """A tiling of one strategy with all numbers fixed; ``values`` has all of the solver's values."""

    strategy: str
    problem: Request
    gpu: str
    boost_mhz: int
    parameters: Mapping[str, int]
    values: Mapping[str, int]
    register_slack: int = 0
    workspace_fill: int = 0
    workspace_kept: bool = False
    stepwise: bool = False

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
        """Blocks in a cluster; 1 if clusters are not used."""
        return self.values["cluster"]

    @property
    def shared_memory(self) -> int:
        """Dynamic shared memory of a block in bytes."""
        return self.values["shared_memory"]

    @property
    def registers(self) -> int:
        """Registers of a thread, a limit for the compiler."""
        return self.values["registers"]

    @property
    def blocks_per_sm(self) -> int:
        """Blocks that must be resident on an SM at the same time."""
        return self.values["blocks_per_sm"]

    @property
    def cycles(self) -> int:
        """Predicted clock cycles of one time step; for a scan, whose steps overlap, of all steps."""
        return self.values["cycles"]

    @property
    def workspace(self) -> int:
        """Bytes of device memory that a launch needs, each set to ``workspace_fill`` before it.

        If ``workspace_kept``, they are set before the first launch only, and the memory belongs to this
        kernel on one stream.
        """
        return self.values.get("workspace", 0)

    @property
    def microseconds_per_step(self) -> float:
        """Predicted microseconds of one step at the boost clock."""
        return self.cycles / self.boost_mhz / self.problem.modelled_steps

    def to_json(self) -> dict[str, object]:
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
            "workspace_kept": self.workspace_kept,
            "stepwise": self.stepwise,
            "microseconds_per_step": round(self.microseconds_per_step, 4),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Candidate:
        """The inverse of `to_json`; raises `ValueError`, `KeyError` or `InputError` for anything else."""
        for name in ("strategy", "gpu"):
            checked(data[name], str, name)
        for name in ("boost_mhz", "register_slack", "workspace_fill"):
            checked(data[name], int, name)
        kept, stepwise = (
            checked(data.get(name, False), bool, name) for name in ("workspace_kept", "stepwise")
        )
        for name in ("parameters", "values"):
            for key, number in checked(data[name], dict, name).items():
                checked(number, int, f"{name}: {key[:40]}")
        if data["boost_mhz"] <= 0:
            raise ValueError("boost_mhz must be above 0")
        for name in REQUIRED_VALUES:
            if name not in data["values"]:
                raise ValueError(f"values: {name} is missing")
        return cls(
            strategy=data["strategy"],
            problem=request_from_json(data["problem"]),
            gpu=data["gpu"],
            boost_mhz=data["boost_mhz"],
            parameters=data["parameters"],
            values=data["values"],
            register_slack=data["register_slack"],
            workspace_fill=data["workspace_fill"],
            workspace_kept=kept,
            stepwise=stepwise,
        )
