"""Layers of a stack side by side: while a layer runs over a chunk of steps, the one below is a chunk ahead.

All layers are groups of heads of one launch, as both directions of a layer are, and each launch runs over a
chunk. Arrays have a slot for each layer, in which layer k lies k chunks later. The chunks of a slot join: a
launch leaves the states where the next one begins with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from kerneltune.inputs.problem import Problem
from kerneltune.torch.fused_layer import Layer
from kerneltune.torch.fused_passes import Gradients
from kerneltune.torch.fused_rows import Even
from kerneltune.torch.launching import Launcher
from kerneltune.torch.operators import problem_of, spec_of
from kerneltune.torch.products import multiply
from kerneltune.torch.stacked import Stacked, stacked_gradients, stacked_weights

LAUNCH = {True: 1e-4, False: 4e-5}  # seconds that a further chunk takes, in training and else
LEAST_CHUNK = 32
LEAST_SECONDS = 1e-3  # of all layers one after another
GAIN = 0.85  # of that time, which chunks must be below
States = tuple[torch.Tensor, ...]


def chunk_of(steps: int, layers: int, training: bool, seconds: Callable[[int], float]) -> int:
    """Steps of a chunk; 0 where layers one after another are no slower.

    Args:
        steps: Steps of the sequences; a chunk divides them.
        layers: Number of layers.
        training: Whether the backward pass follows.
        seconds: What a step of so many layers side by side takes, of all passes.
    """
    if layers < 2 or steps < 2 * LEAST_CHUNK:
        return 0
    alone = steps * layers * seconds(1)
    if alone < LEAST_SECONDS:
        return 0
    together = seconds(layers)
    found = [
        ((steps // chunk + layers - 1) * (chunk * together + LAUNCH[training]), chunk)
        for chunk in range(LEAST_CHUNK, steps // 2 + 1)
        if steps % chunk == 0
    ]
    least, chunk = min(found, default=(alone, 0))
    return chunk if least < GAIN * alone else 0


@dataclass(frozen=True)
class Staggered:
    """A stack in chunks.

    Attributes:
        layer: The sizes of each layer; one direction.
        layers: Their number.
        steps: Steps of the sequences.
        batch: Rows.
        chunk: Steps of a chunk.
        runs_on: What launches kernels.
    """

    layer: Layer
    layers: int
    steps: int
    batch: int
    chunk: int
    runs_on: Launcher

    @property
    def chunks(self) -> int:
        """Chunks of a layer."""
        return self.steps // self.chunk

    @property
    def launches(self) -> int:
        """Launches of a pass."""
        return self.chunks + self.layers - 1

    @property
    def rows(self) -> int:
        """Rows of a chunk: steps times rows of the batch."""
        return self.chunk * self.batch

    def active(self, launch: int) -> tuple[int, int]:
        """The first layer that is within its sequence at a launch, and the one behind the last."""
        return max(0, launch - self.chunks + 1), min(launch + 1, self.layers)

    def of_layer(self, array: torch.Tensor, k: int, later: int = 0) -> torch.Tensor:
        """A layer's rows of an array `[rows, L, …]`, from `later` steps behind its first on."""
        return array.narrow(0, k * self.rows + later * self.batch, self.steps * self.batch)[:, k]

    def of_layers(self, array: torch.Tensor, layers: int, later: int = 0) -> torch.Tensor:
        """The rows of the lowest layers, `[layers, T * B, …]`, likewise."""
        _, count, width = array.shape
        row = count * width
        strides = (self.rows * row + width, row, 1)
        shape = (layers, self.steps * self.batch, width)
        return array.as_strided(shape, strides, array.storage_offset() + later * self.batch * row)

    def problem(self, direction: str, dtype: torch.dtype) -> Problem:
        """The request for a chunk."""
        shape = (self.chunk, self.batch, self.layers * self.layer.heads, self.layer.dim)
        return problem_of(direction, shape, dtype, self.layer.options)

    def forward(
        self, data: torch.Tensor, weights: Stacked, starts: list[States], *, training: bool
    ) -> tuple[torch.Tensor, torch.Tensor, Kept]:
        """Queue the forward pass.

        Args:
            data: `[T, B, input_size]`.
            weights: Those of all layers.
            starts: The first states of each layer, each `[1, B, units]`, or nothing for the default.
            training: Whether a backward pass may follow.

        Returns:
            The output, `[T, B, units]`, the last states, `[S, L, B, units]`, and what backward reads.
        """
        kept = self._made(data, weights, training)
        flat = data.reshape(self.steps * self.batch, -1)
        product = data.new_zeros((self.rows, self.layers, self.layer.width))
        count, units = len(self.layer.positive), self.layer.units
        lasts = data.new_empty((count, self.layers, self.batch, units))
        problem = self.problem("training" if training else "forward", data.dtype)
        for launch in range(self.launches):
            self._products(launch, flat, weights, kept.states, product)
            mine = kept.states.narrow(0, launch * self.rows, count * (self.chunk + 1) * self.batch)
            by_step = mine.view(count, self.chunk + 1, self.batch, self.layers, units)
            if launch == 0:
                _begin(self.layer, by_step[:, 0], ())
            if launch < self.layers and (launch or starts[0]):
                _begin(self.layer, by_step[:, 0, :, launch], starts[launch])
            tensors = {"input": product, "recurrent": kept.recurrent, "bias": weights.bias, "states": mine}
            self.runs_on.launch(problem, {**tensors, **self._saved(kept, launch)})
            ended = launch - self.chunks + 1
            if ended >= 0:
                lasts[:, ended].copy_(by_step[:, -1, :, ended])
        output = self.of_layer(kept.states, self.layers - 1, later=1)
        return output.reshape(self.steps, self.batch, units), lasts, kept

    def _made(self, data: torch.Tensor, weights: Stacked, training: bool) -> Kept:
        spec, count, units = spec_of(self.layer.cell), len(self.layer.positive), self.layer.units
        rows = (self.launches - 1) * self.rows + count * (self.chunk + 1) * self.batch
        states = data.new_empty((rows, self.layers, units))
        saved = {}
        if training and spec.saved_values:
            shape = (self.launches * self.rows, self.layers, units, spec.saved_values)
            saved["saved_values"] = data.new_empty(shape)
        if training and spec.saved_states:
            shape = (self.launches * self.rows + self.batch, self.layers, units, spec.saved_states)
            saved["saved_states"] = data.new_empty(shape, dtype=torch.float32)
        return Kept(data, states, weights.recurrent, weights.first, weights.others, saved)

    def _saved(self, kept: Kept, launch: int) -> dict[str, torch.Tensor]:
        found = {}
        for name, whole in kept.saved.items():
            rows = self.rows + (self.batch if name == "saved_states" else 0)
            found[name] = whole.narrow(0, launch * self.rows, rows)
        return found

    def _products(
        self, launch: int, flat: torch.Tensor, weights: Stacked, states: torch.Tensor, product: torch.Tensor
    ) -> None:
        """W x of the layers that are within their sequences."""
        first, end = self.active(launch)
        bias = weights.into_bias
        if first == 0:
            rows = flat.narrow(0, launch * self.rows, self.rows)
            added = None if bias is None else bias[0]
            multiply(rows, weights.first.t(), tf32=self.layer.tf32, add=added, out=product[:, 0])
        first = max(first, 1)
        if end > first:
            above = states.narrow(0, (launch - 1) * self.rows + self.batch, self.rows)
            left = above[:, first - 1 : end - 1].transpose(0, 1)
            right = weights.others[first - 1 : end - 1].transpose(1, 2)
            place = product[:, first:end].transpose(0, 1)
            added = None if bias is None else bias[first:end, None]
            multiply(left, right, tf32=self.layer.tf32, add=added, out=place)

    def backward(
        self, kept: Kept, by: torch.Tensor | None, by_last: list[torch.Tensor | None], starts: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Queue the backward recurrences.

        Args:
            kept: What the forward pass kept.
            by: The gradient by the output.
            by_last: Those by the last states, each `[L, B, units]`.
            starts: Whether gradients by the first states are wanted.

        Returns:
            Gradients by W x and by R h + bias, `[rows, L, units * gates]`, and by the first states,
            `[S, L, B, units]` or None.
        """
        states, count, units = kept.states, len(self.layer.positive), self.layer.units
        shape = (self.launches * self.rows, self.layers, self.layer.width)
        gradient = states.new_empty(shape)
        by_recurrent = states.new_empty(shape) if self.layer.separate else gradient
        by_hidden = states.new_zeros((self.rows, self.layers, units))
        after = states.new_zeros((count, self.batch, self.layers, units))
        initial = torch.empty_like(after)
        begun = states.new_empty((count, self.layers, self.batch, units)) if starts else None
        problem = self.problem("backward", states.dtype)
        flat = None if by is None else by.reshape(self.steps * self.batch, units)
        for launch in reversed(range(self.launches)):
            self._gradients(launch, kept, gradient, flat, by_hidden)
            ended = launch - self.chunks + 1
            if ended >= 0:
                after[:, :, ended].zero_()
                for state, one in enumerate(by_last):
                    if one is not None:
                        after[state, :, ended].copy_(one[ended])
            part = launch * self.rows, self.rows
            tensors = {
                "recurrent": kept.recurrent,
                "states": states.narrow(0, part[0], count * (self.chunk + 1) * self.batch),
                "output_gradient": by_hidden,
                "last_gradient": after,
                "input_gradient": gradient.narrow(0, *part),
                "recurrent_gradient": by_recurrent.narrow(0, *part),
                "initial_gradient": initial,
                **self._saved(kept, launch),
            }
            self.runs_on.launch(problem, tensors)
            if begun is not None and launch < self.layers:
                begun[:, launch].copy_(initial[:, :, launch])
            after, initial = initial, after
        return gradient, by_recurrent, begun

    def _gradients(
        self,
        launch: int,
        kept: Kept,
        gradient: torch.Tensor,
        by: torch.Tensor | None,
        by_hidden: torch.Tensor,
    ) -> None:
        """The gradients by h of the layers that are within their sequences."""
        first, end = self.active(launch)
        if end == self.layers and by is not None:
            at = (launch - self.layers + 1) * self.rows
            by_hidden[:, -1].copy_(by.narrow(0, at, self.rows))
        end = min(end, self.layers - 1)
        if end > first:
            above = gradient.narrow(0, (launch + 1) * self.rows, self.rows)[:, first + 1 : end + 1]
            place = by_hidden[:, first:end].transpose(0, 1)
            multiply(above.transpose(0, 1), kept.others[first:end], tf32=self.layer.tf32, out=place)

    def parameters(
        self, kept: Kept, gradient: torch.Tensor, by_recurrent: torch.Tensor
    ) -> list[torch.Tensor]:
        """Gradients by all parameters, in torch's order."""
        read = (
            kept.data.reshape(self.steps * self.batch, -1),
            self.of_layers(kept.states, self.layers - 1, later=1),
        )
        by_product = self.of_layers(gradient, self.layers)
        by_r = self.of_layers(by_recurrent, self.layers) if self.layer.separate else by_product
        return stacked_gradients(self.layer, by_product, by_r, read, self.of_layers(kept.states, self.layers))


@dataclass(frozen=True)
class Kept:
    """Inputs of the backward pass.

    Attributes:
        data: The input.
        states: Those of all chunks, `[rows, L, units]`.
        recurrent: R of all layers.
        first: W of the first layer.
        others: W of the others.
        saved: What kernels saved.
    """

    data: torch.Tensor
    states: torch.Tensor
    recurrent: torch.Tensor
    first: torch.Tensor
    others: torch.Tensor
    saved: dict[str, torch.Tensor]


def _begin(layer: Layer, first: torch.Tensor, start: States) -> None:
    """Fill the states before the first step, `[S, B, …]`."""
    if not start:
        first.zero_()
    for state, positive in enumerate(layer.positive):
        if start:
            first[state].copy_(start[state][0])
        elif positive:
            first[state].fill_(1)


@dataclass(frozen=True, eq=False)
class SideBySide:
    """A stack in chunks, with the passes of `kerneltune.torch.fused_passes.Plan`.

    Attributes:
        side: How it runs.
        given: How many states are given.
    """

    side: Staggered
    given: int

    @property
    def layer(self) -> Layer:
        """The sizes of each layer."""
        return self.side.layer

    @property
    def layers(self) -> int:
        """Their number."""
        return self.side.layers

    @property
    def rows(self) -> Even:
        """How the rows lie."""
        return Even.of(self.side.steps, self.side.batch)

    def forward(
        self, data: torch.Tensor, tensors: States, *, training: bool
    ) -> tuple[torch.Tensor, torch.Tensor, Kept]:
        """Queue the forward pass."""
        side, given = self.side, self.given
        weights = stacked_weights(side.layer, tensors[given:], data.dtype)
        starts = [tuple(state[k : k + 1] for state in tensors[:given]) for k in range(side.layers)]
        return side.forward(data, weights, starts, training=training)

    def backward(
        self, kept: Kept, by: torch.Tensor | None, by_last: Gradients, *, by_data: bool
    ) -> list[torch.Tensor | None]:
        """Queue the backward pass: gradients by the input, the first states and the parameters."""
        side = self.side
        gradient, by_recurrent, starts = side.backward(kept, by, list(by_last), starts=bool(self.given))
        data = None
        if by_data:
            data = multiply(side.of_layer(gradient, 0), kept.first, tf32=side.layer.tf32).view(
                kept.data.shape
            )
        given = () if starts is None else starts.unbind(0)
        return [data, *given, *side.parameters(kept, gradient, by_recurrent)]

    def parted(self, kept: Kept) -> tuple[list[torch.Tensor], tuple[str, ...]]:
        """All tensors that the backward pass reads, and what else `whole` needs."""
        held = [kept.data, kept.states, kept.recurrent, kept.first, kept.others, *kept.saved.values()]
        return held, tuple(kept.saved)

    def whole(self, tensors: States, names: tuple[str, ...]) -> Kept:
        """The inverse of `parted`."""
        data, states, recurrent, first, others, *saved = tensors
        return Kept(data, states, recurrent, first, others, dict(zip(names, saved, strict=True)))
