"""Scopes of a model: closing a scope removes what was added since it was opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from constrint.errors import ModelError

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations

COLLECTIONS = (  # the attributes of a model that hold its contents: dictionaries and lists
    *("variables", "lets", "intervals", "constraints", "disabled", "order", "goals", "preferences", "hints"),
    *("weights", "units", "symbols"),
)

Scoped = TypeVar("Scoped", bound="Declarations")


@dataclass(frozen=True)
class Snapshot:
    """The contents of a model at one time: copies of its collections, by name."""

    held: dict[str, Any]

    @staticmethod
    def of(model: Declarations) -> Snapshot:
        """Copies of the model's collections."""
        return Snapshot({name: getattr(model, name).copy() for name in COLLECTIONS})

    def restore(self, model: Declarations) -> None:
        """Restore the collections in place, so that references to them stay valid."""
        for name in COLLECTIONS:
            collection = getattr(model, name)
            collection.clear()
            add = collection.update if isinstance(collection, dict) else collection.extend
            add(self.held[name])
        model.owned.forget()


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
