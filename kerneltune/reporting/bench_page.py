"""One HTML page about searches that were compared on recorded measurements."""

from __future__ import annotations

from collections.abc import Sequence

from kerneltune.reporting.page import filled
from kerneltune.tuning.replay_bench import StrategyRuns

SCRIPTS = ("report/common.js", "bench/bench.js")
STYLES = ("report/page.css", "bench/bench.css")


def bench_page_of(title: str, rows: Sequence[StrategyRuns], objectives: Sequence[str], total: int) -> str:
    """The page's text.

    Args:
        title: Kernel and device.
        rows: The runs of each strategy.
        objectives: What was searched for.
        total: How many configurations are recorded.
    """
    strategies = []
    for row in rows:
        curve = [[count, one.mean, one.low, one.high] for count, one in row.curve]
        strategies.append({**row.to_json(), "name": row.strategy, "curve": curve})
    data: dict[str, object] = {
        "title": title,
        "objectives": list(objectives),
        "total": total,
        "seeds": max((row.seeds for row in rows), default=0),
        "strategies": strategies,
    }
    return filled(data, STYLES, SCRIPTS)
