"""Descriptions of users' kernels: expressions, spaces, orders, folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerneltune import In, InOut, Out
from kerneltune.errors import InfeasibleError, InputError
from kerneltune.inputs.hardware import load_profile
from kerneltune.sources.arguments import arguments_of
from kerneltune.sources.description import Description
from kerneltune.sources.folder import is_kernel_folder, read_folder
from kerneltune.sources.numbers import Numbers
from kerneltune.sources.references import named, resolved
from kerneltune.sources.space import limits_of, with_constants

H100 = load_profile("h100_sxm")
EXAMPLES = Path(__file__).parents[3] / "examples" / "tuning"
SOURCE = """
template <int N> __global__ void scale(const float* a, float* c, int n) { c[blockIdx.x * N] = a[0]; }
"""


def described(**more: Any) -> Description:
    a = np.ones(1000, np.float32)
    given: dict[str, Any] = {
        "entry": "scale<BLOCK>",
        "params": {"BLOCK": [32, 64, 2048], "FAST": [True, False]},
        "sizes": {"n": 1000},
        "arguments": [In(a, "a"), Out(a, "c"), 1000],
        "grid": "ceildiv(n, BLOCK)",
        "block": "BLOCK",
    }
    return Description(SOURCE, **{**given, **more})


def test_numbers_are_expressions_over_parameters_sizes_and_limits() -> None:
    given: dict[str, Any] = {"grid_x": "ceildiv(m, bm) * sm_count", "z": lambda c: c["bm"] + 1}
    numbers = Numbers(given, {"bm": [16, 32], "kind": ["a"]}, {"m": 100, **limits_of(H100)})
    assert numbers.of({"bm": 16, "kind": "a"}) == {"grid_x": 7 * 132, "z": 17}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bm * q", "no parameter or size is named 'q': the parameters are bm, kind"),
        ("kind + 1", "'kind' has the value 'a', but only whole numbers can stand here"),
        ("bm +* 2", "an operand is missing"),
        ("__import__('os')", "grid_x"),
    ],
)
def test_wrong_expressions_are_named(text: str, said: str) -> None:
    with pytest.raises(InputError, match="grid_x") as found:
        Numbers({"grid_x": text}, {"bm": [16], "kind": ["a"]}, {"m": 100})
    assert said in str(found.value)


def test_a_number_without_a_value_is_an_error() -> None:
    numbers = Numbers({"grid_x": "m // (bm - 16)"}, {"bm": [16]}, {"m": 100})
    with pytest.raises(InputError, match="division by zero"):
        numbers.of({"bm": 16})


def test_constants_are_put_into_python_expressions() -> None:
    assert with_constants("ceildiv(m, bm) <= sm_count", {"m": 100, "sm_count": 132}, ["bm"]) == (
        "-(-100 // bm) <= 132"
    )
    assert with_constants("a divides b", {}, []) is None


def test_what_does_not_fit_is_not_in_the_space() -> None:
    kernel = described().kernel(H100)
    assert {row["BLOCK"] for row in kernel.space} == {32, 64}  # a block has at most 1,024 threads
    with pytest.raises(InfeasibleError):
        described(params={"BLOCK": [2048]}).kernel(H100)
    large = described(shared_memory=lambda c: 300_000).kernel(H100)  # only known when it is ordered
    with pytest.raises(InfeasibleError, match="300000 bytes of shared memory, but h100_sxm has 232448"):
        large.order({"BLOCK": 32, "FAST": True})


def test_a_constraint_file_declares_parameters_and_resources() -> None:
    text = """
