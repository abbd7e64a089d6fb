"""The recurrence in JAX: by lax.scan against the float64 references, and through XLA's call of a target."""

# mypy: disable-error-code="union-attr"
from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover

jax = pytest.importorskip("jax")
jnp = jax.numpy
CELLS = ("lstm", "gru", "slstm", "elman", "elman_relu")
STEPS, BATCH, HEADS, DIM = 7, 3, 2, 8
MAPPED = ((0, None, None, 0), (0, 0, 0, 0), (None, 0, None, None), (0, None, 0, None))


@pytest.fixture(autouse=True)
def double() -> Any:
    with jax.enable_x64(True):
        yield


def drawn(cell: str, seed: int = 0) -> list[Any]:
    random = np.random.default_rng(seed)
    spec = discover().cell(cell).spec
    gates = len(spec.gates)
    shapes = [(STEPS, BATCH, HEADS, DIM, gates), (HEADS, gates, DIM, DIM), (HEADS, gates, DIM)]
    found = [random.normal(size=shape) / 2 for shape in (*shapes, (len(spec.states), BATCH, HEADS, DIM))]
    for i, name in enumerate(spec.states):
        if name in spec.positive:
            found[-1][i] = np.abs(found[-1][i]) + 0.5
    return found


@pytest.mark.parametrize("cell", CELLS)
def test_scanned_is_the_reference(cell: str) -> None:
    from kerneltune.jax import recurrence

    arrays = drawn(cell)
    about = discover().cell(cell)
    states = about.reference()(*arrays)
    output, last = recurrence(cell, *map(jnp.asarray, arrays))
    np.testing.assert_allclose(output, states[0, 1:], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(last, states[:, -1], rtol=1e-12, atol=1e-12)
    weights = [np.random.default_rng(5).normal(size=part.shape) for part in (output, last)]

    def loss(*parts: Any) -> Any:
        return sum((a * w).sum() for a, w in zip(recurrence(cell, *parts), weights, strict=True))

    found = jax.grad(loss, argnums=(0, 3))(*map(jnp.asarray, arrays))
    wanted = about.reference_module().backward(*arrays[:3], states, *weights)
    np.testing.assert_allclose(found[0], wanted.input, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found[1], wanted.initial, rtol=1e-9, atol=1e-11)


class ReferenceLaunches:
    """What the GPU would do, by the references, on the memory that XLA gives."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    def launch(self, text: str, places: dict[str, int], stream: int) -> None:
        from kerneltune.jax.target import KernelCall

        problem = KernelCall.of(text).problem
        self.requests.append(problem)
        about = discover().cell(problem.cell)
        spec = about.spec
        rows = (problem.batch, problem.heads, problem.head_dim)
        gates, count = len(spec.gates), len(spec.states)
        shapes = {
            "input": (problem.steps, *rows, gates),
            "recurrent": (problem.heads, gates, problem.head_dim, problem.head_dim),
            "bias": (problem.heads, gates, problem.head_dim),
            "initial": (count, *rows),
            "states": (count, problem.steps + 1, *rows),
            "saved_values": (problem.steps, *rows, spec.saved_values),
            "saved_states": (problem.steps + 1, *rows, spec.saved_states),
            "output_gradient": (problem.steps, *rows),
            "last_gradient": (count, *rows),
            "input_gradient": (problem.steps, *rows, gates),
            "recurrent_gradient": (problem.steps, *rows, gates),
            "initial_gradient": (count, *rows),
            "workspace": (16,),
        }
        arrays = {name: self.array(place, shapes[name]) for name, place in places.items()}
        wide = {name: array.astype(np.float64) for name, array in arrays.items()}
        module = about.reference_module()
        if problem.direction != "backward":
            states = module.forward(*(wide[name] for name in ("input", "recurrent", "bias", "initial")))
            arrays["states"][...] = states
            if problem.direction == "training":
                # The pre-activations are kept where the kernels keep gates: all that the reference needs.
                self.forward = [wide[name] for name in ("input", "recurrent", "bias")] + [states]
            arrays["workspace"][...] = 1
            return
        found = module.backward(*self.forward, wide["output_gradient"], wide["last_gradient"])
        arrays["input_gradient"][...] = found.input
        arrays["initial_gradient"][...] = found.initial
        if "recurrent_gradient" in arrays:
            arrays["recurrent_gradient"][...] = found.recurrent

    @staticmethod
    def array(place: int, shape: tuple[int, ...]) -> Any:
        count = int(np.prod(shape))
        raw = (ctypes.c_float * count).from_address(place) if count else ()
        return np.ctypeslib.as_array(raw).reshape(shape) if count else np.zeros(shape, np.float32)


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> ReferenceLaunches:
    from kerneltune.jax import target

    found = ReferenceLaunches()
    target.register("cpu")
    ready = SimpleNamespace(candidate=SimpleNamespace(workspace=64))
    supply = SimpleNamespace(get=lambda problem: ready, begin=lambda problem: None)
    monkeypatch.setattr(target, "register", lambda: None)
    monkeypatch.setattr(target, "supply", lambda **_: supply)
    monkeypatch.setattr(target, "stream_of", lambda frame: 0)
    monkeypatch.setattr(target, "launches", lambda: found)
    return found


@pytest.mark.parametrize("cell", CELLS)
def test_a_call_through_xla_has_the_scans_values_and_gradients(
    cell: str, launches: ReferenceLaunches
) -> None:
    from kerneltune.jax import recurrence

    arrays = [jnp.asarray(array, jnp.float32) for array in drawn(cell)]

    def loss(by_kernels: bool, *parts: Any) -> Any:
        output, last = recurrence(cell, *parts, kernels=by_kernels)
        return (output**2).sum() + (last * jnp.arange(DIM, dtype=jnp.float32)).sum()

    for compiled in (lambda f: f, jax.jit):
        mine = compiled(jax.value_and_grad(lambda *parts: loss(True, *parts), argnums=(0, 1, 2, 3)))(*arrays)
        other = jax.value_and_grad(lambda *parts: loss(False, *parts), argnums=(0, 1, 2, 3))(*arrays)
        for found, wanted in zip(jax.tree.leaves(mine), jax.tree.leaves(other), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)
    assert {one.direction for one in launches.requests} == {"training", "backward"}
    recurrence(cell, *arrays, kernels=True)
    assert launches.requests[-1].direction == "forward"


def test_a_failing_launch_is_an_error_of_jax(
    launches: ReferenceLaunches, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kerneltune.jax import recurrence

    def fails(*_: Any) -> None:
        raise InputError("the GPU is away")

    monkeypatch.setattr(launches, "launch", fails)
    arrays = [jnp.asarray(array, jnp.float32) for array in drawn("gru")]
    with pytest.raises(Exception, match="kerneltune: the GPU is away"):
        jax.block_until_ready(recurrence("gru", *arrays, kernels=True))


def test_arrays_that_do_not_fit_are_named() -> None:
    from kerneltune.jax import recurrence

    arrays = [jnp.asarray(array) for array in drawn("gru")]
    with pytest.raises(InputError, match=r"bias of gru is \(2, 3, 8\)"):
        recurrence("gru", *arrays[:2], arrays[2][:1], arrays[3])  # type: ignore[call-arg]
    with pytest.raises(InputError, match=r"\[T, B, H, D, 4\]"):
        recurrence("lstm", *arrays)
    with pytest.raises(InputError, match="kernels do not support float64"):
        recurrence("gru", *arrays, kernels=True)


@pytest.mark.parametrize("name", ["LSTM", "GRU", "sLSTM"])
def test_a_layer_learns(name: str) -> None:
    pytest.importorskip("flax")
    import kerneltune.jax

    layer = getattr(kerneltune.jax, name)(features=16, heads=2)
    x = jax.random.normal(jax.random.key(0), (10, 4, 5), jnp.float32)
    parameters = layer.init(jax.random.key(1), x)
    last, output = layer.apply(parameters, x)
    assert output.shape == (10, 4, 16)
    np.testing.assert_array_equal(last[0].reshape(4, 16), output[-1])
    first, part = layer.apply(parameters, x[:6])
    _, rest = layer.apply(parameters, x[6:], first)
    np.testing.assert_allclose(jnp.concatenate([part, rest]), output, rtol=1e-5, atol=1e-6)

    @jax.jit  # type: ignore[untyped-decorator]
    def descended(parameters: Any) -> tuple[Any, Any]:
        def loss(parameters: Any) -> Any:
            return ((layer.apply(parameters, x)[1] - 0.3) ** 2).mean()

        value, slope = jax.value_and_grad(loss)(parameters)
        return value, jax.tree.map(lambda p, g: p - 3.0 * g, parameters, slope)

    losses = []
    for _ in range(30):
        value, parameters = descended(parameters)
        losses.append(float(value))
    assert losses[-1] < losses[0] / 3


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("cell", ["lstm", "gru", "slstm", "elman"])
def test_on_a_gpu_kernels_agree_with_the_scan(cell: str, dtype: str) -> None:
    from kerneltune.jax import recurrence

    arrays = [jnp.asarray(array, dtype) for array in drawn(cell)]

    def loss(by_kernels: bool, *parts: Any) -> Any:
        output, _ = recurrence(cell, *parts, kernels=by_kernels)
        return (output.astype(jnp.float32) ** 2).sum()

    with jax.default_matmul_precision("highest"):  # the scan's products, which JAX computes in TF32
        mine, other = (
            jax.jit(jax.value_and_grad(lambda *parts, one=one: loss(one, *parts), argnums=(0, 1, 2, 3)))(
                *arrays
            )
            for one in (True, False)
        )
    for found, wanted in zip(jax.tree.leaves(mine), jax.tree.leaves(other), strict=True):
        found, wanted = (np.asarray(part, np.float64) for part in (found, wanted))
        limit = 0.03 if dtype == "bfloat16" else 1e-4
        assert np.linalg.norm(found - wanted) <= limit * np.linalg.norm(wanted)


@pytest.mark.parametrize("cell", ["lstm", "gru", "slstm"])
def test_vmap_and_forward_mode_through_kernels(cell: str, launches: ReferenceLaunches) -> None:
    # Not of the bias alone: the stand-in computes gradients from the arrays of the forward pass, which
    # joins the heads then, while the backward pass, which reads no bias, joins the batch.
    check_transforms(cell, 2e-4, MAPPED[:3])


def test_second_derivatives_through_kernels(launches: ReferenceLaunches) -> None:
    check_second_derivatives(2e-4)
    assert {one.direction for one in launches.requests} == {"training", "backward"}


@pytest.mark.gpu
def test_second_derivatives_on_a_gpu() -> None:
    with jax.default_matmul_precision("highest"):
        check_second_derivatives(2e-3)


def check_second_derivatives(tolerance: float) -> None:
    """Of each mode over each, beside the scan's."""
    from kerneltune.jax import recurrence

    at, by = ([jnp.asarray(one, jnp.float32) for one in drawn("gru", seed)] for seed in (1, 2))
    found = []
    for kernels in (True, False):

        def loss(at: Any, kernels: bool = kernels) -> Any:
            output, last = recurrence("gru", *at, kernels=kernels)
            return (output**2).sum() + jnp.sin(last).sum()

        def along(at: Any, loss: Any = loss) -> Any:
            return jax.jvp(loss, [at], [by])[1]

        slope = jax.grad(loss)
        ways = [
            lambda at, slope=slope: jax.jvp(slope, [at], [by])[1],
            jax.grad(lambda at, slope=slope: sum((a * b).sum() for a, b in zip(slope(at), by, strict=True))),
            jax.grad(along),
            lambda at, along=along: jax.jvp(along, [at], [by])[1],
        ]
        found.append([jax.jit(way)(at) for way in ways])
    for one, wanted in zip(*map(jax.tree.leaves, found), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=tolerance, atol=tolerance * 10)


@pytest.mark.gpu
@pytest.mark.parametrize("cell", ["lstm", "gru", "slstm", "elman"])
def test_vmap_and_forward_mode_on_a_gpu(cell: str) -> None:
    with jax.default_matmul_precision("highest"):
        check_transforms(cell, 2e-3, MAPPED)


def check_transforms(cell: str, tolerance: float, ways_to_map: Any) -> None:
    """Values, gradients and tangents, of mapped inputs and of mapped parameters, beside the scan's."""
    from kerneltune.jax import recurrence

    def ready(way: Any, *parts: Any) -> Any:
        return jax.block_until_ready(way(*parts))

    many = [
        jnp.stack([jnp.asarray(drawn(cell, seed)[i], jnp.float32) for seed in range(3)]) for i in range(4)
    ]

    def loss(by_kernels: bool, *parts: Any) -> Any:
        output, last = recurrence(cell, *parts, kernels=by_kernels)
        return (output**2).sum() + (last * jnp.arange(DIM, dtype=jnp.float32)).sum()

    def close(mine: Any, other: Any) -> None:
        for found, wanted in zip(jax.tree.leaves(mine), jax.tree.leaves(other), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 10)

    for mapped in ways_to_map:
        parts = [one if at == 0 else one[0] for one, at in zip(many, mapped, strict=True)]
        found = []
        for by_kernels in (True, False):
            run = lambda *parts, one=by_kernels: recurrence(cell, *parts, kernels=one)  # noqa: E731
            scalar = lambda *parts, one=by_kernels: loss(one, *parts)  # noqa: E731
            slopes = jax.grad(scalar, argnums=(0, 1, 2, 3))
            ways = [jax.vmap(run, mapped), jax.vmap(slopes, mapped)]
            results = [ready(one, *parts) for way in ways for one in (way, jax.jit(way))]
            summed = lambda *parts, way=ways[0]: sum(o.sum() for o in way(*parts))  # noqa: E731
            results.append(ready(jax.grad(summed), *parts))
            results.append(ready(jax.vmap(jax.grad(scalar), mapped), *parts))
            single = [one[0] for one in many]
            results.append(ready(jax.jvp, run, single, [one[1] for one in many]))
            along = lambda t, run=run, s=single: jax.jvp(run, s, [t, *s[1:]])[1]  # noqa: E731
            results.append(ready(jax.vmap(along), many[0]))
            found.append(results)
        close(*found)
