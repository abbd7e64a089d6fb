"""Registries of a layer's rules for propagators, by their classes, without a gap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from constrint.propagators import REGISTRY
from constrint.store.propagator import Propagator

Handler = TypeVar("Handler")
Layer = TypeVar("Layer")
Answer = TypeVar("Answer")
Kind: TypeAlias = type[Propagator]


class Handlers(dict[Kind, Handler]):
    """The handlers of a layer: with a generic one, `handlers[type(node)]` is there for every propagator.

    Args:
        layer: The head of their column in the manual's table.
        entries: The handler of a class, or of each of several.
        generic: The handler of all other classes.
        rest: What becomes of these classes, in the table; left out, "generic" if they have that handler.

    Attributes:
        layer: As given.
        own: The classes with an entry.
        rest: As given; empty where other classes have no handler and nothing is said of them.
    """

    def __init__(
        self,
        layer: str,
        entries: Mapping[Kind | tuple[Kind, ...], Handler],
        generic: Handler | None = None,
        rest: str = "",
    ) -> None:
        super().__init__({} if generic is None else dict.fromkeys(REGISTRY, generic))
        own: dict[Kind, Handler] = {}
        for kinds, handler in entries.items():
            own |= dict.fromkeys(kinds if isinstance(kinds, tuple) else (kinds,), handler)
        self.update(own)
        self.layer = layer
        self.own = frozenset(own)
        self.rest = rest or ("" if generic is None else "generic")


class Rules(Handlers[Callable[[Layer, Any], Answer]], Generic[Layer, Answer]):
    """Handlers that are called with their layer and a propagator of the class that they are for.

    Which class that is, types cannot say of the values of a dictionary: hence `Any`.
    """
