"""Settings for tests: what long searches do happens in short ones, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constrint.settings import DEFAULT, Settings


def hasty(least_turn: int = 1, **records: Mapping[str, Any]) -> Settings:
    """All members of a portfolio take part from the first node on, in turns of a node and of a few units.

    Args:
        least_turn: Units of a turn.
        **records: Other fields, by record.
    """
    given = {
        "search": {"nodes_before_dual": 0},  # sums of linear models are tried for some nodes first
        "portfolio": {
            "nodes_of_turn": 1,
            "least_turn": least_turn,
            "alone": 0,
            "before_each_part": 0,
            "before_each_part_of_schedules": 0,
        },
    }
    return DEFAULT.with_fields(**given).with_fields(**records)
