"""What propagation at the root makes of domains that are written as text: `"1..5"`, `"0, 2, 7"`."""

from __future__ import annotations

from constraint_checks import Instance, members, state_of

from constrint.engine.fixpoint import FAILED, fixpoint
from constrint.expr.domain import Domain
from constrint.store.propagator import Propagator

NO_SOLUTION = ["no solution"]


def pruned(node: Propagator, *domains: str) -> list[str]:
    """The domains after propagation, of the variables 0, 1, …, or `NO_SOLUTION`."""
    state = state_of(Instance(node, tuple(Domain.of_values(_read(domain)) for domain in domains)))
    if fixpoint(state, 10_000) == FAILED:
        return NO_SOLUTION
    return [_written(sorted(members(state, v))) for v in range(len(domains))]


def _read(domain: str) -> list[int]:
    values: list[int] = []
    for part in domain.split(","):
        first, _, last = part.partition("..")
        values += range(int(first), int(last or first) + 1)
    return values


def _written(values: list[int]) -> str:
    """Values as text; from three consecutive ones on as a range."""
    parts: list[list[int]] = []
    for value in values:
        if parts and value == parts[-1][-1] + 1:
            parts[-1].append(value)
        else:
            parts.append([value])
    return ", ".join(
        f"{part[0]}..{part[-1]}" if len(part) > 2 else ", ".join(map(str, part)) for part in parts
    )
