"""Settings for tests: what long searches of large models do happens in short ones of small models, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constrint.settings import DEFAULT, Settings

HASTY: dict[str, dict[str, Any]] = {
    "search": {"nodes_before_dual": 0},  # sums of linear models are tried for some nodes first
    "portfolio": {
        "nodes_of_turn": 1,
        "least_turn": 1,
        "alone": 0,
        "before_each_term": 0,
        "before_annealing": 0,
        "turn_of_annealing": 2_000,
        "before_each_part": 0,
        "before_each_part_of_schedules": 0,
    },
}


def hasty(least_turn: int = 1, **records: Mapping[str, Any]) -> Settings:
    """All members of a portfolio take part from the first node on, in turns of a node and of a few units.

    Args:
        least_turn: Units of a turn.
        **records: Other fields, by record.
    """
    settings = DEFAULT.with_fields(**HASTY).with_fields(portfolio={"least_turn": least_turn})
    return settings.with_fields(**records)


LOWERED = hasty(least_turn=20).with_fields(
    presolve={
        "large": 1,
        "most_postponed": 0,
        "wide": 1,
        "least_clique": 2,
        "tight": 100.0,
        "least_tasks": 2,
        "narrow": 1,
        "most_totals": 1000,
    },
    learning={
        "least_holders": 2,
        "most_terms": 2,
        "block": 2,
        "first_trail": 6,
        "first_keep": 4,
        "core_levels": 1,
        "middle_levels": 2,
        "recent": 8,
        "restart_unit": 1,
        "stretch_below": 1,
        "stretch_above": 1,
        "longest_above": 2,
        "trial": 2,
        "lately": 4,
        "rare": 2,
        "before_programs": 0,
        "longest_interval": 1,
        "free": 1 << 60,
        "most_told": 8,
        "inbox_cells": 40,  # the longest clause that is told fits
        "slice": 200,
        "compiled_slice": 200,
    },
    relaxation={
        "few_cells": 0,
        "least_gain": 0.0,
        "least_depth": 1e-3,
        "least_violation": 1e-3,
        "worth_a_round": 0.0,
        "least_blamed": 0,
        "overdraft": 0,
        "least_pivots": 1,
        "least_sums": 0,
        "share_of_sums": 0.0,
        "trial_of_points": 1,
        "share_of_refuted": 0.0,
    },
    search={
        "nodes_of_descent": 1,
        "failures_of_descent": 0,
        "nodes_before_presolve": 1,
        "nodes_of_probe": 10,
        "most_halves": 0,
        "most_nodes_of_probes": 60,
        "least_range": 2,
        "least_polled_width": 1,
        "most_points": 50,
        "small": 1,
        "nodes_near_hints": 5,
        "nodes_near_zero": 20,
        "most_decisions": 40,
        "most_paths": 3,
        "failures_before_weights": 1,
        "least_ranked": 2,
        "seconds_before_loading": 0.0,
        "work_alone": 50,
        "work_of_share": 100,
        "slice": (5, 200),
        "compiled_slice": (5, 200),
        "first_check": 1,
        "longest_sum": 2,
    },
    portfolio={
        "half_of_learning": 1000,
        "trial_of_relaxed": 0,
        "least_equations": 1,
        "share_of_equations": 0.0,
        "lns_after": 0,
        "half_of_jumps": 1000,
        "units_of_program": 1.0,  # so that its turns are not all of the search
    },
    neighbourhoods={"failures": 2, "failures_of_whole": 2, "whole_every": 3},  # 2 grows, 1 does not
    enumeration={
        "share_of_arithmetic": 0.0,
        "least_combinations": 1,
        "most_rows": 64,
        "first_rows": 8,
        "lazy_rows": 8,
    },
    local_search={
        "one_left_out": 0,
        "rows_of_step": 1,
        "variables_of_row": 2,
        "values_of_wide": 2,
        "failures_of_dive": 2,
        "most_dives": 2,
        "heavy": 4,
        "slice": 20,
        "compiled_slice": 20,
    },
)
"""Every rule, member, cut, decomposition and replacement takes part as early as it can.

For models of three to six variables of three to thirteen values each. What comes before long searches may
answer them.
"""

SEARCHED = LOWERED.with_fields(
    search={"least_range": 1 << 60, "most_polled_variables": 0},
    enumeration={"least_combinations": 1 << 60},
)
"""The same without tables, probes and polls, so that long searches answer."""
