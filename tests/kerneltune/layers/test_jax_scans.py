"""Scans and diagonal cells in JAX: natively against the float64 references, and through XLA's call."""

# mypy: disable-error-code="arg-type,call-arg"
from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kerneltune.errors import InputError
from kerneltune.inputs.scan_descriptions import discover_scans, is_nonlinear
from kerneltune.running import diagonal_reference, scan_reference
from kerneltune.running.scan_arrays import state_width, widths_of

jax = pytest.importorskip("jax")
jnp = jax.numpy

CELLS = sorted(discover_scans().cells)
BATCH, STEPS, CHANNELS = 3, 21, 4


@pytest.fixture(autouse=True)
def double() -> Any:
    with jax.enable_x64(True):
        yield


class Case:
    """A cell with drawn arrays: its inputs, its weights if it has any, and its first states."""

    def __init__(self, cell: str, *, reverse: bool = False, marked: bool = False, seed: int = 0) -> None:
        about = discover_scans().cell(cell)
        self.cell, self.reverse, self.about = cell, reverse, about
        random = np.random.default_rng(seed)
        inputs = [random.normal(size=(BATCH, STEPS, CHANNELS * width)) / 2 for width in widths_of(about)]
        self.count, self.nonlinear = len(inputs), is_nonlinear(about)
        states: tuple[int, ...] = (BATCH, CHANNELS * state_width(about))
        weights = []
        if self.nonlinear:
            states = (len(about.spec.states), BATCH, CHANNELS)
            weights = [random.normal(size=(about.constants()["weights"], CHANNELS)) / 2]
        self.arrays = [*inputs, *weights, random.normal(size=states)]
        self.by = [random.normal(size=(BATCH, STEPS, states[-1])), random.normal(size=states)]
        self.marks: dict[str, Any] = {}
        if marked:
            resets = random.random((BATCH, STEPS)) < 0.2
            self.marks = {"lengths": np.array([STEPS, 5, 1], np.int32), "resets": resets}

    def call(self, *arrays: Any, kernels: bool | None = None) -> Any:
        """The cell as users call it."""
        from kerneltune.jax import diagonal, scan

        options = {name: jnp.asarray(one) for name, one in self.marks.items()}
        options |= {"initial": arrays[-1], "reverse": self.reverse, "kernels": kernels}
        if self.nonlinear:
            options["weights"] = arrays[self.count]
        return (diagonal if self.nonlinear else scan)(self.cell, *arrays[: self.count], **options)

    def expected(self) -> list[Any]:
        """Both results and all gradients, in float64."""
        lengths = self.marks.get("lengths", np.full(BATCH, STEPS, np.int32))
        rest = lengths, self.marks.get("resets", np.zeros((BATCH, STEPS), bool)), self.reverse
        read, others = tuple(self.arrays[: self.count]), self.arrays[self.count :]
        module = self.about.reference_module()
        if self.nonlinear:
            inputs = diagonal_reference.DiagonalInputs(read, *others, *rest)
            hidden, last, _ = diagonal_reference.forward(module, inputs)
            by_inputs, by_initial, by_rows = diagonal_reference.backward(module, inputs, *self.by)
            return [hidden, last, *by_inputs, by_rows.sum(0), by_initial]
        linear = scan_reference.ScanInputs(read, *others, *rest)
        by_each, by_first = scan_reference.backward(module, linear, *self.by)
        return [*scan_reference.forward(module, linear), *by_each, by_first]

    def found(self, dtype: Any, kernels: bool | None = None) -> list[Any]:
        """The same by a call."""
        arrays = [jnp.asarray(one, dtype) for one in self.arrays]

        @jax.jit  # type: ignore[untyped-decorator]
        def run(*arrays: Any) -> list[Any]:
            results, pull = jax.vjp(lambda *parts: self.call(*parts, kernels=kernels), *arrays)
            by = (jnp.asarray(one, like.dtype) for one, like in zip(self.by, results, strict=True))
            return [*results, *pull(tuple(by))]

        found: list[Any] = run(*arrays)
        return found


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_the_native_computation_is_the_reference(cell: str, reverse: bool, marked: bool) -> None:
    case = Case(cell, reverse=reverse, marked=marked)
    for found, wanted in zip(case.found(jnp.float64), case.expected(), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)


