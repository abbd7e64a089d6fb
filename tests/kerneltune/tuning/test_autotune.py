"""`kerneltune.autotune` in the place of `triton.autotune`: keys, kept results, verification, others."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_triton import Autotuner, Config, Jit, RawKernel

import kerneltune
from kerneltune.errors import InputError, RunError
from kerneltune.sources.description import Description
from kerneltune.tuning.autotune import Autotuned

COSTS = {16: 3.0, 32: 1.0, 64: 2.0, 128: 5.0}


def double(x: Any, y: Any, n: int, BLOCK: int) -> None:
    y[:n] = 2 * x[:n]


def by_block(kernel: Jit) -> Callable[[Callable[[], object]], float]:
    """A timer: milliseconds of the last launch's block."""

    def timer(call: Callable[[], object]) -> float:
        call()
        last = kernel.launches[-1]
        return float(COSTS[last["BLOCK"]] + abs(last["num_warps"] - 8) / 10)

    return timer


def made(tmp_path: Path, function: Any = double, **more: Any) -> tuple[Jit, Autotuned]:
    kernel = Jit(function)
    given: dict[str, Any] = {
        "params": {"BLOCK": list(COSTS), "num_warps": [4, 8]},
        "key": ["n"],
        "outputs": ["y"],
    }
    given |= {"timer": by_block(kernel), "store": tmp_path / "s", **more}
    return kernel, kerneltune.autotune(**given)(kernel)


def arrays(n: int = 100) -> tuple[Any, Any, int]:
    return np.arange(n, dtype=np.float32), np.zeros(n, np.float32), n


