"""Arguments compared with what a kernel declares: mistakes are refused, and nothing that may be meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerneltune import In, Out
from kerneltune.errors import InputError
from kerneltune.inputs.hardware import load_profile
from kerneltune.sources.arguments import Argument
from kerneltune.sources.description import Description
from kerneltune.sources.parameters import check_arguments

SHAPE = 64


def array(dtype: str, name: str = "a") -> Argument:
    return In(np.ones(SHAPE, dtype), name)


def count(dtype: str = "int32") -> Argument:
    return Argument("number", np.dtype(dtype).type(3), "n")


def kernel(parameters: str) -> str:
    return f'extern "C" __global__ void __launch_bounds__(256) f({parameters}) {{ }}'


REFUSED: list[tuple[str, list[Any], str]] = [
    (
        "const float* a, int n",
        [array("float64"), count()],
        "'const float* a', but the argument 'a' is float64",
    ),
    ("double *__restrict__ a, int n", [array("float32"), count()], "is float32"),
    ("float a[], int n", [array("int32"), count()], "is int32"),
    ("const int* a, int n", [array("int64"), count()], "is int64"),
    ("const unsigned int* a, int n", [array("uint8"), count()], "is uint8"),
    ("float* a, size_t n", [array("float32"), count()], "'size_t n', but the argument 'n' is int32"),
    ("float* a, long long n = 3", [array("float32"), count()], "is int32"),
    ("float* a, int n", [array("float32"), count("int64")], "is int64"),
    ("float* a, float n", [array("float32"), count()], "is int32"),
    ("float* a, const int n", [array("float32"), count("float32")], "is float32"),
    ("float* a, double n", [array("float32"), count("float32")], "is float32"),
    ("float* a, int n", [array("float32"), array("int32", "n")], "the argument 'n' is an array"),
    ("float* a, int* n", [array("float32"), count()], "is a number, int32"),
    ("float* a, int n", [array("float32")], "has 2 parameters, but 1 arguments"),
    ("", [array("float32")], "has 0 parameters"),
    ("float* /* of rows, columns */ a, int n", [array("float64"), count()], "is float64"),
]
TAKEN: list[tuple[str, list[Any]]] = [
    ("const float* __restrict__ a, const int n", [array("float32"), count()]),
    ("const float4* a, unsigned n", [array("float32"), count()]),
    ("unsigned char* a, uint32_t n", [array("float64"), count()]),
    ("void* a, int n", [array("float64"), count()]),
    ("unsigned int* a, int n", [array("float32"), count()]),
    ("__half* a, int n", [array("float16"), count()]),
    ("half* a, int n", [array("uint16"), count()]),
    ("__nv_bfloat16* a, int n", [array("uint16"), count()]),
    ("float2* a, int n", [array("complex64"), count()]),
    ("float* a, int n", [array("complex64"), count()]),
    ("REAL* a, index n", [array("float64"), count("int64")]),
    ("std::pair<int, int> a, int n", [array("float64"), count()]),
    ("const float** a, int n", [array("float64"), count()]),
    ("bool* a, int n", [array("bool"), count()]),
    ("float a[], const unsigned long long n", [array("float32"), count("uint64")]),
]


@pytest.mark.parametrize(("parameters", "arguments", "said"), REFUSED)
def test_what_cannot_be_right_is_refused(parameters: str, arguments: list[Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        check_arguments(kernel(parameters), "f", arguments)
    assert said in str(caught.value)


@pytest.mark.parametrize(("parameters", "arguments"), TAKEN)
def test_what_may_be_meant_is_taken(parameters: str, arguments: list[Any]) -> None:
    check_arguments(kernel(parameters), "f", arguments)


def test_sources_that_cannot_be_read_are_left_to_the_compiler() -> None:
    wrong = [array("float64")]
    check_arguments("#define K(n) __global__ void n(float* a) { }\nK(f)", "f", wrong)
    check_arguments("void f(float* a) { } void g() { f(0); }", "f", wrong)  # no kernel
    check_arguments("__global__ void f(float* a);", "f", wrong)  # it may stand in a header
    check_arguments(kernel("float* a\n#if B\n, int n\n#endif\n"), "f", wrong)


def test_one_of_several_definitions_is_enough() -> None:
    two = kernel("float* a") + "\n#else\n" + kernel("double* a")
    check_arguments(two, "f", [array("float64")])
    with pytest.raises(InputError, match="is int64"):
        check_arguments(two, "f", [array("int64")])


def test_a_macro_of_the_space_may_be_any_type() -> None:
    text = "template <typename T> __global__ void n::f(T* a, REAL* b) { }"
    check_arguments(text, "n::f<REAL>", [array("float32"), array("float64", "b")], ["REAL"])


def test_each_launch_is_compared() -> None:
    source = kernel("float* a, float* parts").replace("f(", "first(") + kernel("float* parts").replace(
        "f(", "g("
    )
    given: dict[str, Any] = {
        "params": {"BLOCK": [64]},
        "grid": 1,
        "block": "BLOCK",
        "arguments": [array("float32"), Out(np.ones(SHAPE, "f8"), "parts"), array("float32", "out")],
    }
    from kerneltune.sources.launches import Then

    then = [Then("g", 1, 32, None, ["out"])]
    t4 = load_profile("t4")
    with pytest.raises(InputError, match="the kernel first declares 'float\\* parts'"):
        Description(source, entry="first", takes=["a", "parts"], then=then, **given).kernel(t4)
    wrong = [Then("g", 1, 32, None, ["parts"])]
    with pytest.raises(InputError, match="the kernel g declares 'float\\* parts', but the argument 'parts'"):
        Description(source, entry="first", takes=["a", "out"], then=wrong, **given).kernel(t4)
    Description(source, entry="first", takes=["a", "out"], then=then, **given).kernel(t4)
