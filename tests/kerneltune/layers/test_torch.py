"""On a machine with a GPU and torch: this package's layers against torch's own, values and gradients."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.gpu

# Relative to the largest of each array: two kernels that round to bf16 (fp16) after every step.
TOLERANCE = {"bfloat16": 0.03, "float16": 0.006}


def relative(found: Any, expected: Any) -> float:
    found, expected = found.float(), expected.float()
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize(("dim", "steps", "batch"), [(64, 50, 16), (256, 20, 5), (768, 12, 16)])
def test_a_layer_is_torchs_own(kind: str, dtype: str, dim: int, steps: int, batch: int) -> None:
    import torch

    from kerneltune.torch import HeadwiseRNN

    torch.manual_seed(dim + steps)
    reference = getattr(torch.nn, kind)(96, dim).cuda()  # float32: what both would be without rounding
    layer = HeadwiseRNN.from_torch(reference.to(getattr(torch, dtype)))
    reference = reference.float()
    x = torch.randn(steps, batch, 96, device="cuda")
    mine = x.to(getattr(torch, dtype)).requires_grad_()
    theirs = mine.detach().float().requires_grad_()
    found, last = layer(mine)
    expected, end = reference(theirs)
    limit = TOLERANCE[dtype]
    assert relative(found, expected) < limit
    assert relative(last[0, :, 0], end[0][0] if kind == "LSTM" else end[0]) < limit
    weights = torch.randn_like(expected)
    (found.float() * weights).sum().backward()
    (expected * weights).sum().backward()
    assert relative(mine.grad, theirs.grad) < 3 * limit
    gates = len(layer.spec.gates)
    by_r = reference.weight_hh_l0.grad.view(1, gates, dim, dim)
    assert relative(layer.recurrent.grad, by_r) < 3 * limit
    by_bias = reference.bias_hh_l0.grad.view(1, gates, dim)
    assert relative(layer.bias.grad, by_bias) < 3 * limit


def test_inference_saves_nothing_and_agrees_with_training() -> None:
    import torch

    from kerneltune.torch import HeadwiseRNN

    layer = HeadwiseRNN("lstm", 32, 4, 32).cuda().to(torch.bfloat16)
    x = torch.randn(9, 3, 32, device="cuda", dtype=torch.bfloat16)
    trained, _ = layer(x)
    with torch.no_grad():
        inferred, _ = layer(x)
    assert trained.requires_grad
    assert not inferred.requires_grad
    assert torch.equal(trained, inferred)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_float32_is_as_accurate_as_float32(kind: str) -> None:
    import torch

    from kerneltune.torch import HeadwiseRNN

    torch.manual_seed(3)
    torch.backends.cuda.matmul.allow_tf32 = False
    exact = getattr(torch.nn, kind)(32, 128).cuda()
    layer = HeadwiseRNN.from_torch(exact)
    exact = exact.double()
    mine = torch.randn(30, 16, 32, device="cuda").requires_grad_()
    theirs = mine.detach().double().requires_grad_()
    found, expected = layer(mine)[0], exact(theirs)[0]
    assert relative(found, expected) < 1e-5
    weights = torch.randn_like(mine[:, :, :1])
    (found * weights).sum().backward()
    (expected * weights.double()).sum().backward()
    assert relative(mine.grad, theirs.grad) < 3e-5
    by_r = exact.weight_hh_l0.grad.view(layer.recurrent.shape)
    assert relative(layer.recurrent.grad, by_r) < 3e-5
    with torch.no_grad():
        assert torch.equal(layer(mine)[0], found)


def test_shapes_that_do_not_fit_are_named() -> None:
    import torch

    from kerneltune.errors import InputError
    from kerneltune.torch import HeadwiseRNN, recurrence

    layer = HeadwiseRNN("gru", 32, 2, 16).cuda().to(torch.bfloat16)
    with pytest.raises(InputError, match=r"x is \[T, B, 32\]"):
        layer(torch.zeros(5, 3, 31, device="cuda", dtype=torch.bfloat16))
    product = torch.zeros(5, 3, 2, 16, 4, device="cuda", dtype=torch.bfloat16)
    with pytest.raises(InputError, match=r"\[T, B, H, D, 3\]"):
        recurrence("gru", product, layer.recurrent, layer.bias, layer.initial(3))


class Recording:
    """Launches nothing; remembers what was asked."""

    def __init__(self) -> None:
        self.launches: list[tuple[str, dict[str, Any]]] = []
        self.problems: list[Any] = []

    def launch(self, problem: Any, tensors: Any) -> None:
        self.launches.append((problem.direction, dict(tensors)))
        self.problems.append(problem)


def test_float32_trains() -> None:
    import torch

    from kerneltune.torch import HeadwiseRNN

    recording = Recording()
    layer = HeadwiseRNN("gru", 16, 2, 8, runs_on=recording)
    layer(torch.zeros(3, 2, 16))[0].sum().backward()
    assert [direction for direction, _ in recording.launches] == ["training", "backward"]
    assert {t.dtype for _, tensors in recording.launches for t in tensors.values()} == {torch.float32}


def test_options_reach_the_kernels() -> None:
    import torch

    from kerneltune.errors import InputError
    from kerneltune.torch import HeadwiseRNN

    recording = Recording()
    options = {"forward_clip": 0.5, "gate_gradient_clip": 0.1, "cut_recurrent_gradient": True}
    layer = HeadwiseRNN("lstm", 16, 2, 8, options=options, runs_on=recording)
    layer(torch.zeros(3, 2, 16))[0].sum().backward()
    training, backward = recording.problems
    assert (training.direction, training.forward_clip, training.gate_gradient_clip) == ("training", 0.5, 0.0)
    assert backward.direction == "backward"
    assert {name: getattr(backward, name) for name in options} == options
    with pytest.raises(InputError, match="unknown option 'forward_clp': did you mean 'forward_clip'"):
        HeadwiseRNN("lstm", 16, 2, 8, options={"forward_clp": 1.0})


def test_training_kernels_run_where_gradients_are_wanted_only() -> None:
    import torch

    from kerneltune.torch import HeadwiseRNN

    recording = Recording()
    layer = HeadwiseRNN("lstm", 16, 2, 8, runs_on=recording).to(torch.bfloat16)
    x = torch.zeros(3, 2, 16, dtype=torch.bfloat16)
    layer(x)
    with torch.no_grad():
        layer(x)
    with torch.inference_mode():
        layer(x)
    layer.requires_grad_(False)
    layer(x)
    assert [direction for direction, _ in recording.launches] == ["training", "forward", "forward", "forward"]
    assert "saved_values" not in recording.launches[1][1]


def test_kernels_get_aligned_contiguous_tensors() -> None:
    import torch

    from kerneltune.torch import recurrence

    recording = Recording()
    product = torch.zeros(3 * 2 * 2 * 8 * 4 + 1, dtype=torch.bfloat16)[1:].view(3, 2, 2, 8, 4)
    recurrent = torch.zeros(2, 4, 8, 8, dtype=torch.bfloat16).transpose(2, 3).requires_grad_()
    bias, start = torch.zeros(2, 4, 8, dtype=torch.bfloat16), torch.zeros(2, 2, 2, 8, dtype=torch.bfloat16)
    output, _ = recurrence("lstm", product, recurrent, bias, start, runs_on=recording)
    output.sum().backward()
    assert [direction for direction, _ in recording.launches] == ["training", "backward"]
    for _, tensors in recording.launches:
        assert all(tensor.is_contiguous() and tensor.data_ptr() % 16 == 0 for tensor in tensors.values())


def test_what_cannot_run_is_said() -> None:
    import torch

    from kerneltune.errors import InputError
    from kerneltune.torch import HeadwiseRNN, recurrence

    layer = HeadwiseRNN("lstm", 16, 2, 8, runs_on=Recording()).to(torch.bfloat16)
    with pytest.raises(InputError, match="at least one step"):
        layer(torch.zeros(0, 2, 16, dtype=torch.bfloat16))
    product = torch.zeros(3, 2, 2, 8, 4, dtype=torch.bfloat16, requires_grad=True)
    rest = layer.recurrent, layer.bias, layer.initial(2)
    output, _ = recurrence("lstm", 2 * product, *rest, runs_on=Recording())
    with pytest.raises(InputError, match="create_graph"):
        torch.autograd.grad(output.sum(), product, create_graph=True)
    with pytest.raises(InputError, match="heads of this HeadwiseRNN is 2 and cannot become 1"):
        layer.heads = 1
