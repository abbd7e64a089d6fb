"""Scans and diagonal cells in uses that tutorials do not have, on the CPU and on a GPU."""

from __future__ import annotations

from typing import Any

import pytest

from kerneltune.errors import InputError

torch: Any = pytest.importorskip("torch")
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
pytestmark = pytest.mark.parametrize("device", DEVICES)
LINEAR = {"linear": 2, "mingru": 2, "minlstm": 3, "complex": 2, "matrix2": 2}
DIAGONAL = {"diag_gru": 3, "diag_lstm": 3, "diag_slstm": 4}
CELLS = [*LINEAR, *DIAGONAL]
HOSTILE = (float("nan"), float("inf"), 1e30)


def runner(cell: str, device: str, channels: int = 6) -> tuple[Any, list[int], Any, int]:
    """What runs a cell, the widths of its inputs, its weights, and how wide a state is."""
    import kerneltune.torch as ours
    from kerneltune.inputs.scan_descriptions import discover_scans
    from kerneltune.running.scan_arrays import state_width, widths_of
    from kerneltune.torch.scan import scan

    known = discover_scans().cell(cell)
    if cell in DIAGONAL:
        weights = torch.rand(known.constants()["weights"], channels, device=device) - 0.5
        run = lambda *parts, weights=weights, **rest: ours.diagonal(cell, *parts, weights=weights, **rest)  # noqa: E731
        return run, [channels] * len(known.spec.gates), weights, channels
    widths = [channels * width for width in widths_of(known)]
    return (
        (lambda *parts, **rest: scan(cell, *parts, **rest)),
        widths,
        None,
        channels * state_width(known),
    )


def drawn(widths: list[int], device: str, batch: int = 3, steps: int = 9) -> list[Any]:
    torch.manual_seed(1)
    return [0.5 * torch.randn(batch, steps, width, device=device) for width in widths]


