"""Stacks of recurrent layers with `torch.nn`'s contract: parameters, directions, projection, dropout.

Both directions of a layer run in one launch: each is a group of heads, which recur apart from one another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.nn import functional

from kerneltune.torch.fitting import check_parameters, check_states
from kerneltune.torch.launching import Launcher
from kerneltune.torch.learnt import whole
from kerneltune.torch.native import Extras, Norms, native_recurrence
from kerneltune.torch.operators import kernels_take
from kerneltune.torch.precision import autocast_of_cell, rnn_takes_tf32
from kerneltune.torch.ragged import SATURATED_GATE, Layout, at_end, by_parts
from kerneltune.torch.rnn import recurrence
from kerneltune.torch.sizes import Kind, Sizes

_STEP = 8  # kernels take heads of a multiple of so many units


@dataclass(frozen=True)
class _Weights:
    """One direction of a layer, as kernels have it.

    Attributes:
        into: W.
        into_bias: Its bias.
        recurrent: R.
        bias: Its bias.
        projection: That of h, if there is one.
        units: The weights of single units, `[H, P, D]`, if the cell has any.
    """

    into: torch.Tensor
    into_bias: torch.Tensor | None
    recurrent: torch.Tensor
    bias: torch.Tensor
    projection: torch.Tensor | None = None
    units: torch.Tensor | None = None


class Stack(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """The parameters of a stack, and its layers run one after another.

    Attributes:
        options: Those of `recurrence` that every layer has.
        runs_on: What launches kernels, if it is not this machine's GPU.
    """

    options: dict[str, Any]
    runs_on: Launcher | None

    def __init__(self, kind: Kind, sizes: Sizes, device: object = None, dtype: object = None) -> None:
        super().__init__()
        self.kind, self.sizes = kind, sizes
        self.options, self.runs_on = {}, None
        made = {"device": device, "dtype": dtype}
        for name, shape in self._shapes().items():
            self.register_parameter(name, torch.nn.Parameter(torch.empty(shape, **made)))
        self.reset_parameters()

    def ending(self, layer: int, direction: int) -> str:
        """How the names of a direction's parameters end."""
        return f"_l{layer}{'_reverse' if direction else ''}"

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        gates = len(self.kind.gates) - len(self.kind.learnable)
        sizes, rows = self.sizes, gates * self.sizes.hidden_size
        found: dict[str, tuple[int, ...]] = {}
        read = sizes.proj_size or sizes.head_dim
        for layer in range(sizes.num_layers):
            width = sizes.output_size * sizes.directions if layer else sizes.input_size
            for direction in range(sizes.directions):
                end = self.ending(layer, direction)
                found |= {f"weight_ih{end}": (rows, width), f"weight_hh{end}": (rows, read)}
                if sizes.bias:
                    found |= {f"bias_ih{end}": (rows,), f"bias_hh{end}": (rows,)}
                if sizes.proj_size:
                    found[f"weight_hr{end}"] = (sizes.proj_size, sizes.hidden_size)
                if self.kind.weights:
                    found[f"weight_unit{end}"] = (len(self.kind.weights), sizes.hidden_size)
                found |= {f"option_{name}{end}": () for name, _ in self.kind.learnable}
                found |= self._added_shapes(end, rows)
        return found

    def _added_shapes(self, end: str, rows: int) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        if self.sizes.layer_norm:
            for name, size in (("ih", rows), ("hh", rows), ("cell", self.sizes.hidden_size)):
                if name != "cell" or self.kind.cell == "lstm":
                    found |= {f"norm_{name}_weight{end}": (size,), f"norm_{name}_bias{end}": (size,)}
        if self.sizes.learned_initial:
            for state in self.kind.states:
                found[f"initial_{state}{end}"] = (self._width(state),)
        return found

    def _width(self, state: str) -> int:
        return self.sizes.output_size if state == self.kind.states[0] else self.sizes.hidden_size

    def reset_parameters(self) -> None:
        """Draw weights from U(±1/√hidden_size); norms begin as the identity, first states as by default."""
        bound = 1 / math.sqrt(self.sizes.hidden_size)
        for name, parameter in self.named_parameters():
            if name.startswith("norm_"):
                torch.nn.init.constant_(parameter, float("_weight" in name))
            elif name.startswith("option_"):
                torch.nn.init.constant_(parameter, dict(self.kind.learnable)[_named_in(name)])
            elif name.startswith("initial_"):
                torch.nn.init.constant_(parameter, float(_named_in(name) in self.kind.positive))
            else:
                torch.nn.init.uniform_(parameter, -bound, bound)

    @property
    def extras(self) -> Extras | None:
        """Options that only torch's own operations compute, or None."""
        sizes = self.sizes
        if not sizes.layer_norm and not sizes.zoneout:
            return None
        return Extras(zoneout=sizes.zoneout, training=self.training)

    def first_states(self, rows: int, like: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The states before the first step, each `[L * directions, rows, width]`."""
        found = []
        for state in self.kind.states:
            shape = (self.sizes.num_layers * self.sizes.directions, rows, self._width(state))
            if self.sizes.learned_initial:
                learned = torch.stack(
                    [getattr(self, f"initial_{state}{end}") for end in self._ends()]
                ).unsqueeze(1)
                found.append(learned.expand(shape))
            else:
                found.append(like.new_full(shape, float(state in self.kind.positive)))
        return tuple(found)

    def parameter_names(self) -> tuple[str, ...]:
        """Those of each layer's and direction's weights and biases in torch's order, and of single units'."""
        parts = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if self.sizes.bias else 2]
        parts += ("weight_unit",) if self.kind.weights else ()
        return tuple(part + end for end in self._ends() for part in parts)

    def _ends(self) -> list[str]:
        sizes = self.sizes
        return [self.ending(k, d) for k in range(sizes.num_layers) for d in range(sizes.directions)]

    def check_fits(self, data: torch.Tensor, states: Sequence[torch.Tensor], *, casts: bool) -> None:
        """Raise `InputError` for states and parameters on another device, of another dtype or shape.

        Args:
            data: The input.
            states: As `hx`, or nothing.
            casts: Whether autocast casts the input.
        """
        shapes = self._shapes().items()
        named = ((name, getattr(self, name), shape) for name, shape in shapes)
        check_parameters(data, named, casts=casts)
        check_states(data, zip(self.kind.states, states, strict=False), casts=casts)

    def run(
        self, data: torch.Tensor, layout: Layout, states: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        """Run all layers.

        Args:
            data: The input, as the layout has it.
            layout: How data become steps and rows.
            states: The states before the first step, each `[L * directions, rows, width]`.

        Returns:
            The output of the last layer, as the layout has it, and the states after each row's last step.
        """
        sizes = self.sizes
        lasts: list[tuple[torch.Tensor, ...]] = []
        data = layout.within(data)
        for layer in range(sizes.num_layers):
            if layer and sizes.dropout:
                data = functional.dropout(data, sizes.dropout, self.training)
            at = slice(layer * sizes.directions, (layer + 1) * sizes.directions)
            data, last = self._layer(layer, data, layout, [state[at] for state in states])
            lasts.extend(last)
        return data, tuple(torch.stack(parts) for parts in zip(*lasts, strict=True))

    def _layer(
        self, layer: int, data: torch.Tensor, layout: Layout, states: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[tuple[torch.Tensor, ...]]]:
        extras, directions = self.extras, range(self.sizes.directions)
        launches = self.runs_on is not None or on_kernels(data, self.kind.cell)
        step = _STEP if extras is None and launches else 1
        dim = -(-self.sizes.head_dim // step) * step
        weights = [self.weights(layer, direction, dim) for direction in directions]

        def again() -> torch.Tensor:
            """W x of all directions."""
            return _joined(
                [
                    self._product(layer, d, data, layout, weights[d], states[0][d], extras is not None)
                    for d in directions
                ],
                dim=2,
            )

        product = again()
        start = torch.cat([self._start([state[d] for state in states], dim) for d in directions], dim=2)
        parts = (
            product,
            _joined([w.recurrent for w in weights]),
            _joined([w.bias for w in weights]),
            start.to(product.dtype),
        )
        recurrent = functional.dropout(parts[1], self.sizes.recurrent_dropout, self.training)
        parts = (parts[0], recurrent, *parts[2:])
        if self.kind.weights:  # those of single units stand behind the biases
            units = _joined([w.units for w in weights if w.units is not None])
            parts = (*parts[:2], torch.cat([parts[2], units.to(parts[2].dtype)], dim=1), parts[3])
        if extras is None:
            output, last = self._recur(parts, layout.ends, again)
        else:
            output, last = self._natively(layer, parts, extras)
        found = [self._results(d, output, last, layout, weights[d], states[0][d]) for d in directions]
        return torch.cat([f[0] for f in found], -1) if len(found) > 1 else found[0][0], [f[1] for f in found]

    def _recur(
        self,
        parts: tuple[torch.Tensor, ...],
        ends: torch.Tensor | None,
        again: Callable[[], torch.Tensor],
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """All steps, at once or, where nothing keeps the states of a row that is over, from end to end."""
        product, recurrent, both, start = parts
        gates, has_units = recurrent.shape[1], bool(self.kind.weights)
        bias, units = (both[:, :gates], both[:, gates:]) if has_units else (both, None)

        def run(at: slice, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            given = {"weights": units, "tf32": rnn_takes_tf32(), "runs_on": self.runs_on, **self.options}
            return recurrence(
                *(self.kind.cell, product[at], recurrent, bias, states), again=lambda: again()[at], **given
            )

        if ends is None or self.kind.keeps is not None:
            return run(slice(None), start)
        return by_parts(run, len(product), start, ends)

    def _product(
        self,
        layer: int,
        direction: int,
        data: torch.Tensor,
        layout: Layout,
        weights: _Weights,
        hidden: torch.Tensor,
        natively: bool,
    ) -> torch.Tensor:
        """W x as `[T, B, H, D, G]`."""
        norm = natively and self.sizes.layer_norm
        product = functional.linear(data, weights.into, None if norm else weights.into_bias)
        if norm:
            gain, shift = self._norm("ih", layer, direction)
            product = functional.layer_norm(
                product, gain.shape, gain.to(product.dtype), shift.to(product.dtype)
            )
            product = product if weights.into_bias is None else product + weights.into_bias
        heads, gates, dim, _ = weights.recurrent.shape
        spread = layout.spread(product, self._keeping(product, heads * dim), backward=bool(direction))
        if self.sizes.proj_size:  # h lies in the projected space; the kernel's lies in front of it
            read = getattr(self, f"weight_hh{self.ending(layer, direction)}")
            added = functional.linear(hidden.to(read.dtype), self._by_units(read, dim).flatten(0, -2))
            spread = torch.cat([(spread[0] + added).unsqueeze(0), spread[1:]])
        return spread.view(*spread.shape[:2], heads, dim, gates)

    def _keeping(self, like: torch.Tensor, units: int) -> torch.Tensor:
        """Input products behind a row's end: gates that keep the states."""
        gates = torch.stack(
            [
                like.new_full((), SATURATED_GATE * sign)
                for sign in self.kind.keeps or [0] * len(self.kind.gates)
            ]
        )
        return gates.repeat(units)

    def _norm(self, name: str, layer: int, direction: int) -> tuple[torch.Tensor, torch.Tensor]:
        end, dim = self.ending(layer, direction), self.sizes.head_dim
        pair = [getattr(self, f"norm_{name}_{part}{end}") for part in ("weight", "bias")]
        if name == "cell":
            return pair[0], pair[1]
        gain, shift = (self._by_units(part, dim).flatten() for part in pair)
        return gain, shift

    def _natively(
        self, layer: int, parts: tuple[torch.Tensor, ...], extras: Extras
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Each direction by itself: norms reach over all of its heads."""
        found = []
        heads, dim, gates = self.sizes.heads, self.sizes.head_dim, len(self.kind.gates)
        for d in range(self.sizes.directions):
            at = slice(d * heads, (d + 1) * heads)
            mine = (parts[0][:, :, at], parts[1][at], parts[2][at], parts[3][:, :, at])
            here = extras
            if self.sizes.layer_norm:
                pair = self._norm("hh", layer, d)
                of_r = (pair[0].view(heads, dim, gates), pair[1].view(heads, dim, gates))
                of_c = None
                if self.kind.cell == "lstm":
                    pair = self._norm("cell", layer, d)
                    of_c = (pair[0].view(heads, dim), pair[1].view(heads, dim))
                here = replace(extras, norms=Norms(of_r, of_c))
            found.append(native_recurrence(self.kind.cell, *mine, extras=here))
        return torch.cat([f[0] for f in found], dim=2), torch.cat([f[1] for f in found], dim=2)

    def _start(self, states: list[torch.Tensor], dim: int) -> torch.Tensor:
        """The first states of a direction, `[S, B, H, D]`."""
        sizes, parts = self.sizes, []
        for name, state in zip(self.kind.states, states, strict=True):
            if (
                name == self.kind.states[0] and sizes.proj_size
            ):  # what it adds to the first step is in the product
                state = state.new_zeros((state.shape[0], sizes.hidden_size))
            by_head = state.reshape(state.shape[0], sizes.heads, sizes.head_dim)
            fill = float(name in self.kind.positive)
            parts.append(functional.pad(by_head, (0, dim - sizes.head_dim), value=fill))
        return torch.stack(parts)

    def _results(
        self,
        direction: int,
        output: torch.Tensor,
        last: torch.Tensor,
        layout: Layout,
        weights: _Weights,
        hidden: torch.Tensor,
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        """A direction's output as the layout has it, and its last states, each `[B, width]`."""
        sizes = self.sizes
        heads = slice(direction * sizes.heads, (direction + 1) * sizes.heads)
        flat = output[:, :, heads, : sizes.head_dim].flatten(2)
        ends = [state[:, heads, : sizes.head_dim].flatten(1) for state in last]
        if weights.projection is not None:
            flat = functional.linear(flat, weights.projection.to(flat.dtype))
            ends[0] = flat[-1]
        if layout.ends is not None and self.kind.keeps is not None and not self.kind.keeps_hidden:
            ends[0] = at_end(flat, hidden.to(flat.dtype), layout.ends)
        return layout.collect(flat, backward=bool(direction)), tuple(ends)

    def _by_units(self, rows: torch.Tensor, dim: int) -> torch.Tensor:
        """Rows in torch's order, gate after gate, as `[H, D, G, …]`, padded to `dim` units a head."""
        sizes, gates = self.sizes, len(self.kind.gates)
        parts = rows.view(gates, sizes.heads, sizes.head_dim, *rows.shape[1:]).movedim(0, 2)
        added = dim - sizes.head_dim
        return functional.pad(parts, [0, 0] * (rows.dim()) + [0, added]) if added else parts

    def weights(self, layer: int, direction: int, dim: int) -> _Weights:
        """A direction's weights as kernels have them.

        Made in each call: a write through `.data`, a graph's replay or a parametrisation changes weights
        without a trace on the host, so what was made before cannot be known to hold.
        """
        sizes, end = self.sizes, self.ending(layer, direction)
        into = self._by_units(whole(self, f"weight_ih{end}"), dim).flatten(0, 2)
        read, projection = whole(self, f"weight_hh{end}"), None
        if sizes.proj_size:
            projection = getattr(self, f"weight_hr{end}")
            read = read @ projection
        # [H, D, G, E] -> [H, G, D, E], E being the units of h that are read
        recurrent = self._by_units(read, dim).transpose(1, 2)
        recurrent = functional.pad(recurrent, [0, dim - sizes.head_dim]).contiguous()
        units = self._units(end, dim) if self.kind.weights else None
        if not sizes.bias:
            none = recurrent.new_zeros(recurrent.shape[:3])
            return _Weights(into, None, recurrent, none, projection, units)
        into_bias = self._by_units(whole(self, f"bias_ih{end}"), dim).flatten()
        bias = self._by_units(whole(self, f"bias_hh{end}"), dim).transpose(1, 2).contiguous()
        return _Weights(into, into_bias, recurrent, bias, projection, units)

    def _units(self, end: str, dim: int) -> torch.Tensor:
        """The weights of single units as kernels have them, padded to `dim` units a head."""
        rows = getattr(self, f"weight_unit{end}").unflatten(1, (self.sizes.heads, self.sizes.head_dim))
        return functional.pad(rows.transpose(0, 1), [0, dim - self.sizes.head_dim])


def _named_in(name: str) -> str:
    """The state or option in a parameter's name, such as c in initial_c_l0_reverse."""
    return name.partition("_")[2].removesuffix("_reverse").rpartition("_l")[0]


def _joined(parts: list[torch.Tensor], dim: int = 0) -> torch.Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=dim)


def on_kernels(data: torch.Tensor, cell: str) -> bool:
    """Whether kernels run on this tensor, cast as autocast casts it."""
    return bool(kernels_take(data.device.type, autocast_of_cell(data, cell) or data.dtype))