def test_what_lies_behind_a_rows_end_or_before_a_reset_is_not_read() -> None:
    from kerneltune.jax import scan

    a, b = (np.random.default_rng(k).normal(size=(2, 6, 3)) for k in (1, 2))
    a[0, 4:] = b[0, 4:] = np.nan
    b[1, 1] = np.inf
    marks = {"lengths": jnp.array([4, 6]), "resets": jnp.zeros((2, 6), bool).at[1, 3].set(True)}
    h, last = scan("linear", jnp.asarray(a), jnp.asarray(b), **marks)
    assert not h[0, 4:].any()
    assert np.isfinite(last).all()
    slopes = jax.grad(lambda *parts: scan("linear", *parts, **marks)[0][0].sum(), argnums=(0, 1))(a, b)
    assert all(np.isfinite(one[0]).all() for one in slopes)


def test_complex_numbers_and_matrices() -> None:
    from kerneltune.jax import linear_recurrence

    random = np.random.default_rng(3)
    a, b = random.normal(size=(2, 2, 5, 3)) + 1j * random.normal(size=(2, 2, 5, 3))
    state, wanted = np.zeros((2, 3), complex), []
    for t in range(5):
        state = a[:, t] * state + b[:, t]
        wanted.append(state)
    h, last = linear_recurrence(jnp.asarray(a), jnp.asarray(b))
    np.testing.assert_allclose(h, np.stack(wanted, 1), rtol=1e-10)
    np.testing.assert_allclose(last, state, rtol=1e-10)
    turns = np.stack([np.stack([a.real, -a.imag], -1), np.stack([a.imag, a.real], -1)], -2)
    pairs, ends = linear_recurrence(jnp.asarray(turns), jnp.asarray(np.stack([b.real, b.imag], -1)))
    np.testing.assert_allclose(pairs[..., 0] + 1j * pairs[..., 1], h, rtol=1e-10)
    np.testing.assert_allclose(ends[..., 0], state.real, rtol=1e-10)


def test_arrays_that_do_not_fit_are_named() -> None:
    from kerneltune.jax import diagonal, linear_recurrence, scan

    a = jnp.ones((2, 5, 3))
    for words, call in (
        ("unknown scan 'lineer'", lambda: scan("lineer", a, a)),
        ("unknown scan 'diag_gru'", lambda: scan("diag_gru", a, a, a)),
        ("the cell reads a, b", lambda: scan("linear", a)),
        (r"b is \(2, 4, 3\)", lambda: scan("linear", a, a[:, 1:])),
        (r"initial is \(2, 3\)", lambda: scan("linear", a, a, initial=a)),
        (r"resets is \(2, 5\)", lambda: scan("linear", a, a, resets=a)),
        (r"weights is \(3, 3\)", lambda: diagonal("diag_gru", a, a, a, weights=a[0])),
        ("both are complex", lambda: linear_recurrence(a + 1j, a)),
        ("kernels do not support float64", lambda: scan("linear", a, a, kernels=True)),
    ):
        with pytest.raises(InputError, match=words):
            call()  # type: ignore[no-untyped-call]


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Any:
    from scan_launches import ScanLaunches

    from kerneltune.jax import target

    found = ScanLaunches()
    target.register("cpu")
    ready = SimpleNamespace(candidate=SimpleNamespace(workspace=64))
    supply = SimpleNamespace(get=lambda problem: ready, begin=lambda problem: None)
    monkeypatch.setattr(target, "register", lambda: None)
    monkeypatch.setattr(target, "supply", lambda **_: supply)
    monkeypatch.setattr(target, "stream_of", lambda frame: 0)
    monkeypatch.setattr(target, "launches", lambda: found)
    return found


def close(found: Any, wanted: Any, tolerance: float) -> None:
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
        assert np.linalg.norm(one - other) <= tolerance * (1e-3 + np.linalg.norm(other))


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_a_call_through_xla_is_the_reference(cell: str, marked: bool, launches: Any) -> None:
    case = Case(cell, reverse=marked, marked=marked)
    close(case.found(jnp.float32, kernels=True), case.expected(), 1e-5)
    first = "training" if case.nonlinear else "forward"
    assert [one.direction for one in launches.requests] == [first, "backward"]


@pytest.mark.parametrize(
    "cell",
    [pytest.param(cell, marks=[] if cell in ("linear", "diag_gru") else pytest.mark.slow) for cell in CELLS],
)
def test_transforms_through_kernels(cell: str, launches: Any) -> None:
    check_transforms(cell, jnp.float32, 2e-4)
    assert {one.direction for one in launches.requests} >= {"forward", "backward"}


@pytest.mark.gpu
@pytest.mark.parametrize("cell", CELLS)
def test_transforms_on_a_gpu(cell: str) -> None:
    check_transforms(cell, jnp.float32, 2e-3)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_on_a_gpu_kernels_are_the_reference(cell: str, marked: bool, dtype: str) -> None:
    case = Case(cell, reverse=marked, marked=marked)
    case.arrays = [np.asarray(jnp.asarray(one, dtype), np.float64) for one in case.arrays]
    limit = {"bfloat16": 0.03, "float16": 0.005, "float32": 1e-4}[dtype]
    close(case.found(dtype, kernels=True), case.expected(), limit)


