"""Short calls of a stack, recorded as CUDA graphs and replayed: the host queues a graph, not each kernel.

A call that comes again with the same shapes, weights at the same addresses and the same stream is recorded
into a slot: arrays of its own for what goes in, what comes out, and what the backward pass reads. A later
call copies its input into the slot, replays the graph and copies the output out, so that no result changes
when the slot runs again. The graph reads the weights where they lie, so that it sees every change of them.

A slot is held from a forward pass until its backward pass has run, or nobody can ask for it any more. A
stack has a few slots for each kind of call. Where all are held, or memory is short, a call runs without.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import RLock
from typing import Any, Protocol, TypeVar

import torch

from kerneltune.torch.fused_passes import Gradients, Passes, States
from kerneltune.torch.recording import graphs

LEAST_CALLS = 2  # of a kind before one is recorded: kernels are loaded by then
MOST_SLOTS = 3  # of a kind: a loss that is still there keeps its slot while the next step runs
MOST_KINDS = 16  # of a stack that are recorded
MOST_NOTED = 256  # of a stack whose calls are counted
FORGOTTEN = 1000  # calls of a stack after which a kind gives way to another one
LARGE_ELEMENTS = 2**15  # from which a tensor is copied by itself: one launch for many gives a block 2**16
PLAIN = (torch.Tensor, torch.nn.Parameter)
Result = TypeVar("Result")


class Recorder(Protocol):
    """A recorder of work; see `kerneltune.torch.recording.CudaGraphs`."""

    def place(self, data: torch.Tensor) -> Hashable | None:
        """The key of recorded work besides its tensors; None where nothing is recorded."""

    def may(self) -> bool:
        """Whether work may be recorded now."""

    def take(self, size: int) -> Callable[[], None] | None:
        """Set so many bytes aside: what gives them back, or None where there is no room."""

    def pool(self) -> Hashable:
        """Memory for recorded work of which none runs beside another."""

    def record(self, pool: object, work: Callable[[], Result]) -> tuple[Callable[[], None], Result]:
        """Record work: what replays it, and what it gave."""


@dataclass(frozen=True)
class Call:
    """The arguments of a call of a stack.

    Attributes:
        passes: How it runs.
        data: The input.
        given: The given first states.
        parameters: Each layer's and direction's parameters.
        training: Whether a backward pass may follow.
        fits: Raises `InputError` where tensors do not fit each other.
        key: What `Replays.again` will be asked with by calls that run alike, if it will be.
    """

    passes: Passes
    data: torch.Tensor
    given: States
    parameters: States
    training: bool
    fits: Callable[[], None]
    key: Hashable | None = None

    @property
    def kind(self) -> Hashable:
        """The key of a slot among those with the same weights; `passes` stands for itself."""
        given = [(one.dtype, one.device) for one in self.given]
        return self.passes, self.data.dtype, self.parameters[0].dtype, self.training, *given

    @property
    def size(self) -> int:
        """About the bytes that a slot holds."""
        layer, rows = self.passes.layer, self.data.shape[0] * self.data.shape[1]
        values = rows * layer.directions * layer.units * (2 * layer.gates + 6) * self.passes.layers
        weights = 2 * sum(one.numel() for one in self.parameters)
        return int((values + weights + 2 * self.data.numel()) * self.data.element_size())


class Slot:
    """A recorded forward pass, and the backward passes recorded for it."""

    def __init__(self, recorder: Recorder, call: Call, seen: set[Hashable]) -> None:
        self._recorder, self.passes, self._seen = recorder, call.passes, seen
        self._pool = recorder.pool()  # its own: another slot may be held while this one runs
        self._data, self._given = _like(call.data), tuple(_like(one) for one in call.given)
        self._put(call.data, call.given)
        # Not the parameters themselves: `.data =` would take the memory away that the graph reads.
        tensors = (*self._given, *(one.detach() for one in call.parameters))
        forward = partial(call.passes.forward, self._data, tensors, training=call.training)
        self._replay, (output, last, self._kept) = recorder.record(self._pool, forward)
        self._results = (output, *last.unbind(0))
        self._weights = tensors[len(call.given) :]
        self._addresses = [one.data_ptr() for one in self._weights]
        self._backwards: dict[Hashable, _Backward] = {}
        self._lock = RLock()
        self.free = False

    def _put(self, data: torch.Tensor, given: States) -> None:
        _copy((self._data, *self._given), (data, *given))

    def forward(self, data: torch.Tensor, given: States) -> tuple[torch.Tensor, States]:
        """The output and the last states, in memory of their own."""
        self._put(data, given)
        self._replay()
        found = [_like(one) for one in self._results]
        _copy(found, self._results)
        return found[0], tuple(found[1:])

    def backward(
        self, by: torch.Tensor | None, by_last: Gradients, *, by_data: bool
    ) -> list[torch.Tensor | None]:
        """As `Passes.backward`, of the forward pass that ran last."""
        given = (by, *by_last)
        if [one.data_ptr() for one in self._weights] != self._addresses:  # FSDP frees memory and takes other
            return self.passes.backward(self._kept, by, by_last, by_data=by_data)
        pattern = tuple(one is None for one in given), by_data
        with self._lock:  # threads may ask for the same gradients
            found = self._backwards.get(pattern)
            if found is None and pattern in self._seen and self._recorder.may():
                found = _recorded(lambda: self._recorded_backward(given, by_data))
                if found is not None:
                    self._backwards[pattern] = found
            if found is None:  # the first one loads the kernels
                self._seen.add(pattern)
                return self.passes.backward(self._kept, by, by_last, by_data=by_data)
            return found(given)

    def _recorded_backward(self, given: Gradients, by_data: bool) -> _Backward:
        passes = partial(self.passes.backward, self._kept, by_data=by_data)
        return _Backward(partial(self._recorder.record, self._pool), passes, given)


class _Backward:
    """A recorded backward pass, for one pattern of gradients that come in."""

    def __init__(self, record: Callable[..., Any], passes: Callable[..., Any], given: Gradients) -> None:
        self._given = tuple(None if one is None else _like(one) for one in given)
        self._put(given)

        def work() -> list[torch.Tensor | None]:
            found = passes(self._given[0], self._given[1:])
            return [None if one is None else one.contiguous() for one in found]

        self._replay, self._found = record(work)

    def _put(self, given: Gradients) -> None:
        _copy(self._given, given)

    def __call__(self, given: Gradients) -> list[torch.Tensor | None]:
        """Gradients, each in memory of its own."""
        self._put(given)
        self._replay()
        made = [None if one is None else torch.empty_like(one) for one in self._found]
        _copy(made, self._found)
        return made


class Hold:
    """A slot that is held, until it is released or this goes."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self._is_over = False

    def release(self) -> None:
        """Leave the slot to others, once."""
        if not self._is_over:
            self._is_over = True
            self.slot.free = True

    __del__ = release


