"""Whether tasks fit a resource, moment by moment."""

from __future__ import annotations

from collections.abc import Sequence


def fits(starts: Sequence[int], durations: Sequence[int], demands: Sequence[int], capacity: int) -> bool:
    """Whether the tasks under way never demand more than the capacity."""
    return all(
        sum(r for s, d, r in zip(starts, durations, demands, strict=True) if s <= time < s + d) <= capacity
        for time in {time for s, d in zip(starts, durations, strict=True) for time in range(s, s + d)}
    )
