"""What can go wrong, by what the caller can do about it. Each class carries its exit code."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class KernelTuneError(Exception):
    """Base of all errors this package raises on purpose; the text says what to change."""

    exit_code = 2


class InputError(KernelTuneError):
    """The request, a profile or a kernel description is wrong; the text names the place."""


class InfeasibleError(KernelTuneError):
    """The request is well formed, but nothing fits the GPU; the text names the resource."""

    exit_code = 1


class MissingExtraError(KernelTuneError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the extra '{extra}': pip install 'constrint[{extra}]', "
            f"or in a checkout .venv/bin/pip install -e '.[{extra}]'"
        )


class CompilationError(KernelTuneError):
    """The compiler refused a generated kernel, or its result breaks the tiling's promise."""

    exit_code = 1


class RunError(KernelTuneError):
    """A kernel did not run to its end, or gave a wrong answer."""

    exit_code = 1


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint naming what was probably meant, or everything there is to choose from."""
    choices = sorted(known)
    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    if close:
        return f"did you mean '{close[0]}'?"
    if not choices:
        return "there is none"
    return "known: " + ", ".join(choices)