@dataclass
class _Kind:
    """Calls that can be replayed in each other's slots."""

    calls: int = 0
    last: int = 0
    worth: bool = True
    slots: list[Slot] = field(default_factory=list)
    seen: set[Hashable] = field(default_factory=set)


class Replays:
    """The slots of a stack."""

    def __init__(self) -> None:
        self._addresses: list[Hashable] = []
        self._kinds: dict[Hashable, _Kind] = {}
        self._alike: dict[Hashable, _Kind] = {}  # the same by what `again` is asked with
        self._calls = 0
        self._lock = RLock()

    def again(self, key: Hashable, parameters: States) -> Hold | None:
        """A slot of the kind that a call with this key had last; None where there is none.

        Args:
            key: Whatever decides how a call runs besides its parameters.
            parameters: Each layer's and direction's.
        """
        addresses = _addresses(parameters)
        with self._lock:
            kind = self._alike.get(key)
            return None if kind is None or addresses != self._addresses else self._free(kind)

    def hold(self, call: Call, brief: Callable[[], bool]) -> Hold | None:
        """A slot to replay a call in, or None where it runs without.

        Args:
            call: What the stack is called with.
            brief: Whether the GPU takes no longer than the host; asked once for each kind of call.
        """
        recorder = graphs()
        place, addresses = place_of(call.data), _addresses(call.parameters)
        if place is None or addresses is None:
            return None
        with self._lock:
            if addresses != self._addresses:  # slots read the weights where they lay
                self._addresses, self._kinds, self._alike = addresses, {}, {}
            kind = self._kind((place, call.kind))
            if (free := self._free(kind)) is not None:
                if call.key is not None:
                    self._alike[call.key] = kind
                return free
            if not kind.worth or kind.calls <= LEAST_CALLS or len(kind.slots) == MOST_SLOTS:
                return None
            if not recorder.may():
                return None
            kind.worth = bool(kind.slots) or (self._has_room() and brief())
            return self._made(recorder, call, kind) if kind.worth else None

    def _free(self, kind: _Kind) -> Hold | None:
        """A slot of the kind that nobody holds; counts the call."""
        self._calls += 1
        kind.calls, kind.last = kind.calls + 1, self._calls
        for slot in kind.slots:
            if slot.free:
                slot.free = False
                return Hold(slot)
        return None

    def _kind(self, key: Hashable) -> _Kind:
        found = self._kinds.get(key)
        if found is None:
            if len(self._kinds) >= MOST_NOTED:
                self._kinds = {name: one for name, one in self._kinds.items() if one.slots}
            found = self._kinds[key] = _Kind()
        return found

    def _has_room(self) -> bool:
        """Whether one more kind may be recorded; makes room where one has not been asked for lately."""
        recorded = {key: one for key, one in self._kinds.items() if one.slots}
        if len(recorded) < MOST_KINDS:
            return True
        oldest = min(recorded, key=lambda key: recorded[key].last)
        if recorded[oldest].last + FORGOTTEN > self._calls:
            return False
        del self._kinds[oldest]
        self._alike = {}
        return True

    def _made(self, recorder: Recorder, call: Call, kind: _Kind) -> Hold | None:
        call.fits()
        give_back = recorder.take(call.size)
        slot = None if give_back is None else _recorded(lambda: Slot(recorder, call, kind.seen))
        if give_back is None or slot is None:
            kind.worth = bool(kind.slots)
            if give_back is not None:
                give_back()
            return None
        weakref.finalize(slot, give_back)
        kind.slots.append(slot)
        return Hold(slot)


