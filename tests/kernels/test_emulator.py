"""The emulated GPU itself: its results are right, and it detects typical mistakes of kernels."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.bench import RACE, outcome, outcomes
from emulator.build import EmulationError, Emulator, Launch
from emulator.rewrite import rewrite

pytestmark = pytest.mark.emulated

REVERSE = """
  shared_memory[thread] = arguments.input[thread];
  {}
  arguments.output[thread] = shared_memory[63 - thread];
"""


def test_a_barrier_orders_what_is_a_race_without_it(bench: Emulator) -> None:
    assert outcomes(bench, REVERSE.format("__syncthreads();")) == [list(range(63, -1, -1))]
    with pytest.raises(EmulationError, match=RACE):
        outcomes(bench, REVERSE.format(""))


def test_a_barrier_of_one_warp_does_not_order_two(bench: Emulator) -> None:
    with pytest.raises(EmulationError, match=RACE):
        outcomes(bench, REVERSE.format("__syncwarp();"))


def test_lanes_of_a_warp_are_ordered_by_syncwarp_and_by_no_shuffle(bench: Emulator) -> None:
    body = "shared_memory[thread] = thread; {} arguments.output[thread] = shared_memory[thread ^ 1];"
    assert outcomes(bench, body.format("__syncwarp();")) == [[thread ^ 1 for thread in range(64)]]
    with pytest.raises(EmulationError, match=RACE):
        outcomes(bench, body.format("__shfl_xor_sync(~0u, thread, 1);"))


COPY = """
  const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)) + 16 * thread;
  const unsigned* const source = arguments.input + 4 * thread;
  if (thread < 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  {}
  __syncthreads();
  arguments.output[thread] = shared_memory[thread];
"""


def test_a_copy_must_be_waited_for(bench: Emulator) -> None:
    wait = 'asm volatile("cp.async.wait_group %0;" ::"n"({}) : "memory");'
    assert outcomes(bench, COPY.replace("{}", wait.format(0))) == [list(range(64))]
    with pytest.raises(EmulationError, match=RACE):
        outcomes(bench, COPY.replace("{}", wait.format(1)))
    own = COPY.replace("{}", wait.format(1)).replace("__syncthreads();", "if (thread < 16)")
    with pytest.raises(
        EmulationError, match="it reads what it copies there, and has not waited for the copy"
    ):
        outcomes(bench, own.replace("= shared_memory[thread]", "= shared_memory[4 * thread]"))


MESSAGE = """
  unsigned* const data = arguments.output + 4 * 1;
  unsigned* const flag = arguments.output + 4 * 2;
  if (thread != 0) return;
  if (blockIdx.x == 0) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(data), "r"(7u) : "memory");
    FENCE
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory");
  } else {
    uint4 seen{0, 0, 0, 0}, value;
    while (!seen.x)
      asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(seen.x), "=r"(seen.y), "=r"(seen.z), "=r"(seen.w) : "l"(flag) : "memory");
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w) : "l"(data) : "memory");
    arguments.output[0] = value.x;
  }
"""


def test_stores_overtake_each_other_unless_a_fence_stands_between(bench: Emulator) -> None:
    launch = Launch(blocks=2, threads=32, cluster=1, shared_memory=1024, all_resident=True)
    fenced = MESSAGE.replace("FENCE", 'asm volatile("fence.acq_rel.gpu;" ::: "memory");')
    assert {one[0] for one in outcomes(bench, fenced, launch=launch)} == {7}
    assert {one[0] for one in outcomes(bench, MESSAGE.replace("FENCE", ""), launch=launch)} == {0, 7}


def test_a_released_store_comes_after_those_before_it(bench: Emulator) -> None:
    launch = Launch(blocks=2, threads=32, cluster=1, shared_memory=1024, all_resident=True)
    flag = 'asm volatile("st.{}.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory");'
    assert MESSAGE.count(flag.format("relaxed")) == 1
    released = MESSAGE.replace("FENCE", "").replace(flag.format("relaxed"), flag.format("release"))
    assert {one[0] for one in outcomes(bench, released, launch=launch)} == {7}


def test_barriers_with_a_number_are_apart(bench: Emulator) -> None:
    """Threads that only arrive let those that wait go on; barrier 1 is no barrier 2."""
    body = """
  if (thread < 32) {
    shared_memory[thread] = thread;
    asm volatile("bar.arrive ARRIVE, %0;" ::"r"(64u) : "memory");
  } else {
    asm volatile("bar.sync 2, %0;" ::"r"(64u) : "memory");
    arguments.output[thread - 32] = shared_memory[thread - 32];
  }
