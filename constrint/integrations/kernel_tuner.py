"""Kernel Tuner's search spaces, built by constrint.

    import constrint.integrations.kernel_tuner as bridge
    bridge.install()                     # Kernel Tuner builds its search spaces with constrint

The configurations are the same as Kernel Tuner's; their order may differ (the last values come first, as in
its own search). Kernel Tuner's sampling and neighbours work on them unchanged. If constrint cannot read a
restriction exactly, Kernel Tuner builds the space itself, and a warning gives the reason. Without a patch,
`write_cache` writes the file that Kernel Tuner's framework "ATF_cache" reads.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kernel_tuner.searchspace import Searchspace

from constrint.diagrams.listing import without_collection
from constrint.errors import ConstrintError, ModelError
from constrint.solutions.solutionset import SolutionSet
from constrint.support.placing import placed
from constrint.tuning.spaces import from_tune_params

_BUILDER = "_Searchspace__build_searchspace"
_own: Callable[..., Any] | None = None

Built = tuple[list[tuple[Any, ...]], dict[tuple[Any, ...], int], int]


def install() -> None:
    """Make Kernel Tuner build its search spaces with constrint, in this process."""
    global _own
    if _own is not None:
        return
    if not hasattr(Searchspace, _BUILDER):
        raise ConstrintError(
            "this version of Kernel Tuner builds search spaces differently from 1.5: use `write_cache`"
        )
    _own = getattr(Searchspace, _BUILDER)
    setattr(Searchspace, _BUILDER, _build)


def uninstall() -> None:
    """Restore Kernel Tuner's own construction."""
    global _own
    if _own is not None:
        setattr(Searchspace, _BUILDER, _own)
        _own = None


def write_cache(space: SolutionSet, path: str | Path) -> None:
    """Write configurations as the `;`-separated file that Kernel Tuner's framework "ATF_cache" reads."""
    with placed(path) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(space.names)
        writer.writerows(space.to_tuples())


def _build(searchspace: Any, block_size_names: Iterable[str], max_threads: int, solver: Any) -> Built:
    """The result of Kernel Tuner's own construction: configurations, their indices, and their number."""
    given = searchspace.restrictions
    restrictions = list(given) if isinstance(given, list | tuple) else [given]
    names = [name for name in block_size_names if name in searchspace.tune_params]
    threads = f"{' * '.join(names)} <= {max_threads}"
    try:
        if not all(_is_plain(restriction) for restriction in restrictions):
            raise ModelError("a restriction is an object of python-constraint")
        space = from_tune_params(searchspace.tune_params, [*restrictions, *([threads] if names else [])])
    except Exception as problem:  # on any error, fall back to Kernel Tuner's own construction
        reason = str(problem).splitlines()[0] if str(problem) else repr(problem)
        warnings.warn(f"Kernel Tuner builds this search space itself: {reason}", stacklevel=2)
        return _built_by_kernel_tuner(searchspace, block_size_names, max_threads, solver)
    _note(searchspace, restrictions, threads if names else None)
    if not space:
        warnings.warn(space.notes[-1], stacklevel=2)
        return [], {}, 0
    with without_collection():
        configurations = space.to_tuples()
        configurations.reverse()
        places = dict(zip(configurations, range(len(configurations)), strict=True))
    return configurations, places, len(configurations)


def _note(searchspace: Any, restrictions: list[Any], threads: str | None) -> None:
    """Set the limit of threads where Kernel Tuner reads it when it changes or checks configurations."""
    searchspace.restrictions = restrictions
    if threads is None:
        return
    if threads not in restrictions:
        restrictions.append(threads)
    modified = searchspace._modified_restrictions
    if isinstance(modified, list) and threads not in modified:
        modified.append(threads)


def _is_plain(restriction: object) -> bool:
    module = type(restriction).__module__.partition(".")[0]
    return isinstance(restriction, str) or (callable(restriction) and module != "constraint")


def _built_by_kernel_tuner(searchspace: Any, names: Iterable[str], max_threads: int, solver: Any) -> Built:
    assert _own is not None
    built: Built = _own(searchspace, names, max_threads, solver)
    return built
