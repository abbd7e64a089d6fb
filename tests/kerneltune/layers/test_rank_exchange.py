"""Parts of time of linear cells, put together without processes: one exchange, then a light second pass."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("numba")

from kerneltune import Cell  # noqa: E402
from kerneltune.inputs.equation_cell import named  # noqa: E402
from kerneltune.inputs.scan_descriptions import discover_scans  # noqa: E402
from kerneltune.running.scan_arrays import state_width, widths_of  # noqa: E402
from kerneltune.torch import rank_parts, rank_rounds  # noqa: E402
from kerneltune.torch.rank_parts import BackwardPart, ForwardPart, RankCall  # noqa: E402
from kerneltune.torch.scan import _DIRECT, scan  # noqa: E402
from kerneltune.torch.scan_options import Options  # noqa: E402

STEPS, CUT = 700, 300


class Watched:
    """A pass that says how many steps were computed again, 16 at first and 64 at most."""

    def __init__(self, work: Any) -> None:
        work.chunks = rank_rounds.Chunks(16, 64)
        self._work, self.repeated = work, 0

    def again(self, begin: int, size: int, entering: Any, *, keeps: bool) -> Any:
        self.repeated += size
        return self._work.again(begin, size, entering, keeps=keeps)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)


def second_part(a: Any, b: Any, initial: Any = None, resets: Any = None) -> tuple[Watched, Any, Any]:
    """The forward pass of the second of two parts, what enters, and what leaves after its correction."""
    call = RankCall(_DIRECT, "linear", (False, "", False), None, [])
    parts = []
    for at in (slice(0, CUT), slice(CUT, None)):
        marks = None if resets is None else resets[:, at].to(torch.uint8).contiguous()
        parts.append(ForwardPart(call, [a[:, at], b[:, at]], Options(resets=marks)))
    entering = parts[0].whole(initial)
    work = Watched(parts[1])
    reach, leaving = rank_rounds.Reach(work), work.whole(None)
    return work, entering, rank_rounds.corrected(work, reach, entering, entering, leaving)


@pytest.mark.parametrize(("least", "repeated"), [(0.0, 128), (0.9, 528), (0.9999, 528)])
def test_as_many_steps_are_repeated_as_are_felt(least: float, repeated: int) -> None:
    torch.manual_seed(1)
    a = least + (1.0 - least) * torch.rand(2, STEPS, 3)
    b = torch.randn(2, STEPS, 3)
    work, _, leaving = second_part(a, b)
    hidden, last = scan("linear", a, b)
    torch.testing.assert_close(work.results[0], hidden[:, CUT:], rtol=2e-6, atol=2e-6)
    torch.testing.assert_close(leaving, last, rtol=2e-6, atol=2e-6)
    assert 0 < work.repeated <= repeated


@pytest.mark.parametrize(
    ("gates", "states", "equations", "nothing"),
    [
        ("a b", "h", "h' = W.a * h + W.b", 0.0),
        ("b a", "h", "h' = W.a * h + W.b", None),
        ("a b d", "h", "h' = W.a * h + W.b + W.d", None),
        ("x g", "h", "h' = exp(-W.g * W.g) * h + W.x", None),
        ("x g", "h", "h' = sigmoid(W.g) * h + (1 - sigmoid(W.g)) * W.x", None),
        ("a b(x y)", "h(p q)", "p' = W.a * p + W.x\nq' = W.a * q + W.y", 0.0),
        ("a(c d) b(x y)", "h(p q)", "p' = W.c * p - W.d * q + W.x\nq' = W.d * p + W.c * q + W.y + 1", None),
        ("a(c d) b(x y)", "h(p q)", "p' = W.c * p + W.y * q + W.x\nq' = W.d * q + W.y", None),
    ],
)
def test_a_cell_of_equations_adds_what_it_adds_once(
    gates: str, states: str, equations: str, nothing: float | None
) -> None:
    torch.manual_seed(5)
    cell = named(Cell("added_once", gates=gates, states=states, equations=equations))
    assert rank_parts._without_addend(cell) == nothing
    about = discover_scans().cell(cell)
    inputs = [torch.rand(2, STEPS, 3 * width) for width in widths_of(about)]
    call = RankCall(_DIRECT, cell, (False, "", False), None, [])
    ends = (slice(0, 5), slice(5, 12))
    first, second = (ForwardPart(call, [one[:, at] for one in inputs], Options()) for at in ends)
    entering = first.whole(None)
    product = second.product(0, 7)
    pairs = entering.unflatten(1, (-1, state_width(about))).unsqueeze(-1)
    leaving = second.whole(None) + (product.matrix @ pairs).flatten(1)
    expected = scan(cell, *(one[:, :12] for one in inputs))[1]
    torch.testing.assert_close(leaving, expected, rtol=3e-6, atol=3e-6)


def test_a_reset_drops_what_is_no_number() -> None:
    """And without one it is passed on to the end, however small the product is."""
    a, b = torch.full((2, STEPS, 3), 0.5), torch.ones(2, STEPS, 3)
    resets = torch.zeros(2, STEPS, dtype=torch.bool)
    resets[0, CUT + 40] = True
    initial = torch.full((2, 3), torch.inf)
    work, _, leaving = second_part(a, b, initial, resets)
    hidden, last = scan("linear", a, b, initial=initial, resets=resets)
    torch.testing.assert_close(work.results[0], hidden[:, CUT:], equal_nan=True)
    torch.testing.assert_close(leaving, last, equal_nan=True)
    assert last[0].isfinite().all()
    assert not last[1].isfinite().any()


@pytest.mark.parametrize("size", [1e10, 1e37])
def test_states_of_any_size_are_felt_as_long_as_they_are(size: float) -> None:
    torch.manual_seed(3)
    a, b = torch.full((2, STEPS, 3), 0.6), 1e-3 * torch.randn(2, STEPS, 3)
    b[:, CUT - 1] = size
    work, _, leaving = second_part(a, b)
    hidden, last = scan("linear", a, b)
    torch.testing.assert_close(work.results[0], hidden[:, CUT:], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(leaving, last, rtol=1e-5, atol=1e-6)


def test_zeros_are_taken_to_zeros_by_a_product_that_overflows() -> None:
    a, b = torch.full((1, STEPS, 3), 2.0), torch.zeros(1, STEPS, 3)
    b[:, -1] = 1.0
    work, entering, leaving = second_part(a, b)
    assert not entering.any()
    assert leaving.eq(1.0).all()
    assert not work.results[0][:, :-1].any()


@pytest.mark.parametrize("least", [0.0, 0.999])
def test_gradients_are_those_of_the_whole(least: float) -> None:
    torch.manual_seed(2)
    a = (least + (1.0 - least) * torch.rand(2, STEPS, 3)).requires_grad_()
    b = torch.randn(2, STEPS, 3, requires_grad=True)
    by = torch.randn(2, STEPS, 3)
    hidden, _ = scan("linear", a, b)
    by_a, by_b = torch.autograd.grad(hidden, (a, b), by)
    call = RankCall(_DIRECT, "linear", (False, "", False), None, [])
    a, b, hidden = a.detach(), b.detach(), hidden.detach()
    first, second = slice(0, CUT), slice(CUT, None)
    whole: list[Any] = []
    for at, entering in ((second, None), (first, None)):
        options = Options(initial=hidden[:, CUT - 1] if at is second else torch.zeros(2, 3))
        kept = hidden[:, at].contiguous(), hidden[:, at].contiguous()
        work = Watched(BackwardPart(call, [a[:, at], b[:, at]], options, kept, by[:, at].contiguous()))
        zeros = torch.zeros(2, 3)
        entering = work.whole(zeros)
        if whole:
            reach = rank_rounds.Reach(work)
            entering = rank_rounds.corrected(work, reach, whole[-1][1], whole[-1][1], entering)
        whole.append((work, entering))
    for at, (work, _) in zip((second, first), whole, strict=True):
        torch.testing.assert_close(work.by_inputs[0], by_a[:, at], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(work.by_inputs[1], by_b[:, at], rtol=1e-5, atol=1e-5)
