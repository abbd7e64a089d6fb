"""The outcome of a check: what is proved, and what was taken on trust."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """The outcome of a check that did not reject the proof.

    Attributes:
        claim: The claim that the proof ends with: "optimal", "infeasible", "feasible" or "unknown".
        values: The solution of the claim, by name.
        objectives: The values of the goals for that solution.
        goals: The goals as written.
        derived: Steps that follow by propagation or by a rule.
        listed: Steps that hold in all solutions of the model, which were listed.
        trusted: Steps that were not checked, by kind.
        learned: Clauses that were learned.
    """

    claim: str = ""
    values: dict[str, int] = field(default_factory=dict)
    objectives: tuple[int, ...] = ()
    goals: list[str] = field(default_factory=list)
    derived: int = 0
    listed: int = 0
    trusted: Counter[str] = field(default_factory=Counter)
    learned: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether every step was checked."""
        return not self.trusted
