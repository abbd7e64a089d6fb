"""Users' kernels on a GPU: right ones are measured, wrong ones are found, and nothing they do stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kerneltune
from kerneltune import In, InOut, Out
from kerneltune.errors import RunError

pytestmark = pytest.mark.gpu
COUNT = 100_000
SCALE = """
extern "C" __global__ void scale(const float* a, float* c, int n) {
  int i = blockIdx.x * block + threadIdx.x;
  if (i < n) c[i] = 3.0f * a[i];
#if fault == 1
  if (i == 0) c[n + 5] = 1.0f;
#elif fault == 2
  if (i == 7) c[i] = 0.0f / 0.0f;
#elif fault == 3
  if (i == 7) c[i] = -1.0f;
#elif fault == 4
  while (i == 0) __nanosleep(1000);
#elif fault == 5
  if (i == 0) *(volatile float*)16 = 1.0f;
#elif fault == 6
  this does not compile;
#elif fault == 7
  if (i == 0) __trap();
#elif fault == 8
  if (i < n) c[i] += 1e-3f * (clock() % 3);
#endif
}
"""


def tuned(source: Any, tmp_path: Path, **more: Any) -> Any:
    a = np.random.default_rng(0).standard_normal(COUNT, np.float32)
    given: dict[str, Any] = {
        "params": {"block": [64, 128, 256]},
        "sizes": {"n": COUNT},
        "arguments": [In(a, "a"), Out(np.empty_like(a), "c"), COUNT],
        "grid": "ceildiv(n, block)",
        "block": "block",
        "reference": lambda a, c, n: 3 * a,
        "store": tmp_path / "store.sqlite",
    }
    return kerneltune.tune(source, **{**given, **more})


def test_faults_cost_their_candidates_only(tmp_path: Path) -> None:
    faults = list(range(9))
    params = {"block": [64, 128, 256], "fault": faults}
    found = tuned(
        SCALE,
        tmp_path,
        params=params,
        constraints=["fault == 0 or block == 64"],
        timeout=5.0,
        strategy="random",
    )
    assert sorted(t.configuration["fault"] for t in found.trials) == [0, 0, *faults]
    assert {t.configuration["fault"] for t in found.trials if t.passed} == {0}
    assert sum(t.passed for t in found.trials) == 3
    said = {t.configuration["fault"]: str(t.failure) for t in found.failed}
    assert "outside the array 'c'" in said[1]
    assert "NaN" in said[2]
    assert "relative error" in said[3]
    assert "no answer within 5 s" in said[4]
    assert "illegal" in said[5].lower()
    assert "refused" in said[6]
    assert "launch fail" in said[7]


def test_a_run_resumes_from_its_store(tmp_path: Path) -> None:
    first = tuned(SCALE, tmp_path, params={"block": [64, 128], "fault": [0]})
    second = tuned(SCALE, tmp_path, params={"block": [64, 128], "fault": [0]})
    assert [t.stored for t in second.trials] == [True, True]
    times = [{t.configuration["block"]: t.objectives for t in run.trials} for run in (first, second)]
    assert times[0] == times[1]


TEMPLATE = """
__constant__ float factors[4];
template <int N, typename T> __global__ void scale(const T* a, T* c, int n) {
  extern __shared__ float held[];
  int i = blockIdx.x * N + threadIdx.x;
  held[threadIdx.x] = i < n ? (float)a[i] : 0.0f;
  __syncthreads();
  if (i < n) c[i] = held[threadIdx.x] * factors[i % 4];
}
"""


def test_templates_constant_memory_and_much_shared_memory(tmp_path: Path) -> None:
    factors = np.array([3, 3, 3, 3], np.float32)
    found = tuned(
        TEMPLATE, tmp_path, entry="scale<block, float>", constants={"factors": factors}, shared_memory=100_000
    )
    assert len(found.ranked) == 3
    assert found.best.resources["shared_memory"] == 100_000
    assert found.best.resources["blocks_per_sm"] == 2


def test_ptx_is_tuned_over_its_launch(tmp_path: Path) -> None:
    from kerneltune.compiling.nvrtc import _nvrtc

    nvrtc = _nvrtc()
    source = SCALE.replace("blockIdx.x * block", "blockIdx.x * blockDim.x").replace("fault", "0")
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"k.cu", 0, None, None)
    nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_80"])
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = b" " * size
    nvrtc.nvrtcGetPTX(program, text)
    found = tuned(text.decode().rstrip("\0 "), tmp_path)
    assert len(found.ranked) == 3


def test_what_is_read_and_written_is_restored(tmp_path: Path) -> None:
    source = """extern "C" __global__ void twice(float* a, int n) {
      int i = blockIdx.x * block + threadIdx.x; if (i < n) a[i] *= 2.0f; }"""
    a = np.random.default_rng(0).standard_normal(COUNT, np.float32)
    found = tuned(source, tmp_path, arguments=[InOut(a, "a"), COUNT], reference=lambda a, n: 2 * a)
    assert len(found.ranked) == 3


def test_energy_and_clocks_are_told(tmp_path: Path) -> None:
    pytest.importorskip("pynvml")
    params = {"block": [256], "fault": [0]}
    found = tuned(SCALE, tmp_path, params=params, energy_seconds=0.2, objective="energy")
    assert 0 < found.best.objectives["energy"] < 1
    assert found.best.notes["sm_mhz"] > 100


def test_a_wrong_shape_of_constants_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="factors"):
        _ = tuned(
            TEMPLATE, tmp_path, entry="scale<block, float>", constants={"factors": np.zeros(9, np.float32)}
        ).best


@pytest.mark.parametrize("library", ["torch", "cupy", "pycuda"])
def test_loaded_kernels_take_arrays(library: str, tmp_path: Path) -> None:
    params = {"block": [64, 128, 256], "fault": [0]}
    found = tuned(SCALE, tmp_path, params=params)
    host = np.arange(1000, dtype=np.float32)
    described = {"params": params, "grid": "ceildiv(n, block)", "block": "block"}
    empty = np.empty(1, np.float32)
    if library == "torch":
        torch = pytest.importorskip("torch")
        a = torch.from_numpy(host).cuda()
        c = torch.zeros_like(a)
    elif library == "cupy":
        cupy = pytest.importorskip("cupy")
        a, c = cupy.asarray(host), cupy.zeros(1000, cupy.float32)
    else:
        pytest.importorskip("pycuda")
        import pycuda.autoprimaryctx  # noqa: F401
        from pycuda import gpuarray

        a, c = gpuarray.to_gpu(host), gpuarray.zeros(1000, np.float32)
    kernel = kerneltune.load(
        SCALE,
        {"n": 1000},
        arguments=[In(empty, "a"), Out(empty, "c"), 1000],
        store=tmp_path / "store.sqlite",
        **described,  # type: ignore[arg-type]
    )
    # of the nearest sizes; by the times before the finalists were measured again
    least = min(trial.objectives["time"] for trial in found.trials if trial.passed)
    assert [t.objectives["time"] for t in found.trials if t.configuration == kernel.configuration] == [least]
    kernel(a, c, 1000)
    got = c.cpu().numpy() if library == "torch" else c.get()
    assert (got == 3 * host).all()
