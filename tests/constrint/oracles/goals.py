"""What a call optimises, where its direction is drawn."""

from __future__ import annotations

from typing import Any

from constrint import IntExpr


def towards(direction: str, goal: IntExpr) -> dict[str, Any]:
    """The keyword of `Model.solve` for an objective: `minimize` or `maximize`."""
    return {direction: goal}
