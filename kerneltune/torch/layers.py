"""Recurrent layers that take the place of `torch.nn`'s: same arguments, parameters, states and outputs.

What torch's layers lack is among the keyword arguments of `Added` and of `TorchLayer.forward`.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypedDict, Unpack

import torch
from torch.nn.utils.rnn import PackedSequence

from kerneltune.errors import InputError
from kerneltune.torch import fused, stack_operator
from kerneltune.torch.fitting import arrived, check_states
from kerneltune.torch.lengths import Lengths
from kerneltune.torch.native import is_native
from kerneltune.torch.precision import autocast_dtype
from kerneltune.torch.ragged import Dense, Layout, Masked, Tokens, checked_bounds
from kerneltune.torch.sizes import Sizes, kind_of
from kerneltune.torch.stack import Stack, on_kernels
from kerneltune.torch.stretches import Stretches

_OWN = {"lstm": "lstm", "gru": "gru", "elman": "rnn_tanh", "elman_relu": "rnn_relu"}
States = tuple[torch.Tensor, ...]


class Added(TypedDict, total=False):
    """Options that torch's layers lack.

    Attributes:
        heads: Units recur within their head.
        layer_norm: Normalises W x, R h and c (Ba et al. 2016); step by step in torch's own operations.
        recurrent_dropout: Probability that a weight of R is left out, a mask a call (Merity et al. 2018).
        zoneout: Probability that a unit keeps its states at a step (Krueger et al. 2017); step by step, too.
        learned_initial: The states before the first step are parameters.
    """

    heads: int
    layer_norm: bool
    recurrent_dropout: float
    zoneout: float
    learned_initial: bool


class TorchLayer(Stack):
    """The base of the layers."""

    cell: str

    def __init__(self, sizes: Sizes, device: object = None, dtype: object = None) -> None:
        super().__init__(kind_of(self.cell), sizes, device, dtype)

    def __getattr__(self, name: str) -> Any:
        if name in _NAMES:
            return getattr(self.sizes, name)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _NAMES:
            name, value = "sizes", replace(self.sizes, **{name: value})
        if name == "sizes" and "sizes" in self.__dict__:
            self._check_change(value)
        elif name in ("kind", "cell") and "sizes" in self.__dict__ and getattr(self, name) != value:
            raise InputError(f"the {name} of a layer is fixed: make a new layer")
        super().__setattr__(name, value)

    def _check_change(self, sizes: Sizes) -> None:
        """Raise `InputError` for sizes with which a new layer would have other parameters."""
        for one in fields(Sizes):
            old, new = getattr(self.sizes, one.name), getattr(sizes, one.name)
            if old != new and one.name not in _CHANGEABLE:
                raise InputError(
                    f"{one.name} of this {type(self).__name__} is {old!r} and cannot become {new!r}, since "
                    f"parameters depend on it: make a new layer. What can be set: {', '.join(_CHANGEABLE)}"
                )

    def extra_repr(self) -> str:
        """The arguments that differ from their defaults."""
        shown = [f"{self.sizes.input_size}, {self.sizes.hidden_size}"]
        for one in fields(Sizes)[2:]:
            value = getattr(self.sizes, one.name)
            if value != one.default:
                shown.append(f"{one.name}={value}")
        return ", ".join(shown)

    def flatten_parameters(self) -> None:
        """Nothing: parameters need not lie in one block."""

    @property
    def all_weights(self) -> list[list[torch.nn.Parameter]]:
        """The parameters of each layer and direction, in torch's order."""
        return [self._torchs_parameters(end) for end in self._ends()]

    def _torchs_parameters(self, end: str) -> list[torch.nn.Parameter]:
        names = ["weight_ih", "weight_hh"]
        names += ["bias_ih", "bias_hh"] if self.sizes.bias else []
        names += ["weight_hr"] if self.sizes.proj_size else []
        return [getattr(self, name + end) for name in names]  # which finds parametrised weights, too

    def forward(
        self,
        input: torch.Tensor | PackedSequence,
        hx: Any = None,
        *,
        lengths: torch.Tensor | None = None,
        cu_seqlens: torch.Tensor | None = None,
        reset: torch.Tensor | None = None,
    ) -> tuple[Any, Any]:
        """Run the stack.

        Args:
            input: `[T, B, input_size]`, `[B, T, input_size]` with `batch_first`, `[T, input_size]` without a
                batch, a `PackedSequence`, or with `cu_seqlens` `[N, input_size]`.
            hx: The states before the first step, each `[num_layers * directions, B, width]`: h for GRU and
                RNN, `(h, c)` for LSTM, `(h, c, n, m)` for sLSTM; by default 0 (n: 1), or what was learned.
            lengths: Steps of each row, `[B]` integers, on any device; never read by the host. Outputs behind
                a row's end are 0, and the backward direction begins at each row's own end.
            cu_seqlens: Where sequences begin that lie one after another, `[S + 1]` integers.
            reset: True where the states are set back to their default before the step, `[T, B]`, or
                `[B, T]` with `batch_first`; at step 0 the forward direction's `hx` of that row is, too. The
                backward direction begins anew behind the step before it, so `hx` enters at the last step.

        Returns:
            The output as the input lies, and the states after the last step, as `hx`. Raises `InputError`
            for tensors that do not fit.
        """
        if sum(option is not None for option in (lengths, cu_seqlens, reset)) > 1:
            raise InputError("lengths, cu_seqlens and reset exclude one another")
        if isinstance(input, PackedSequence):
            if lengths is not None or cu_seqlens is not None or reset is not None:
                raise InputError("a PackedSequence has its lengths within: leave the others out")
            return self._packed(input, self._states(hx))
        self._check_input(input, 2 if cu_seqlens is not None else None)
        input = arrived(input)
        if cu_seqlens is not None:
            output, last = self._joined(input, cu_seqlens, self._states(hx))
            return output, self._given_back(last)
        single = input.dim() == 2
        data = input.unsqueeze(1) if single else input.transpose(0, 1) if self.sizes.batch_first else input
        states = self._states(hx)
        if states and single:
            states = tuple(state.unsqueeze(1) if state.dim() == 2 else state for state in states)
        if reset is not None:
            marks = reset.unsqueeze(1) if single else reset.t() if self.sizes.batch_first else reset
            output, last = self._with_resets(data, marks, states)
        else:
            layout: Layout = Dense(data.shape[1])
            if lengths is not None:
                layout = Masked.of(lengths, data.shape[0], data.shape[1], data.device)
            output, last = self._run(data, layout, states)
        if single:
            return output.squeeze(1), self._given_back(tuple(state.squeeze(1) for state in last))
        return output.transpose(0, 1) if self.sizes.batch_first else output, self._given_back(last)

    def _check_input(self, data: torch.Tensor, dims: int | None) -> None:
        if data.dim() not in ((dims,) if dims else (2, 3)) or data.shape[-1] != self.sizes.input_size:
            wanted = "[N, {0}]" if dims else "[T, B, {0}] or [T, {0}]"
            shape = wanted.format(self.sizes.input_size)
            raise InputError(f"the input of {type(self).__name__} is {shape}, not {list(data.shape)}")
        steps = 1 if data.dim() == 3 and self.sizes.batch_first else 0
        if dims is None and not data.shape[steps]:
            raise InputError(f"there must be at least one step, not {list(data.shape)}")

    def _states(self, hx: Any) -> States | None:
        if hx is None:
            return None
        states = (hx,) if isinstance(hx, torch.Tensor) else tuple(hx)
        if len(states) != len(self.kind.states):
            names = ", ".join(self.kind.states)
            raise InputError(f"hx of {type(self).__name__} is ({names}), not {len(states)} tensors")
        return states

    def _given_back(self, last: States) -> object:
        return last[0] if len(last) == 1 else last

    def _check_states(self, states: States | None, rows: int) -> None:
        if states is not None:
            layers = self.sizes.num_layers * self.sizes.directions
            for name, state in zip(self.kind.states, states, strict=True):
                wanted = [layers, rows, self._width(name)]
                if list(state.shape) != wanted:
                    raise InputError(f"{name} of hx is {wanted} here, not {list(state.shape)}")

    def _is_fused(self, data: torch.Tensor, *, ragged: bool = False) -> bool:
        """Whether the stack runs as one operation."""
        if torch.compiler.is_compiling() or not data.numel() or (ragged and self.kind.keeps is None):
            return False
        return on_kernels(data, self.kind.cell) and fused.takes(self)

    def _run(self, data: torch.Tensor, layout: Layout, states: States | None) -> tuple[torch.Tensor, States]:
        dense = isinstance(layout, Dense) and not torch.compiler.is_compiling()
        if dense and (found := fused.repeated(self, data, states)) is not None:
            return found
        self._check_states(states, layout.rows)
        if dense and self._is_fused(data):
            return fused.run_even(self, data, states)
        first = self.first_states(layout.rows, data) if states is None else states
        self.check_fits(data, first, casts=autocast_dtype(data) is not None)
        if dense and self._is_torchs(data):
            return self._by_torch(data, first, None)
        if (
            isinstance(layout, Dense)
            and on_kernels(data, self.kind.cell)
            and stack_operator.takes(self, data)
        ):
            return stack_operator.run(
                self, data, () if states is None and not self.sizes.learned_initial else first
            )
        return self.run(data, layout, first)

    def _joined(
        self, data: torch.Tensor, boundaries: torch.Tensor, states: States | None
    ) -> tuple[torch.Tensor, States]:
        """Sequences one after another."""
        bounds = checked_bounds(boundaries, len(data))
        if not len(data):  # no sequence has a step
            self._check_states(states, len(bounds) - 1)
            width = self.sizes.output_size * self.sizes.directions
            ends = self.first_states(len(bounds) - 1, data) if states is None else states
            self.check_fits(data, ends, casts=autocast_dtype(data) is not None)
            return data.new_empty((0, width)), ends
        lengths = Lengths.joined(bounds) if self._is_fused(data, ragged=True) else None
        if lengths is None:
            return self._run(data, Tokens.joined(bounds, len(data), data.device), states)
        self._check_states(states, len(lengths.ends))
        return fused.run_ragged(self, data, lengths, states)

    def _is_torchs(self, data: torch.Tensor) -> bool:
        """Whether torch's own operator takes this layer, which no kernel does."""
        sizes = self.sizes
        added = sizes.heads > 1 or sizes.recurrent_dropout or self.extras is not None
        if added or self.cell not in _OWN or torch.compiler.is_compiling() or is_native():
            return False
        if torch._C._are_functorch_transforms_active():  # which torch's operator has no rules for
            return False
        return not on_kernels(data, self.kind.cell)

    def _by_torch(
        self, data: torch.Tensor, states: States, batch_sizes: torch.Tensor | None
    ) -> tuple[torch.Tensor, States]:
        sizes, flat = self.sizes, [part for weights in self.all_weights for part in weights]
        rest = (sizes.num_layers, sizes.dropout, self.training, sizes.bidirectional)
        operator = getattr(torch._VF, _OWN[self.cell])
        start = [state.contiguous() for state in states]
        if self.cell == "lstm" and (wanted := autocast_dtype(data)):  # oneDNN's takes no others
            data, start = data.to(wanted), [state.to(wanted) for state in start]
        hx = start if self.cell == "lstm" else start[0]
        if batch_sizes is None:
            output, *last = operator(data, hx, flat, sizes.bias, *rest, False)
        else:
            output, *last = operator(data, batch_sizes, hx, flat, sizes.bias, *rest)
        return output, tuple(last)

    def _packed(self, packed: PackedSequence, states: States | None) -> tuple[PackedSequence, object]:
        data, sizes, order, back = packed
        self._check_input(data, 2)
        if states is not None and order is not None:
            states = tuple(state.index_select(1, order) for state in states)
        if self._is_torchs(data):
            first = states if states is not None else self.first_states(int(sizes[0]), data)
            self._check_states(first, int(sizes[0]))
            self.check_fits(data, first, casts=autocast_dtype(data) is not None)
            output, last = self._by_torch(data, first, sizes)
        elif self._is_fused(data, ragged=True):
            self._check_states(states, int(sizes[0]))
            output, last = fused.run_ragged(self, data, Lengths.packed(sizes), states)
        else:
            output, last = self._run(data, Tokens.packed(sizes, data.device), states)
        if back is not None:
            last = tuple(state.index_select(1, back) for state in last)
        return PackedSequence(output, sizes, order, back), self._given_back(last)

    def _with_resets(
        self, data: torch.Tensor, reset: torch.Tensor, states: States | None
    ) -> tuple[torch.Tensor, States]:
        """Each stretch between resets is a row of its own."""
        shape = (data.shape[0], data.shape[1])
        if data.is_meta or not data.numel():
            return self._run(data, Dense(shape[1]), states)
        cut = Stretches.of(reset, shape, data.device, self.sizes.directions)
        begin = self.first_states(cut.count, data)
        if states is not None:
            self._check_states(states, shape[1])
            named = zip(self.kind.states, states, strict=True)
            check_states(data, named, casts=autocast_dtype(data) is not None)
            begin = tuple(cut.begin(part, given) for part, given in zip(begin, states, strict=True))
        output, last = self._joined(data.transpose(0, 1).flatten(0, 1), cut.bounds, begin)
        output = output.view(shape[1], shape[0], -1).transpose(0, 1)
        return output, tuple(cut.ends(part) for part in last)