def check_transforms(cell: str, dtype: Any, tolerance: float) -> None:
    """Maps, tangents and second derivatives through kernels, beside the native ones."""
    cases = [Case(cell, seed=seed) for seed in range(3)]
    many = [
        jnp.stack([jnp.asarray(case.arrays[k], dtype) for case in cases]) for k in range(len(cases[0].arrays))
    ]
    single, others = [one[0] for one in many], [one[1] for one in many]
    ways_to_map = [[0] * len(many), [0] + [None] * (len(many) - 1), [None] * (len(many) - 1) + [0]]
    if cases[0].nonlinear:
        ways_to_map.append([0 if k == cases[0].count else None for k in range(len(many))])
    found = []
    for kernels in (True, False):

        def run(*arrays: Any, kernels: bool = kernels) -> Any:
            return cases[0].call(*arrays, kernels=kernels)

        def loss(*arrays: Any, run: Any = run) -> Any:
            hidden, last = run(*arrays)
            return (hidden**2).sum() + jnp.sin(last).sum()

        slopes = jax.grad(loss, argnums=tuple(range(len(many))))
        results = []
        for places in ways_to_map:
            arrays = [one if at == 0 else one[0] for one, at in zip(many, places, strict=True)]  # type: ignore[call-overload]
            results += [jax.jit(jax.vmap(way, places))(*arrays) for way in (run, slopes)]

        def along(arrays: Any, run: Any = run) -> Any:
            return jax.jvp(run, arrays, others)[1]

        def directional(arrays: Any, slopes: Any = slopes) -> Any:
            return sum((one * other).sum() for one, other in zip(slopes(*arrays), others, strict=True))

        ways = {
            "forward": along,
            "forward over reverse": lambda at, slopes=slopes: jax.jvp(slopes, at, others)[1],
            "reverse over reverse": jax.grad(directional),
            "reverse over forward": jax.grad(lambda at, along=along: along(at)[0].sum()),
            "forward over forward": lambda at, along=along: jax.jvp(along, [at], [others])[1],
        }
        results += [jax.jit(way)(single) for way in ways.values()]
        found.append(results)
    close(*found, tolerance)


def test_second_derivatives_say_once_that_they_are_native(
    launches: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kerneltune.jax import differentiable

    monkeypatch.setattr(differentiable, "_said", set())
    case = Case("linear")
    a, b, initial = (jnp.asarray(one, jnp.float32) for one in case.arrays)

    def slope(a: Any) -> Any:
        return jax.grad(lambda one: case.call(one, b, initial, kernels=True)[1].sum())(a)

    twice = jax.jit(lambda by: jax.jvp(slope, (a,), (by,)))
    with pytest.warns(UserWarning, match="derivatives of derivatives"):
        twice(a)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.jit(lambda by: jax.jvp(slope, (a,), (by + 1.0,)))(b)


@pytest.mark.parametrize(
    "name", ["MinGRU", "MinLSTM", "LinearRecurrence", "DiagonalGRU", "DiagonalLSTM", "DiagonalSLSTM"]
)
def test_a_layer_learns(name: str) -> None:
    pytest.importorskip("flax")
    import kerneltune.jax

    layer = getattr(kerneltune.jax, name)(features=8)
    x = jax.random.normal(jax.random.key(0), (3, 10, 5), jnp.float32)
    parameters = layer.init(jax.random.key(1), x)
    last, output = layer.apply(parameters, x)
    assert output.shape == (3, 10, 8)
    first, part = layer.apply(parameters, x[:, :6])
    end, rest = layer.apply(parameters, x[:, 6:], first)
    np.testing.assert_allclose(jnp.concatenate([part, rest], 1), output, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(end, last, rtol=1e-4, atol=1e-5)

    @jax.jit  # type: ignore[untyped-decorator]
    def descended(parameters: Any) -> tuple[Any, Any]:
        def loss(parameters: Any) -> Any:
            return ((layer.apply(parameters, x)[1] - 0.3) ** 2).mean()

        value, slope = jax.value_and_grad(loss)(parameters)
        return value, jax.tree.map(lambda p, g: p - 0.5 * g, parameters, slope)

    losses = []
    for _ in range(40):
        value, parameters = descended(parameters)
        losses.append(float(value))
    assert losses[-1] < losses[0] / 2
