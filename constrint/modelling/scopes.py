"""Scopes of a model: closing a scope removes what was added since it was opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from constrint.errors import ModelError

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations

Scoped = TypeVar("Scoped", bound="Declarations")


@dataclass(frozen=True)
class Snapshot:
    """The contents of a model at one time: copies of its collections, by name."""

    held: dict[str, Any]

    @staticmethod
    def of(model: Declarations) -> Snapshot:
        """Copies of the model's collections."""
        return Snapshot({name: collection.copy() for name, collection in _collections(model).items()})

    def restore(self, model: Declarations) -> None:
        """Restore the collections in place, so that references to them stay valid."""
        for name, collection in _collections(model).items():
            collection.clear()
            add = collection.update if isinstance(collection, dict) else collection.extend
            add(self.held[name])
        model.owned.forget()


def _collections(model: Declarations) -> dict[str, Any]:
    return {
        "variables": model.variables,
        "lets": model.lets,
        "intervals": model.intervals,
        "constraints": model.constraints,
        "disabled": model.disabled,
        "order": model.order,
        "goals": model.goals,
        "preferences": model.preferences,
        "hints": model.hints,
        "weights": model.weights,
        "units": model.units,
        "symbols": model.symbols,
    }


def pop(model: Declarations, scopes: list[Snapshot]) -> None:
    """Close the innermost scope of a model."""
    if not scopes:
        raise ModelError("there is no open scope: call push() before pop()")
    scopes.pop().restore(model)


@contextmanager
def scope(model: Scoped, scopes: list[Snapshot]) -> Iterator[Scoped]:
    """A scope for a `with` block; scopes left open in the block are closed with it."""
    with model.lock:
        depth = len(scopes)
        scopes.append(Snapshot.of(model))
    try:
        yield model
    finally:
        with model.lock:
            if len(scopes) > depth:
                scopes[depth].restore(model)
                del scopes[depth:]
