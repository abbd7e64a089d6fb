"""The states that enter and leave each rank's part of time, agreed on by exchanges between the ranks.

A cell that is linear in its state needs one exchange: a part takes the state h that enters it to P h + S,
where S leaves it if zeros enter. Any other cell is computed from a guess of what enters, and again from its
first step on until the states are, bit for bit, what they were; the ranks exchange until all agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import torch
from torch import distributed

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

FIRST_STEPS = 512  # steps that are computed again at first; twice as many each time
AT_ONCE = 1 << 26  # numbers of an input that are computed again at a time: what bounds their memory
ROUNDING = 2.0**-25  # of a float32: what is at most half of its last digit, whatever the number is
FORGOTTEN = 2.0**-120  # a product's magnitude from which on no state of a usual size is left
USUAL = 2.0**20  # a state's magnitude; what is left of it is 2^-100 then, which no usual sum of states feels
GROWTH = 8  # of the steps that are asked about: a question waits for the GPU, a step takes it nothing

Group: TypeAlias = "ProcessGroup | None"  # None for the default one


class PartProduct(NamedTuple):
    """The map of states over some steps of a cell that is linear in them.

    Attributes:
        matrix: Of each channel, `[B, C, k, k]` for states of k numbers.
        dropped: Rows in which a reset drops whatever enters, `[B]`.
    """

    matrix: torch.Tensor
    dropped: torch.Tensor

    def of(self, states: torch.Tensor) -> torch.Tensor:
        """The states taken through the steps, `[B, C * k]`: zeros stay zeros whatever overflows."""
        given = states.unflatten(1, (self.matrix.shape[1], -1))[:, :, None]
        left = torch.where(given == 0, given, self.matrix * given).sum(-1).flatten(1)
        return torch.where(self.dropped[:, None], left.new_zeros(()), left)

    def behind(self, earlier: PartProduct) -> PartProduct:
        """That of the earlier steps and these."""
        columns = [self.of(one.flatten(1)) for one in earlier.matrix.unbind(3)]
        matrix = torch.stack(columns, -1).unflatten(1, (earlier.matrix.shape[1], -1))
        return PartProduct(matrix, self.dropped | earlier.dropped)

    def transposed(self) -> PartProduct:
        """That of gradients, from the last step to the first."""
        return PartProduct(self.matrix.transpose(2, 3), self.dropped)

    def forgets(self) -> torch.Tensor:
        """Whether nothing is left of states of a usual size."""
        return (self.dropped | (self.matrix.flatten(1).abs().amax(1) <= FORGOTTEN)).all()


class PendingFlag:
    """A truth value on its way to the host, which reads it once it needs it."""

    def __init__(self, value: torch.Tensor) -> None:
        self._value, self._event = value, None
        if value.is_cuda:
            self._value = torch.empty((), dtype=torch.bool, pin_memory=True)
            self._value.copy_(value, non_blocking=True)
            self._event = torch.cuda.Event()
            self._event.record()

    def read(self) -> bool:
        """Wait for what was queued before the question, and no longer."""
        if self._event is not None:
            self._event.synchronize()
        return bool(self._value)


class Chunks(NamedTuple):
    """Steps that are computed again at a time: at first, twice as many each time, and at most."""

    first: int
    most: int

    @staticmethod
    def of(step_numbers: int) -> Chunks:
        """For steps that have so many numbers of an input."""
        return Chunks(FIRST_STEPS, max(FIRST_STEPS, AT_ONCE // step_numbers))


class Pass(Protocol):
    """A pass over this rank's part, in the order of its computation."""

    steps: int
    chunks: Chunks

    def whole(self, entering: torch.Tensor | None) -> torch.Tensor:
        """Compute all steps from these states, or zeros, keep the results, and give what leaves."""

    def again(self, begin: int, size: int, entering: torch.Tensor, *, keeps: bool) -> torch.Tensor:
        """The same for some steps, whose results are kept or not."""

    def end_of(self, begin: int, size: int) -> int:
        """Where steps to be computed again may end, `begin + size` at least."""


