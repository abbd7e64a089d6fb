"""How much the checker of proofs lists and propagates before it counts a step as trusted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckerSettings:
    """Limits of one check.

    Attributes:
        few_listed: Assignments of one constraint that are listed at a first attempt: most steps need no more.
        most_listed: Assignments of one constraint that are listed at most while propagating: some 0.1 s.
        most_inferences: Inferences from one assumption; bounds that creep without end exceed any limit.
        most_assignments: Assignments of the model's variables that are listed at most: some seconds. Where
            there are more, no list of all solutions supports the steps.
        most_extended: Solutions with values of internal variables that are kept at most.
        most_local: Assignments of the variables of one constraint that are listed at most to support a step.
        most_cases: Cases of values that are told apart at most to support one clause.
        is_strict: Whether a step that cannot be checked is an error.
    """

    few_listed: int = 300
    most_listed: int = 50_000
    most_inferences: int = 200_000
    most_assignments: int = 20_000
    most_extended: int = 50_000
    most_local: int = 20_000
    most_cases: int = 400
    is_strict: bool = False