BLOCK in {64, 128, 1024}
registers in {32, 64, 128, 255}
threads := BLOCK
shared_memory := 100 * BLOCK
blocks_per_sm := 2
"""
    kernel = described(params=None, constraints=text).kernel(H100)
    rows = list(kernel.space)
    assert {"BLOCK": 1024, "registers": 32} in rows
    assert {"BLOCK": 1024, "registers": 64} not in rows  # two blocks of 1,024 threads have 32 registers each
    order = kernel.order({"BLOCK": 128, "registers": 64})
    assert (order.shared_memory, order.registers, order.blocks_per_sm) == (12800, 64, 2)


def test_an_order_has_macros_and_the_instance() -> None:
    kernel = described(defines={"HALF": "BLOCK // 2", "KIND": "7"}, options=["-lineinfo"]).kernel(H100)
    order = kernel.order({"BLOCK": 64, "FAST": True})
    assert order.entry == "scale<64>"
    assert order.source.startswith(
        "#define BLOCK 64\n#define FAST 1\n#define HALF 32\n#define KIND 7\n#line 1"
    )
    assert (order.grid, order.block, order.target) == ((16, 1, 1), (64, 1, 1), "sm_90a")
    assert order.options == ("-lineinfo",)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"grid": None}, "grid and block are missing"),
        ({"params": {}}, "params is missing"),
        ({"kind": "opencl"}, "OpenCL kernels are outside"),
        ({"kind": "hip"}, "HIP kernels are outside"),
        ({"kind": "cudda"}, "unknown kind"),
        ({"sizes": {"n": 1.5}}, "not a whole number"),
        ({"params": {"BLOCK": [None]}}, "only numbers, texts and Booleans"),
        ({"constraints": ["BLOCK +"]}, "constraints"),
        ({"arguments": [object()]}, "expected a number or an array"),
        ({"grid": [1, 1, 1, 1]}, "at most three"),
    ],
)
def test_wrong_descriptions_are_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        described(**more).kernel(H100)


def test_the_entry_is_found_where_there_is_one() -> None:
    assert described(entry=None).kernel(H100).entry == "scale"
    with pytest.raises(InputError, match="entry is missing"):
        Description(SOURCE + SOURCE.replace("scale", "other"), params={"B": [1]}, grid=1, block=1).kernel(
            H100
        )


def test_arguments_are_named_and_typed() -> None:
    a = np.ones(3, np.float64)
    found = arguments_of([a, InOut(a, "x"), 3, 2.5, 2**40, True])
    assert [(one.name, one.kind, str(np.asarray(one.value).dtype)) for one in found] == [
        ("arg0", "in", "float64"),
        ("x", "inout", "float64"),
        ("arg2", "number", "int32"),
        ("arg3", "number", "float32"),
        ("arg4", "number", "int64"),
        ("arg5", "number", "bool"),
    ]
    with pytest.raises(InputError, match="two arguments"):
        arguments_of([In(a, "x"), In(a, "x")])


class Raw:
    """As CuPy's RawKernel."""

    code, name, options = 'extern "C" __global__ void k(float* a) {}', "k", ("-lineinfo",)


def test_a_raw_kernel_of_cupy_is_cuda() -> None:
    kernel = Description(Raw(), params={"B": [32]}, grid=1, block="B").kernel(H100)
    assert (kernel.kind, kernel.entry, kernel.options) == ("cuda", "k", ("-lineinfo",))


def test_functions_are_found_by_name() -> None:
    assert resolved(str(named(read_folder))) is read_folder
    assert named(lambda x: x) is None
    with pytest.raises(InputError, match="there is no file"):
        resolved("/nowhere.py:f")


@pytest.mark.parametrize(("name", "size"), [("matmul", 1188), ("hotspot", 1824), ("reduction", 960)])
def test_the_examples_have_spaces(name: str, size: int) -> None:
    assert is_kernel_folder(str(EXAMPLES / name))
    folder = read_folder(EXAMPLES / name, with_arrays=False)
    kernel = folder.description.kernel(H100)
    assert kernel.space.size == size
    order = kernel.order(next(iter(kernel.space)))
    assert order.grid[0] > 1


def test_sizes_of_a_folder_can_be_changed() -> None:
    folder = read_folder(EXAMPLES / "reduction", {"count": 100})
    assert folder.description.arguments[0].value.shape == (100,)
    expected = folder.reference(*[one.value for one in folder.description.arguments])
    assert expected[0] == pytest.approx(folder.description.arguments[0].value.sum(), rel=1e-5)
    with pytest.raises(InputError, match="there is no size 'cuont': did you mean 'count'"):
        read_folder(EXAMPLES / "reduction", {"cuont": 1})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tune_params: {B: [1]}\ngird: 1", "2:1: unknown key 'gird': did you mean 'grid'"),
        ("grid: 1\nblock: 1", "tune_params is missing"),
        ("tune_params: {B: [1]}\ngrid: 1\nblock: 1\nsource: other.cu", "there is no file"),
        ("tune_params: {B: [1]}\narguments: [{name: a, dtype: flaot}]", "unknown dtype 'flaot'"),
        ("tune_params: {B: [1]}\narguments: [{name: a, shape: [3], fill: odd}]", "fill is normal"),
    ],
)
def test_wrong_folders_are_refused_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "kernel.cu").write_text('extern "C" __global__ void k() {}')
    (tmp_path / "kernel.yaml").write_text(text)
    with pytest.raises(InputError) as found:
        read_folder(tmp_path)
    assert said in str(found.value)
    assert "kernel.yaml" in str(found.value)
