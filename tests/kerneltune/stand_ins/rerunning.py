"""A recorder that is none: it runs work again, and leaves what that gives where the first run left it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any


class Rerunning:
    """Records on the CPU, within a number of bytes."""

    def __init__(self, room: int = 2**40) -> None:
        self.room, self.taken, self.replays, self.records = room, 0, 0, 0
        self.fails, self.allowed = False, True
        self.where: Hashable | None = "here"

    def place(self, data: Any) -> Hashable | None:
        return self.where

    def may(self) -> bool:
        return self.allowed

    def take(self, size: int) -> Callable[[], None] | None:
        if self.taken + size > self.room:
            return None
        self.taken += size

        def give_back() -> None:
            self.taken -= size

        return give_back

    def pool(self) -> Hashable:
        return object()

    def record(self, pool: Any, work: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
        if self.fails:
            raise RuntimeError("no recording today")
        self.records += 1
        made = list(tensors(result := work()))

        def replay() -> None:
            self.replays += 1
            for mine, one in zip(made, list(tensors(work())), strict=True):
                if mine.data_ptr() != one.data_ptr():  # a weight as it lies, or what went in
                    mine.copy_(one)

        return replay, result


def tensors(found: Any) -> Iterator[Any]:
    """All tensors within lists, dictionaries and dataclasses, in order."""
    import torch

    if isinstance(found, torch.Tensor):
        yield found
    elif isinstance(found, dict):
        for one in found.values():
            yield from tensors(one)
    elif isinstance(found, (list, tuple)) and not isinstance(found, torch.Size):
        for one in found:
            yield from tensors(one)
    elif is_dataclass(found):
        for part in fields(found):
            yield from tensors(getattr(found, part.name))
