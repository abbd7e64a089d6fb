"""Drawn calls of a layer and its twin, of which one may be replayed."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")


def states_of(result: Any) -> list[Any]:
    output, last = result
    return [output, *(last if isinstance(last, tuple) else (last,))]


def two_alike(kind: str, options: dict[str, Any], recorder: Any, **made: Any) -> tuple[Any, Any]:
    """A layer, and a function that calls its twin without recording."""
    import kerneltune.torch as ours

    layer, twin = (getattr(ours, kind)(5, 16, **options, **made) for _ in range(2))
    twin.load_state_dict(layer.state_dict())

    def without(*given: Any) -> Any:
        recorder.where = None
        try:
            return twin(*given)
        finally:
            recorder.where = "here"

    without.layer = twin  # type: ignore[attr-defined]
    return layer, without


class Sequence:
    """Drawn calls of a layer and its twin, side by side."""

    def __init__(self, draw: random.Random, recorder: Any, **made: Any) -> None:
        self.draw, self.made = draw, made
        kind = draw.choice(["LSTM", "GRU", "RNN", "sLSTM"])
        self.options = {"num_layers": draw.randint(1, 2), "bidirectional": draw.random() < 0.4}
        self.options |= {"bias": draw.random() < 0.8, "heads": draw.choice([1, 2])}
        self.options |= {"learned_initial": draw.random() < 0.2}
        self.layer, self.without = two_alike(kind, self.options, recorder, **made)
        self.open: list[tuple[list[Any], list[Any]]] = []
        self.kept: list[tuple[Any, Any]] = []

    def call(self) -> None:
        draw, (steps, rows) = self.draw, self.draw.choice([(4, 3), (2, 2)])
        x = torch.randn(steps, rows, 5, **self.made)
        start = None
        if draw.random() < 0.4:
            shape = (self.options["num_layers"] * (1 + self.options["bidirectional"]), rows, 16)
            parts = tuple(torch.randn(shape, **self.made) for _ in self.layer.kind.states)
            start = parts if len(parts) > 1 else parts[0]
        training, wants = draw.random() < 0.8, draw.random() < 0.5
        pair = []
        with torch.set_grad_enabled(training):
            for run in (self.layer, self.without):
                mine = x.clone().requires_grad_(wants)
                pair.append([*states_of(run(mine, start) if start is not None else run(mine)), mine])
        for found, expected in zip(pair[0][:-1], pair[1][:-1], strict=True):
            self.same(found, expected)
            self.kept.append((found, found.detach().clone()))
        if training:
            self.open.append((pair[0], pair[1]))

    def same(self, found: Any, expected: Any) -> None:
        if expected is None:
            assert found is None
            return
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected)

    def backward(self) -> None:
        if not self.open:
            return
        pair = self.open.pop(self.draw.randrange(len(self.open)))
        if not pair[0][0].requires_grad:
            assert not pair[1][0].requires_grad
            return
        count = len(pair[0]) - 1
        used = [k for k in range(count) if self.draw.random() < 0.6] or [self.draw.randrange(count)]
        factors = [torch.randn_like(pair[0][k]) for k in used]
        for again in [True, False] if self.draw.random() < 0.2 else [False]:
            for parts in pair:
                total = sum((parts[k] * by).sum() for k, by in zip(used, factors, strict=True))
                total.backward(retain_graph=again)
        for mine, other in zip(self.parameters(0), self.parameters(1), strict=True):
            self.same(mine.grad, other.grad)
        if pair[0][-1].requires_grad:
            self.same(pair[0][-1].grad, pair[1][-1].grad)

    def parameters(self, which: int) -> list[Any]:
        return list((self.layer, self.without.layer)[which].parameters())

    def step(self) -> None:
        """Change the weights as an optimiser does; what has not run backward by then cannot."""
        self.open.clear()
        with torch.no_grad():
            for mine, other in zip(self.parameters(0), self.parameters(1), strict=True):
                mine.mul_(0.99)
                other.mul_(0.99)
                if self.draw.random() < 0.3:
                    mine.data[0], other.data[0] = 0.01, 0.01
                mine.grad = other.grad = None

    def freeze(self) -> None:
        """Ask for gradients by other parameters."""
        self.open.clear()
        for mine, other in zip(self.parameters(0), self.parameters(1), strict=True):
            mine.grad = other.grad = None
            mine.requires_grad_(self.draw.random() < 0.5)
            other.requires_grad_(mine.requires_grad)

    def move(self) -> None:
        """New memory, as `.to` and `.half` have it."""
        self.open.clear()
        for mine in self.parameters(0):
            mine.data = mine.data.clone()

    def change(self) -> None:
        """Set what can be set of a layer that is there."""
        name, value = self.draw.choice(
            [("nonlinearity", "relu"), ("nonlinearity", "tanh"), ("training", None)]
        )
        for layer in (self.layer, self.without.layer):
            if name == "training":
                layer.train(not layer.training)
            elif hasattr(layer, name):
                setattr(layer, name, value)

    def run(self) -> None:
        for _ in range(80):
            chance = self.draw.random()
            if chance < 0.55:
                self.call()
            elif chance < 0.85:
                self.backward()
            elif chance < 0.95:
                self.step()
            elif chance < 0.97:
                self.freeze()
            elif chance < 0.98:
                self.move()
            else:
                self.change()
        for found, was in self.kept:
            assert torch.equal(found, was)


def wrong_in_threads(
    layer: Any, inputs: list[Any], expected: list[Any], calls: int, modes: tuple[Any, ...]
) -> list[int]:
    """The inputs for which a layer gave another output; a thread asks for each, in modes by turns."""
    wrong: list[int] = []

    def ask(which: int) -> None:
        for call in range(calls):
            with modes[call % len(modes)]():
                if not torch.equal(layer(inputs[which])[0], expected[which]):
                    wrong.append(which)

    threads = [threading.Thread(target=ask, args=(which,)) for which in range(len(inputs))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return wrong