_NAMES = frozenset(one.name for one in fields(Sizes))
_CHANGEABLE = ("batch_first", "dropout", "recurrent_dropout", "zoneout")  # of them, in a layer that is there


class LSTM(TorchLayer):
    """`torch.nn.LSTM` on solved kernels; gates in the order i, f, g, o; states h and c.

    Arguments are torch's, and by keyword those of `Added`.
    """

    cell = "lstm"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: object = None,
        dtype: object = None,
        **added: Unpack[Added],
    ) -> None:
        sizes = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size)
        super().__init__(Sizes(*sizes, **added), device, dtype)


class GRU(TorchLayer):
    """`torch.nn.GRU` on solved kernels; gates in the order r, z, n; one state, h.

    Arguments are torch's, and by keyword those of `Added`.
    """

    cell = "gru"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: object = None,
        dtype: object = None,
        **added: Unpack[Added],
    ) -> None:
        sizes = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(Sizes(*sizes, **added), device, dtype)


class sLSTM(GRU):  # noqa: N801 # the paper's name
    """The sLSTM of xLSTM (Beck et al. 2024) in `torch.nn`'s manner; gates i, f, z, o; states h, c, n and m.

    Arguments are `GRU`'s.
    """

    cell = "slstm"


class RNN(TorchLayer):
    """`torch.nn.RNN` on solved kernels, with `nonlinearity` "tanh" or "relu"; one state, h.

    Arguments are torch's, and by keyword those of `Added`.
    """

    cell = "elman"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: object = None,
        dtype: object = None,
        **added: Unpack[Added],
    ) -> None:
        sizes = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        checked = Sizes(*sizes, **added)
        self.cell = _cell_of(nonlinearity)
        super().__init__(checked, device, dtype)

    @property
    def nonlinearity(self) -> str:
        """Of each unit: tanh or relu. It can be set."""
        return "relu" if self.cell == "elman_relu" else "tanh"

    @nonlinearity.setter
    def nonlinearity(self, value: str) -> None:
        cell = _cell_of(value)
        self.__dict__.update(cell=cell, kind=kind_of(cell))


def _cell_of(nonlinearity: str) -> str:
    if nonlinearity not in ("tanh", "relu"):
        raise InputError(f"nonlinearity is {nonlinearity!r}: it must be 'tanh' or 'relu'")
    return "elman" if nonlinearity == "tanh" else "elman_relu"