class LinearPass(Pass, Protocol):
    """One of a cell that is linear in its state."""

    def product(self, begin: int, size: int) -> PartProduct:
        """The map of states over some steps."""


class Reach:
    """How far into a part the states that enter it are felt; the first steps are asked about at once.

    Attributes:
        product: The map of states over the steps that were looked at.
        end: The number of these steps.
    """

    def __init__(self, work: LinearPass) -> None:
        self._work = work
        self.end = min(GROWTH * work.chunks.first, work.steps)
        self.product = work.product(0, self.end)
        self._answer = PendingFlag(self.product.forgets())
        self._is_over: bool | None = None

    def forgets(self) -> bool:
        """Whether nothing is left behind `end`, which is the last step if something always is."""
        if self._is_over is None:
            size, steps = self.end, self._work.steps
            self._is_over = self._answer.read()
            while self.end < steps and not self._is_over:
                size = min(GROWTH * size, self._work.chunks.most, steps - self.end)
                self.product = self._work.product(self.end, size).behind(self.product)
                self.end += size
                self._is_over = PendingFlag(self.product.forgets()).read()
        return self._is_over


def gathered(group: Group, mine: torch.Tensor) -> list[torch.Tensor]:
    """Every rank's tensor, in the order of ranks."""
    every = [torch.empty_like(mine) for _ in range(distributed.get_world_size(group))]
    distributed.all_gather(every, mine.contiguous(), group=group)
    return every


def gathered_products(
    group: Group, mine: PartProduct, leaving: torch.Tensor
) -> tuple[list[PartProduct], list[torch.Tensor]]:
    """Every rank's product and what leaves its part, by one exchange."""
    matrix = mine.matrix.flatten(1)
    every = gathered(group, torch.cat([matrix, leaving, mine.dropped[:, None].to(matrix.dtype)], 1))
    products, leavings = [], []
    for one in every:
        flat, left, dropped = one.split([matrix.shape[1], leaving.shape[1], 1], 1)
        products.append(PartProduct(flat.reshape(mine.matrix.shape), dropped[:, 0] != 0))
        leavings.append(left)
    return products, leavings


def entering_of(products: Sequence[PartProduct], leavings: Sequence[torch.Tensor]) -> torch.Tensor:
    """The states that leave the last of some parts, in the order of computation.

    Args:
        products: Those of the parts.
        leavings: What leaves each if nothing enters it but its own.
    """
    states = leavings[0]
    for product, leaving in zip(products[1:], leavings[1:], strict=True):
        states = leaving + product.of(states)
    return states


def corrected(
    work: LinearPass, reach: Reach, entering: torch.Tensor, extra: torch.Tensor, leaving: torch.Tensor
) -> torch.Tensor:
    """The states that leave, after the steps are computed again in which what enters is felt.

    The first steps are queued before the host waits for any answer: they suffice nearly always.

    Args:
        work: The pass.
        reach: How far what enters is felt.
        entering: What enters.
        extra: By how much that is more than what the part was computed from.
        leaving: What left then.
    """
    usual = PendingFlag((extra.abs() <= USUAL).all())
    begin = work.end_of(0, reach.end)
    states = work.again(0, begin, entering, keeps=True)
    if reach.forgets() and usual.read():
        while begin < reach.end:
            end = work.end_of(begin, min(work.chunks.most, reach.end - begin))
            states, begin = work.again(begin, end - begin, states, keeps=True), end
        return leaving
    return _corrected_by_values(work, reach.product, entering, extra, leaving)


def _corrected_by_values(
    work: LinearPass, product: PartProduct, entering: torch.Tensor, extra: torch.Tensor, leaving: torch.Tensor
) -> torch.Tensor:
    """The same for products that are never small, or states of any size: until a state is what it was."""
    whole, (first, most) = product.of(extra), work.chunks
    felt_to_the_end = not _is_rounding(whole, leaving + whole)
    begin, size = 0, most if felt_to_the_end else first
    while begin < work.steps:
        end = work.end_of(begin, size)
        entering = work.again(begin, end - begin, entering, keeps=True)
        if not felt_to_the_end:
            extra = work.product(begin, end - begin).of(extra)
            if _is_rounding(extra, entering):
                return leaving
            size = min(2 * size, most)
        begin = end
    return entering