def place_of(data: torch.Tensor) -> Hashable | None:
    """The key of recorded work besides its tensors; None where calls with such data are not recorded."""
    if type(data) not in PLAIN or torch._C._len_torch_dispatch_stack():  # modes want to see each operation
        return None
    return graphs().place(data)


def _addresses(parameters: States) -> list[Hashable] | None:
    """Where they lie and as what; None where what other kinds of tensors hold may move unnoticed."""
    found: list[Hashable] = []
    for one in parameters:
        if type(one) not in PLAIN or not one.is_contiguous():
            return None
        found += (one.data_ptr(), one.dtype, one.numel())  # `.data =` may put others at the same address
    return found


def _recorded(make: Callable[[], Result]) -> Result | None:
    """The result of a recording; None, and a warning, where that fails."""
    try:
        with torch.no_grad():
            return make()
    except RuntimeError as error:
        warnings.warn(
            f"a call runs without a CUDA graph, since recording it failed ({error}); KERNELTUNE_GRAPHS=0 "
            "switches graphs off",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


def _copy(into: Sequence[torch.Tensor | None], out_of: Sequence[torch.Tensor | None]) -> None:
    """Copy those that are there: all small ones in one launch, large ones by themselves."""
    small: list[torch.Tensor] = []
    read: list[torch.Tensor] = []
    for mine, theirs in zip(into, out_of, strict=True):
        if mine is None or theirs is None:
            continue
        if mine.numel() >= LARGE_ELEMENTS:
            mine.copy_(theirs)
        else:
            small.append(mine)
            read.append(theirs)
    if small:
        torch._foreach_copy_(small, read)


def _like(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(tensor, memory_format=torch.contiguous_format)
