"""The live view of a run in a terminal: rate, best so far, time left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from kerneltune.pipeline.run import Budget, Notice, Progress
from kerneltune.pipeline.trial import TIME, Trial

REFRESHES = 4  # a second


def words(configuration: Mapping[str, object]) -> str:
    """A configuration in one line."""
    return ", ".join(f"{name}={value}" for name, value in configuration.items())


def seconds_left(progress: Progress, budget: Budget) -> float | None:
    """Seconds until the budget is spent at the rate so far; None without a budget or a rate."""
    left = []
    done = len(progress.trials)
    if budget.seconds is not None:
        left.append(max(0.0, budget.seconds - progress.seconds))
    if budget.evaluations is not None and done and progress.seconds > 0:
        left.append(max(0, budget.evaluations - done) * progress.seconds / done)
    return min(left) if left else None


def table_of(progress: Progress, budget: Budget, objective: str = TIME) -> Table:
    """The live table of a run."""
    done = len(progress.trials)
    failed = sum(not trial.passed for trial in progress.trials)
    rate = done / progress.seconds if progress.seconds > 0 else 0.0
    left = seconds_left(progress, budget)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row("tried", f"{done} ({failed} failed), {rate:.1f} a second")
    table.add_row("time", f"{progress.seconds:.0f} s" + ("" if left is None else f", {left:.0f} s left"))
    if progress.best is not None and objective in progress.best.objectives:
        value = progress.best.objectives[objective]
        table.add_row("best", f"{objective} {value:.5g}: {words(progress.best.configuration)}")
        table.add_row("", f"{progress.since_best} tried since")
    return table


@contextmanager
def live_view(budget: Budget, objective: str = TIME, console: Console | None = None) -> Iterator[Notice]:
    """A view that is drawn anew with each trial; what it gives is the run's `notice`."""
    shown = console or Console(stderr=True)
    with Live(console=shown, refresh_per_second=REFRESHES, transient=True) as live:

        def notice(trial: Trial, progress: Progress) -> None:
            live.update(table_of(progress, budget, objective))

        yield notice
