"""The errors of kerneltune, by what the caller can do about them. Each class has its exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterable

NEEDS_CUDA = ("compile", "gpu", "nvml")  # extras
LIKE = 0.5  # least similarity, from 0 to 1, of a name that a hint suggests


class KernelTuneError(Exception):
    """Base of all errors that this package raises on purpose; the text says what to change."""

    exit_code = 2


class InputError(KernelTuneError):
    """The request, a profile or a kernel description is wrong; the text names the place."""


class InfeasibleError(KernelTuneError):
    """The request is well formed, but nothing fits the GPU; the text names the resource."""

    exit_code = 1


class MissingExtraError(KernelTuneError):
    """An optional dependency is not installed; the text has the command that installs it."""

    exit_code = 3

    def __init__(self, feature: str, extra: str) -> None:
        checkout = (
            "" if is_cuda_on_macos(extra) else f", or in a checkout .venv/bin/pip install -e '.[{extra}]'"
        )
        super().__init__(f"{feature} needs the extra '{extra}': {how_to_install(extra)}{checkout}")

    @classmethod
    def said(cls, text: str) -> MissingExtraError:
        """The error with a given text, for one that another process raised."""
        error = cls.__new__(cls)
        error.args = (text,)
        return error


class CompilationError(KernelTuneError):
    """The compiler refused a generated kernel, or the result exceeds the tiling's predictions."""

    exit_code = 1


class RunError(KernelTuneError):
    """A kernel did not finish, or gave a wrong answer."""

    exit_code = 1


def is_cuda_on_macos(extra: str) -> bool:
    """Whether an extra needs CUDA's packages, of which macOS has none."""
    return sys.platform == "darwin" and extra in NEEDS_CUDA


def how_to_install(extra: str) -> str:
    """The way to install an extra that is missing."""
    if is_cuda_on_macos(extra):
        return "use Linux or Windows, since there is no CUDA for macOS"
    return f"pip install 'constrint[{extra}]'"


def _ratio(name: str, other: str) -> float:
    from difflib import SequenceMatcher  # imported late: few calls need it

    return SequenceMatcher(None, other, name).ratio()


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that names the most similar known name, or all known names."""
    choices = sorted(known)

    def likeness(choice: str) -> tuple[float, float, str]:
        whole, head = (_ratio(name, part) for part in (choice, choice.partition("_")[0]))
        # The first word counts too: h101 is similar to h100_sxm, not to a10.
        return max(whole, head), whole, choice

    best = max(map(likeness, choices), default=None)
    if best is not None and best[0] >= LIKE:
        return f"did you mean '{best[-1]}'?"
    if not choices:
        return "there is none"
    return "known: " + ", ".join(choices)