def test_the_first_call_tunes_and_the_next_one_does_not(tmp_path: Path) -> None:
    kernel, tuned = made(tmp_path)
    x, y, n = arrays()
    tuned[lambda meta: (n // meta["BLOCK"],)](x, y, n)
    assert np.array_equal(y, 2 * x)
    assert tuned.best_config == {"BLOCK": 32, "num_warps": 8}
    assert tuned.tuned is not None
    assert len(tuned.tuned.trials) == 8
    assert kernel.launches[-1] == {"grid": (3,), "num_warps": 8, "BLOCK": 32}
    before = len(kernel.launches)
    tuned[(4,)](x, y, n)
    assert len(kernel.launches) == before + 1
    tuned[(4,)](*arrays(50))  # another value of the key
    assert len(kernel.launches) > before + 2


def test_another_object_finds_what_the_store_has(tmp_path: Path) -> None:
    _, first = made(tmp_path)
    first[(1,)](*arrays())
    kernel, second = made(tmp_path)
    x, y, n = arrays()
    second[(1,)](x, y, n)
    assert len(kernel.launches) == 1
    assert second.tuned is None
    assert np.array_equal(y, 2 * x)
    kernel, other = made(tmp_path)  # the same key with another type is another kernel
    other[(1,)](x.astype(np.float64), y.astype(np.float64), n)
    assert len(kernel.launches) > 1


def test_another_process_finds_what_the_store_has(tmp_path: Path) -> None:
    script = tmp_path / "launches.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys, numpy as np, kerneltune
            calls = []
            @kerneltune.autotune(params={"step": [1, 2, 5]}, key=["n"], outputs=["y"], store=sys.argv[1])
            def scaled(x, y, n, step):
                calls.append(step)
                for first in range(step):
                    y[first::step] = 3 * x[first::step]
            x = np.arange(1000.0)
            y = np.zeros_like(x)
            scaled(x, y, 1000)
            assert (y == 3 * x).all()
            print(len(calls))
            """
        )
    )
    found = [
        int(subprocess.run([sys.executable, script, tmp_path / "s"], capture_output=True, check=True).stdout)
        for _ in range(2)
    ]
    assert found[0] > 3
    assert found[1] == 1


def test_constraints_name_parameters_and_the_key(tmp_path: Path) -> None:
    kernel, tuned = made(tmp_path, constraints=["BLOCK * 2 <= n", "num_warps == 4 or BLOCK > 16"])
    tuned[(1,)](*arrays(70))
    assert {one["BLOCK"] for one in kernel.launches} == {16, 32}
    assert {one["num_warps"] for one in kernel.launches if one["BLOCK"] == 16} == {4}


def wrong_at_32(x: Any, y: Any, n: int, BLOCK: int) -> None:
    y[:n] = (2 if BLOCK != 32 else 3) * x[:n]


def partly_at_32(x: Any, y: Any, n: int, BLOCK: int) -> None:
    y[: n if BLOCK != 32 else n // 2] = 2 * x[: n if BLOCK != 32 else n // 2]


@pytest.mark.parametrize("function", [wrong_at_32, partly_at_32])
@pytest.mark.parametrize("reference", [None, lambda x, y, n: 2 * x])
def test_a_wrong_configuration_is_never_chosen(tmp_path: Path, function: Any, reference: Any) -> None:
    more = {} if reference else {"params": {"BLOCK": [64, 16, 32, 128]}, "strategy": "exhaustive"}
    _, tuned = made(tmp_path, function, reference=reference, **more)
    x, y, n = arrays()
    tuned[(1,)](x, y, n)
    assert np.array_equal(y, 2 * x)
    assert tuned.best_config is not None
    assert tuned.best_config["BLOCK"] == 64
    assert tuned.tuned is not None
    assert {one.configuration["BLOCK"] for one in tuned.tuned.failed} == {32}


def wrong_at_first(x: Any, y: Any, n: int, BLOCK: int) -> None:
    y[:n] = (2 if BLOCK != 16 else 3) * x[:n]


def test_a_first_configuration_that_is_wrong_is_no_reference(tmp_path: Path) -> None:
    _, tuned = made(tmp_path, wrong_at_first, params={"BLOCK": [16, 32, 64]}, strategy="exhaustive")
    with pytest.raises(RunError, match="2 configurations differ from the first that ran, and 1 agree"):
        tuned[(1,)](*arrays())


def added(x: Any, y: Any, n: int, BLOCK: int) -> None:
    y[:n] += 2 * x[:n]


def test_arrays_that_are_read_and_written_are_as_the_caller_left_them(tmp_path: Path) -> None:
    x, y, n = arrays()
    for restored in (["y"], None):
        _, tuned = made(tmp_path / str(restored), added, outputs=None, restore_value=restored)
        y[...] = 7
        tuned[(1,)](x, y, n)
        assert np.array_equal(y, 7 + 2 * x)
    _, tuned = made(tmp_path / "zero", added, outputs=None, reset_to_zero=["y"])
    y[...] = 0
    tuned[(1,)](x, y, n)
    assert np.array_equal(y, 2 * x)


def interrupting(x: Any, y: Any, n: int, BLOCK: int) -> None:
    y[...] = 2 * x
    if BLOCK == 128 and not (Path(str(interrupting.folder)) / "go").exists():  # type: ignore[attr-defined]
        raise KeyboardInterrupt


def test_an_interrupted_search_goes_on_and_leaves_the_arrays(tmp_path: Path) -> None:
    interrupting.folder = tmp_path  # type: ignore[attr-defined]
    more = {"strategy": "exhaustive", "outputs": None, "restore_value": ["y"]}
    kernel, tuned = made(tmp_path, interrupting, **more)
    x, y, n = arrays()
    with pytest.raises(KeyboardInterrupt):
        tuned[(1,)](x, y, n)
    assert not y.any()
    (tmp_path / "go").write_text("")
    done = len(kernel.launches)
    kernel, tuned = made(tmp_path, interrupting, **more)
    tuned[(1,)](x, y, n)
    assert {one["BLOCK"] for one in kernel.launches[:-1]} == {128}
    assert done > len(kernel.launches)


def configs(**more: Any) -> list[Config]:
    return [Config({"BLOCK": block}, num_warps=warps, **more) for block in (16, 32) for warps in (4, 8)]


def test_listed_configurations_are_tried_and_no_others(tmp_path: Path) -> None:
    listed = [Config({"BLOCK": 16}, num_warps=4), Config({"BLOCK": 64}, num_warps=8)]
    kernel, tuned = made(tmp_path, params=None, configs=listed)
    tuned[(1,)](*arrays())
    assert {(one["BLOCK"], one["num_warps"]) for one in kernel.launches} == {(16, 4), (64, 8)}
    assert tuned.best_config == {"BLOCK": 64, "num_warps": 8, "num_stages": 3}


def test_configurations_with_other_names_are_numbered(tmp_path: Path) -> None:
    kernel, tuned = made(tmp_path, params=None, configs=[{"BLOCK": 16}, {"BLOCK": 32, "num_warps": 8}])
    tuned[(1,)](*arrays())
    assert tuned.best_config == {"BLOCK": 32, "num_warps": 8}
    assert kernel.launches[-1]["BLOCK"] == 32


def test_hooks_of_configurations_get_the_launch(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    _, tuned = made(tmp_path, params=None, configs=configs(pre_hook=seen.append))
    x, y, n = arrays()
    tuned[(1,)](x, y, n)
    assert seen[-1]["BLOCK"] == 32
    assert seen[-1]["x"] is x


def test_tritons_own_decorator_is_read(tmp_path: Path) -> None:
    kernel = Jit(added)
    both = Autotuner(
        *(kernel, configs(), ["n"]),
        restore_value=["y"],
        early_config_prune=lambda listed, named, **more: [one for one in listed if one.num_warps == 4],
    )
    tuned = kerneltune.autotune(timer=by_block(kernel), store=tmp_path / "s")(both)
    x, y, n = arrays()
    tuned[(1,)](x, y, n)
    assert np.array_equal(y, 2 * x)
    assert {one["num_warps"] for one in kernel.launches} == {4}
    assert tuned.best_config == {"BLOCK": 32, "num_warps": 4, "num_stages": 3}
    with pytest.raises(InputError, match=r"pre_hook and post_hook of triton\.autotune are not supported"):
        kerneltune.autotune()(Autotuner(kernel, configs(), ["n"], pre_hook=print))


def test_a_cupy_kernel_is_compiled_with_macros(tmp_path: Path) -> None:
    code = 'extern "C" __global__ void twice(const float* given, float* result, int n) { }'
    RawKernel.compiled.clear()
    tuned = kerneltune.autotune(
        params={"BLOCK": [32, 64]}, key=["n"], outputs=["result"], store=tmp_path / "s"
    )(RawKernel(code, "twice"))
    x, y, n = arrays()
    tuned(lambda one: (-(-n // one["BLOCK"]),), lambda one: (one["BLOCK"],), (x, y, n))
    assert np.array_equal(y, 2 * x)
    assert {one.splitlines()[0] for one in RawKernel.compiled} == {"#define BLOCK 32", "#define BLOCK 64"}


def test_no_configuration_that_passes_is_an_error_with_the_reason(tmp_path: Path) -> None:
    def broken(x: Any, y: Any, n: int, BLOCK: int) -> None:
        raise ValueError("out of resource: shared memory")

    _, tuned = made(tmp_path, broken)
    with pytest.raises(RunError, match=r"none of 8 candidates passed.*out of resource: shared memory"):
        tuned[(1,)](*arrays())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"key": ["m"]}, "key: double has no argument 'm'"),
        ({"outputs": ["z"]}, "outputs: double has no argument 'z'"),
        ({"params": None}, "give configs, a list of configurations, or params"),
        ({"configs": [{}]}, "not both"),
        ({"rep": 100}, "autotune has no argument 'rep'"),
        ({"params": {"BLOCK": [1], "n": [2]}}, "the call gives 'n', which is a tuning parameter"),
        ({"key": ["x"]}, "key: 'x' is ndarray"),
        ({"reference": lambda x, y, n: [x, y]}, "the reference gives 2 arrays, but double writes y"),
    ],
)
def test_wrong_calls_are_refused(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        made(tmp_path, **more)[1][(1,)](*arrays())


def test_a_triton_function_needs_a_grid_and_others_have_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a grid"):
        made(tmp_path)[1](*arrays())
    plain = kerneltune.autotune(params={"BLOCK": [1]}, store=tmp_path / "p")(double)
    with pytest.raises(InputError, match="no Triton function"):
        plain[(1,)](*arrays())


def test_tensors_are_tuned_in_place(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    tuned = kerneltune.autotune(params={"BLOCK": [1, 2]}, key=["n"], outputs=["y"], store=tmp_path / "s")(
        double
    )
    x = torch.arange(100, dtype=torch.bfloat16)
    y = torch.zeros_like(x)
    tuned(x, y, 100)
    assert bool((y == 2 * x).all())
    assert tuned.tuned is not None
    assert not tuned.tuned.failed
    assert tuned.tuned.trials[0].configuration.keys() == {"BLOCK"}


def test_tune_takes_the_configurations_of_tritons_decorator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "decorated.py").write_text(
        "from fake_triton import Autotuner, Config, Jit\n"
        "def double(x, y, n, BLOCK): pass\n"
        "listed = [Config({'BLOCK': 16}, num_warps=4), Config({'BLOCK': 64}, num_warps=8)]\n"
        "double = Autotuner(Jit(double), listed, ['n'])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import decorated  # type: ignore[import-not-found]

    kernel = Description(decorated.double, grid="ceildiv(1000, BLOCK)", kind="triton").kernel(None)
    assert kernel.kind == "triton"
    assert [dict(one) for one in kernel.space] == [
        {"BLOCK": 16, "num_warps": 4, "num_stages": 3},
        {"BLOCK": 64, "num_warps": 8, "num_stages": 3},
    ]
    assert kernel.order({"BLOCK": 64, "num_warps": 8, "num_stages": 3}).grid == (16, 1, 1)
