"""Words that shells complete: names of cells, profiles, dtypes, passes and strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import click
from click.shell_completion import CompletionItem

Completion: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _of(names: Callable[[], Iterable[str]], *, or_file: bool = False) -> Completion:
    """Completes names, and files beside them."""

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in sorted(set(names())) if name.startswith(begun)]
        return [*found, CompletionItem(begun, type="file")] if or_file else found

    return complete


def _cells() -> Iterable[str]:
    from kerneltune.inputs.descriptions import discover
    from kerneltune.inputs.scan_descriptions import discover_scans

    return [*discover().cells, "scan", *discover_scans().cells]


def _strategies() -> Iterable[str]:
    from kerneltune.inputs.descriptions import discover
    from kerneltune.inputs.scan_descriptions import discover_scans

    return [*discover().strategies, *discover_scans().strategies]


def _profiles() -> Iterable[str]:
    from kerneltune.inputs.hardware import profile_names

    return profile_names()


def _dtypes() -> Iterable[str]:
    from kerneltune.inputs.dtypes import DTYPES

    return DTYPES


CELLS = _of(_cells, or_file=True)
STRATEGIES = _of(_strategies)
PROFILES = _of(_profiles, or_file=True)
DTYPES = _of(_dtypes)
PASSES = _of(lambda: ("forward", "training", "backward"))
