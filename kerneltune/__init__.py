"""kerneltune: kernels for GPUs, tuned: solved, compiled, verified, timed and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kerneltune.inputs.equation_cell import EquationCell as Cell
    from kerneltune.sources.arguments import In as In
    from kerneltune.sources.arguments import InOut as InOut
    from kerneltune.sources.arguments import Out as Out
    from kerneltune.tuning.autotune import autotune as autotune
    from kerneltune.tuning.load import load as load
    from kerneltune.tuning.tune import tune as tune

_PLACES = {
    "Cell": "kerneltune.inputs.equation_cell:EquationCell",
    "In": "kerneltune.sources.arguments",
    "InOut": "kerneltune.sources.arguments",
    "Out": "kerneltune.sources.arguments",
    "autotune": "kerneltune.tuning.autotune",
    "load": "kerneltune.tuning.load",
    "tune": "kerneltune.tuning.tune",
}

__all__ = ["Cell", "In", "InOut", "Out", "autotune", "load", "tune"]


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return __all__


def __getattr__(name: str) -> Any:
    """Public names, loaded when first used."""
    if name not in _PLACES:
        raise AttributeError(f"module 'kerneltune' has no attribute '{name}'")
    import importlib

    module, _, inside = _PLACES[name].partition(":")
    return getattr(importlib.import_module(module), inside or name)
