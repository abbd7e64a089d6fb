"""Why a scan has no tiling, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kerneltune.tiling.space import TilingSpace


def explain_scan(space: TilingSpace) -> str:
    """The reasons, strategy by strategy."""
    profile, problem = space.profile, space.problem
    lines = [f"no tiling of {problem.label} fits {profile.name}:"]
    if not space.arrays_fit():
        size, room = space.array_bytes(), profile.memory_bytes
        return "\n".join([*lines, f"  its arrays need {size} bytes of device memory, the GPU has {room}"])
    lines += [f"  {name}: {reason}" for name, reason in space.refusals().items()]
    lines += [
        f"  {strategy.name}: its constraints exclude each other for these sizes"
        for strategy in space.applicable()
    ]
    return "\n".join(lines)