def close(found: Any, expected: Any, tolerance: float = 2e-4) -> None:
    assert found.shape == expected.shape
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_what_lies_behind_a_rows_end_reaches_nothing(cell: str, reverse: bool, device: str) -> None:
    run, widths, weights, _ = runner(cell, device)
    for steps in (9, 70):
        ends = torch.tensor([steps, 0, steps // 2], device=device)
        inside = (torch.arange(steps, device=device) < ends[:, None])[..., None]
        clean = drawn(widths, device, steps=steps)
        results = []
        for value in (0.0, *HOSTILE):
            parts = [
                torch.where(inside, one, torch.full((), value, device=device)).requires_grad_()
                for one in clean
            ]
            rest = {} if weights is None else {"weights": weights.clone().requires_grad_()}
            hidden, last = run(*parts, lengths=ends, reverse=reverse, **rest)
            by = torch.autograd.grad(hidden.pow(2).sum() + last.sum(), [*parts, *rest.values()])
            for one in by[: len(parts)]:
                assert bool((one == 0).masked_select(~inside).all()), value
            results.append([hidden, last, *by])
        for other in results[1:]:
            for one, expected in zip(other, results[0], strict=True):
                torch.testing.assert_close(one, expected)


@pytest.mark.parametrize("cell", CELLS)
def test_a_reset_stops_what_is_no_number(cell: str, device: str) -> None:
    run, widths, _, state = runner(cell, device)
    parts = drawn(widths, device, steps=40)
    resets = torch.zeros(3, 40, dtype=torch.bool, device=device)
    resets[:, 20] = True
    for one in parts:
        one[1, 3] = float("nan")
    hidden, last = run(*parts, resets=resets)
    assert bool(torch.isfinite(hidden[:, 20:]).all())
    assert bool(torch.isfinite(last).all())
    shape = (len(last), 3, state) if last.dim() == 3 else (3, state)
    start = torch.full(shape, float("nan"), device=device)
    resets[:, 0] = True
    hidden, _ = run(*drawn(widths, device, steps=40), resets=resets, initial=start)
    assert bool(torch.isfinite(hidden).all())


@pytest.mark.parametrize("cell", CELLS)
def test_empty_rows_sequences_and_batches(cell: str, device: str) -> None:
    run, widths, weights, state = runner(cell, device)
    parts = drawn(widths, device)
    lead = () if cell in LINEAR else (len(run(*parts)[1]),)
    start = torch.rand(*lead, 3, state, device=device)
    hidden, last = run(*parts, lengths=torch.tensor([9, 0, 4], device=device), initial=start)
    assert bool((hidden[1] == 0).all())
    close(last[..., 1, :], start[..., 1, :])
    if cell in LINEAR:
        row = [one[:1] for one in parts]
        bounds = torch.tensor([0, 0, 5, 5, 9, 9], device=device)
        start = torch.rand(5, state, device=device)
        hidden, last = run(*row, cu_seqlens=bounds, initial=start)
        for n in (0, 2, 4):
            close(last[n], start[n])
        alone, end = run(*[one[:, :5] for one in row], initial=start[1:2])
        close(hidden[:, :5], alone)
        close(last[1:2], end)
    none = [one[:0].clone().requires_grad_() for one in parts]
    rest = {} if weights is None else {"weights": weights.clone().requires_grad_()}
    hidden, last = run(*none, **rest)
    assert hidden.shape == (0, 9, state)
    assert last.shape == (*lead, 0, state)
    for one in torch.autograd.grad(hidden.sum() + last.sum(), [*none, *rest.values()]):
        assert bool((one == 0).all())


@pytest.mark.parametrize("cell", CELLS)
def test_compiled_whole(cell: str, device: str) -> None:
    run, widths, _, _ = runner(cell, device)
    torch._dynamo.reset()
    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    parts = [one.requires_grad_() for one in drawn(widths, device)]
    ends = torch.tensor([9, 2, 5], device=device)
    for rest in ({}, {"lengths": ends}, {"reverse": True}):
        found, expected = compiled(*parts, **rest), run(*parts, **rest)
        for one, other in zip(found, expected, strict=True):
            close(one, other)
        mine = torch.autograd.grad(found[0].pow(2).sum(), parts)
        for one, other in zip(mine, torch.autograd.grad(expected[0].pow(2).sum(), parts), strict=True):
            close(one, other)
    with pytest.raises(Exception, match=r"here, not|but"):
        compiled(*parts, lengths=torch.ones(7, dtype=torch.int32, device=device))


@pytest.mark.parametrize("name", ["MinGRU", "MinLSTM", "LinearRecurrence", "DiagonalGRU", "DiagonalSLSTM"])
def test_modules_compile_whole_and_export(name: str, device: str) -> None:
    import kerneltune.torch as ours

    layer = getattr(ours, name)(5, 8).to(device)
    x = torch.randn(2, 7, 5, device=device)
    torch._dynamo.reset()
    compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend="aot_eager")
    close(compiled(x)[0], layer(x)[0])
    program = torch.export.export(layer, (x,))
    close(program.module()(x)[0], layer(x)[0])


@pytest.mark.parametrize("cell", CELLS)
def test_transforms_of_torch_func(cell: str, device: str) -> None:
    from torch.func import grad, jacfwd, jacrev, vmap

    run, widths, weights, _ = runner(cell, device)
    many = [torch.stack([one, 2 * one, -one]) for one in drawn(widths, device)]
    found = vmap(lambda *parts: run(*parts))(*many)
    for i in range(3):
        for one, other in zip(found, run(*[one[i] for one in many]), strict=True):
            close(one[i], other)
    lengths = torch.tensor([[9, 1, 0], [3, 3, 3], [9, 9, 9]], device=device)
    hidden, _ = vmap(lambda ends, *parts: run(*parts, lengths=ends))(lengths, *many)
    close(hidden[0], run(*[one[0] for one in many], lengths=lengths[0])[0])

    def loss(first: Any, weights: Any, *rest: Any) -> Any:
        options = {} if weights is None else {"weights": weights}
        return run(first, *rest, **options)[0].pow(2).sum()

    def expected(i: int) -> Any:
        leaf = many[0][i].clone().requires_grad_()
        mine = None if weights is None else weights.clone().requires_grad_()
        total = loss(leaf, mine, *[one[i] for one in many[1:]])
        return torch.autograd.grad(total, [leaf] if mine is None else [leaf, mine])

    close(grad(loss)(many[0][0], weights, *[one[0] for one in many[1:]]), expected(0)[0])
    at = (0,) if weights is None else (0, 1)
    dims = (0, None, *[0] * (len(many) - 1))
    by = vmap(grad(loss, at), dims)(many[0], weights, *many[1:])
    for i in range(3):
        for one, other in zip(by, expected(i), strict=True):
            close(one[i], other, 1e-3)
    short = [one[0, :1, :2, :].contiguous() for one in many]
    first = lambda x: run(x, *short[1:])[0]  # noqa: E731
    close(jacfwd(first)(short[0]), jacrev(first)(short[0]), 1e-3)


@pytest.mark.parametrize("cell", CELLS)
def test_gradients_of_gradients(cell: str, device: str) -> None:
    run, widths, _, _ = runner(cell, device, channels=2)
    # No number near 0, where the slope of the minimal cells' candidate jumps.
    away = [one + 0.1 * torch.sign(one) for one in drawn(widths, device, batch=2, steps=3)]
    parts = [one.requires_grad_() for one in away]
    hidden, last = run(*parts)
    plain = torch.autograd.grad(hidden.pow(2).sum() + last.sum(), parts, retain_graph=True)
    slopes = torch.autograd.grad(hidden.pow(2).sum() + last.sum(), parts, create_graph=True)
    for one, other in zip(slopes, plain, strict=True):
        close(one, other)
    found = torch.autograd.grad(sum(one.pow(2).sum() for one in slopes), parts)
    step = 1e-2

    def penalty(moved: list[Any]) -> float:
        leaves = [one.detach().requires_grad_() for one in moved]
        hidden, last = run(*leaves)
        by = torch.autograd.grad(hidden.pow(2).sum() + last.sum(), leaves)
        return float(sum(one.double().pow(2).sum() for one in by))

    for k, one in enumerate(parts):
        way = torch.sign(torch.randn_like(one))
        up = penalty([*parts[:k], one + step * way, *parts[k + 1 :]])
        down = penalty([*parts[:k], one - step * way, *parts[k + 1 :]])
        assert float((found[k] * way).sum()) == pytest.approx((up - down) / (2 * step), rel=0.05, abs=0.02)


@pytest.mark.parametrize("cell", CELLS)
def test_wrong_devices_and_types_are_refused(cell: str, device: str) -> None:
    run, widths, weights, state = runner(cell, device)
    parts, other = drawn(widths, device), "meta" if device == "cpu" else "cpu"
    for wrong in (parts[-1].to(other), parts[-1].bfloat16(), parts[-1][:, :-1]):
        with pytest.raises(InputError, match="but"):
            run(*parts[:-1], wrong)
    with pytest.raises(InputError, match="lengths is"):
        run(*parts, lengths=torch.ones(3, dtype=torch.int32, device=other))
    with pytest.raises(InputError, match="initial is"):
        run(*parts, initial=torch.zeros(3, state, device=other))
    if weights is not None:
        with pytest.raises(InputError, match="weights is"):
            run(*parts, weights=weights.to(other))
    with pytest.raises(InputError, match="at least 1"):
        run(*[one[:, :0] for one in parts])
