"""Scopes of a model: what was added since a scope was opened goes when it is closed."""

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
    """What a model held at some time: copies of its collections, by name."""

    held: dict[str, Any]

    @staticmethod
    def of(model: Declarations) -> Snapshot:
        """The collections of a model as they are now."""
        return Snapshot({name: collection.copy() for name, collection in _collections(model).items()})

    def restore(self, model: Declarations) -> None:
        """Give a model its collections back, in place: whoever holds one sees the change."""
        for name, collection in _collections(model).items():
            collection.clear()
            add = collection.update if isinstance(collection, dict) else collection.extend
            add(self.held[name])


def _collections(model: Declarations) -> dict[str, Any]:
    return {
        "variables": model.variables,
        "lets": model.lets,
        "constraints": model.constraints,
        "goals": model.goals,
        "preferences": model.preferences,
    }


def pop(model: Declarations, scopes: list[Snapshot]) -> None:
    """Close the innermost scope of a model."""
    if not scopes:
        raise ModelError("there is no open scope: call push() before pop()")
    scopes.pop().restore(model)


@contextmanager
def scope(model: Scoped, scopes: list[Snapshot]) -> Iterator[Scoped]:
    """A scope for a `with` block; scopes that were opened in it and left open are closed, too."""
    depth = len(scopes)
    scopes.append(Snapshot.of(model))
    try:
        yield model
    finally:
        if len(scopes) > depth:
            scopes[depth].restore(model)
            del scopes[depth:]