def _is_rounding(part: torch.Tensor, whole: torch.Tensor) -> bool:
    """Whether this part of each number is less than its rounding."""
    small = (part.abs() <= (ROUNDING * whole.abs()).clamp_min(FORGOTTEN)) & part.isfinite()
    return bool(small.all())


def settled_once(
    work: LinearPass, initial: torch.Tensor | None, position: int, order: Sequence[int], group: Group
) -> tuple[torch.Tensor, torch.Tensor, list[PartProduct]]:
    """The states that enter and leave this part of a linear cell, and the products of all parts.

    Args:
        work: The forward pass.
        initial: What enters the first part in the order of computation.
        position: This rank's place in that order.
        order: The ranks in that order.
        group: The process group.
    """
    reach = Reach(work)  # ahead of the long pass, which the host then does not wait for
    leaving = work.whole(initial if position == 0 else None)
    reach.forgets()
    products, leavings = gathered_products(group, reach.product, leaving)
    if position == 0:
        return torch.zeros_like(leaving) if initial is None else initial, leaving, products
    ahead = order[:position]
    entering = entering_of([products[rank] for rank in ahead], [leavings[rank] for rank in ahead])
    return entering, corrected(work, reach, entering, entering, leaving), products


def settled_back(
    work: LinearPass,
    own: torch.Tensor,
    position: int,
    order: Sequence[int],
    products: Sequence[PartProduct],
    group: Group,
) -> torch.Tensor:
    """The gradient by the states that enter this part of a linear cell.

    Args:
        work: The backward pass.
        own: The gradient by the states after this part, but for what comes from the ranks that follow.
        position: This rank's place, from the last part on.
        order: The ranks, likewise.
        products: Those of the forward pass of all ranks.
        group: The process group.
    """
    leaving = work.whole(own)
    if position == 0:
        gathered(group, leaving)
        return leaving
    reach = Reach(work)  # while the host has time
    leavings = gathered(group, leaving)
    back, ahead = [one.transposed() for one in products], order[:position]
    extra = entering_of([back[rank] for rank in ahead], [leavings[rank] for rank in ahead])
    return corrected(work, reach, own + extra, extra, leaving)


def settled(
    work: Pass, base: torch.Tensor | None, place: tuple[int, int], group: Group, *, adds: bool
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """The states that enter and leave this part, once all ranks agree, and the rounds that took.

    Args:
        work: The pass.
        base: What enters the first part in the order of computation, None for zeros; with `adds`, each rank's
            own addend.
        place: This rank's place in that order, and the rank ahead of it.
        group: The process group.
        adds: Whether what enters is the sum of `base` and what leaves the part ahead.
    """
    position, ahead = place
    count = distributed.get_world_size(group)
    guess = base if adds or position == 0 else None
    leaving = work.whole(guess)
    entering = torch.zeros_like(leaving) if guess is None else guess
    for rounds in range(count):  # the part at a place is right after as many rounds
        every = gathered(group, leaving)
        wanted = entering
        if position:
            wanted = base + every[ahead] if adds and base is not None else every[ahead]
        changed = position > 0 and not torch.equal(wanted, entering)
        flag = torch.tensor(int(changed), dtype=torch.int32, device=leaving.device)
        distributed.all_reduce(flag, op=distributed.ReduceOp.MAX, group=group)
        if not int(flag):
            return entering, leaving, rounds
        if changed:
            leaving, entering = _repaired(work, entering, wanted, leaving), wanted
    return entering, leaving, count


def _repaired(work: Pass, old: torch.Tensor, new: torch.Tensor, leaving: torch.Tensor) -> torch.Tensor:
    """The states that leave, with others entering."""
    begin, size = 0, work.chunks.first
    while begin < work.steps:
        end = work.end_of(begin, size)
        old = work.again(begin, end - begin, old, keeps=False)
        new = work.again(begin, end - begin, new, keeps=True)
        if torch.equal(old, new):
            return leaving
        begin, size = end, 2 * size
    return new
