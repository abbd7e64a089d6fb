"""A run over a user's kernel as it is shown: a live view or lines on standard error, and a served page."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

import click

from kerneltune.cli.failures import configuration_words

if TYPE_CHECKING:
    from kerneltune.pipeline.run import Notice, Progress
    from kerneltune.pipeline.trial import Trial
    from kerneltune.sources.kernel import Kernel
    from kerneltune.tuning.kernel_run import RunOptions


def watched(options: RunOptions, as_json: bool) -> AbstractContextManager[Notice]:
    """A live view on a terminal, and a line for each trial elsewhere."""
    if as_json or not sys.stderr.isatty():
        return nullcontext(_notice)
    from kerneltune.reporting.live import live_view

    return live_view(options.budget, options.goals.names[0])


@contextmanager
def page_served(kernel: Kernel, options: RunOptions, serve: bool) -> Iterator[Notice]:
    """The notice of a page that is served while a run goes on."""
    if not serve:
        yield lambda trial, progress: None
        return
    from kerneltune.reporting.page import Roof
    from kerneltune.reporting.serving import LivePage, served

    roof = None if kernel.profile is None else Roof.of(kernel.profile)
    page = LivePage(kernel.name, dict(kernel.sizes), options.goals.names[0], roof)
    with served(page) as address:
        click.echo(f"the report: {address}", err=True)
        yield page.notice


def _notice(trial: Trial, progress: Progress) -> None:
    said = f"{trial.time:.5g} ms" if trial.time is not None else str(trial.failure).partition("\n")[0]
    mark = " *" if progress.best is trial else " (from the store)" if trial.stored else ""
    click.echo(f"{len(progress.trials)}: {configuration_words(trial.configuration)}: {said}{mark}", err=True)