"""
    assert outcomes(bench, body.replace("ARRIVE", "2")) == [[*range(32), *[0] * 32]]
    with pytest.raises(EmulationError, match="waits for barrier 2"):
        outcomes(bench, body.replace("ARRIVE", "1"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("arguments.output[64 + thread] = 1;", r"outside every array|just outside"),
        ("const_cast<unsigned*>(arguments.input)[thread] = 1;", "read only"),
        ("shared_memory[256 + thread] = 1;", r"outside every array|just outside"),
        (
            "if (thread < 32) __syncthreads();",
            r"no thread can go on(.|\n)*block 0 warp 0 lane 0 waits for barrier 0",
        ),
        (
            "if (thread % 2) __syncwarp(); else __shfl_xor_sync(~0u, thread, 1);",
            r"comes to \S+ while other lanes of its warp wait in",
        ),
        (
            'unsigned x; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(1024u + thread * 4));'
            "arguments.output[thread] = x;",
            r"shared memory access at byte \d+ of 1024",
        ),
        (
            'unsigned x; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(thread * 2));'
            "arguments.output[thread] = x;",
            "not aligned",
        ),
        ('asm volatile("frobnicate.b32 %0;" ::"r"(thread));', r"frobnicate\.b32 %0;"),
    ],
)
def test_mistakes_end_the_run_with_a_reason(bench: Emulator, body: str, message: str) -> None:
    with pytest.raises(EmulationError, match=message):
        outcomes(bench, body)


def test_an_array_that_is_never_set_holds_no_zeros(bench: Emulator) -> None:
    unset = "unsigned x[4]; if (arguments.number == 0) x[2] = 0; arguments.output[thread] = x[thread % 4];"
    assert 0 not in outcome(bench, unset, seed=1)


def test_sixteen_bit_formats(bench: Emulator) -> None:
    """Every kind of number, and what lies half-way between two."""
    body = """
  const float value = __uint_as_float(arguments.input[thread]);
  unsigned half, brain;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(half) : "f"(0.0f), "f"(value));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(brain) : "f"(value), "f"(0.0f));
  arguments.output[thread] = half | brain;
"""
    draw = np.random.default_rng(3)
    values = (draw.standard_normal(64) * 2.0 ** draw.integers(-28, 18, 64)).astype(np.float32)
    values[:8] = [0.0, -0.0, np.inf, -np.inf, 65519.0, 65520.0, 2.0**-24, 2.0**-25]
    values[8:16] = [
        1 + 2.0**-11,
        1 + 3 * 2.0**-11,
        2047.5 / 1024,
        1 + 2.0**-8,
        1 + 3 * 2.0**-8,
        3e-8,
        9e-8,
        6e-5,
    ]
    with np.errstate(over="ignore"):
        halves = values.astype(np.float16).view(np.uint16).astype(np.uint32)
    wide = values.view(np.uint32).astype(np.uint64)
    brains = (wide + 0x7FFF + (wide >> 16 & 1)) >> 16 << 16
    expected = halves | brains.astype(np.uint32)
    np.testing.assert_array_equal(outcome(bench, body, seed=0, values=values.view(np.uint32)), expected)


def test_rewriting_keeps_operands_lines_and_the_text() -> None:
    source = """asm volatile("{\\n"
  "mov.u32 %0 , %%x;}"
  : "=r"(a[f(1, 2)])
  : "r"(b), "l"(c::d) : "memory");
next();"""
    assert rewrite(source) == (
        'emulator::Instruction<"{ mov.u32 %0,%x;}">::run(a[f(1, 2)], b, c::d)\n\n\n;\nnext();'
    )
    assert "dynamic_shared_memory" in rewrite("extern __shared__ __align__(128) unsigned char bytes[];")
