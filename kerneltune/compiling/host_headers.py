"""Headers of the C library that NVRTC lacks, as far as device code uses them."""

from __future__ import annotations

from collections.abc import Iterable

_MATH = """#pragma once
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_E 2.71828182845904523536
#define M_SQRT2 1.41421356237309504880
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#endif
"""
_ASSERT = """#pragma once
#ifndef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __trap())
#endif
#endif
"""
_INTEGERS = """#pragma once
#include <cuda/std/cstdint>
using cuda::std::int8_t; using cuda::std::int16_t; using cuda::std::int32_t; using cuda::std::int64_t;
using cuda::std::uint8_t; using cuda::std::uint16_t; using cuda::std::uint32_t; using cuda::std::uint64_t;
using cuda::std::intptr_t; using cuda::std::uintptr_t;
"""
_NOTHING = "#pragma once\n"  # what device code uses of it, NVRTC has built in
HEADERS = {
    **dict.fromkeys(
        ("stdio.h", "cstdio", "stdlib.h", "cstdlib", "string.h", "cstring", "stdbool.h"), _NOTHING
    ),
    **dict.fromkeys(("stddef.h", "cstddef", "time.h", "ctime"), _NOTHING),
    **dict.fromkeys(("math.h", "cmath"), _MATH),
    **dict.fromkeys(("assert.h", "cassert"), _ASSERT),
    **dict.fromkeys(("stdint.h", "cstdint", "inttypes.h", "cinttypes"), _INTEGERS),
    **dict.fromkeys(("float.h", "cfloat"), "#pragma once\n#include <cuda/std/cfloat>\n"),
    **dict.fromkeys(("limits.h", "climits"), "#pragma once\n#include <cuda/std/climits>\n"),
}


def host_headers(included: Iterable[str]) -> dict[str, str]:
    """The stand-ins for those among some headers that NVRTC lacks, by name."""
    return {name: HEADERS[name] for name in sorted(set(included)) if name in HEADERS}
