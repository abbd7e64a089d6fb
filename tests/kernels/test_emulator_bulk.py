"""The emulated GPU's bulk copies, and the async proxy's view of shared memory."""

from __future__ import annotations

import pytest
from emulator.bench import NO_PROXY_FENCE, RACE, outcomes
from emulator.build import EmulationError, Emulator

pytestmark = pytest.mark.emulated

BARRIER = """
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(shared_memory));
  const unsigned barrier = shared + 512;
  if (thread == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(1u) : "memory");
  __syncthreads();
"""
WAIT_FOR_BARRIER = """
  asm volatile("{ .reg .pred done; again: "
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1; "
               "@!done bra again; }" ::"r"(barrier), "r"(0u) : "memory");
"""
LOAD = (
    BARRIER
    + """
  if (thread == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(barrier), "r"(256u) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(shared + OFFSET), "l"(arguments.input), "r"(BYTES), "r"(barrier) : "memory");
  }
  WAIT
  arguments.output[thread] = shared_memory[thread];
"""
)


def load(wait: str = WAIT_FOR_BARRIER, offset: int = 0, size: int = 256) -> str:
    return LOAD.replace("WAIT", wait).replace("OFFSET", str(offset)).replace("BYTES", f"{size}u")


def test_a_bulk_load_is_there_for_those_who_waited_for_its_barrier(bench: Emulator) -> None:
    assert outcomes(bench, load()) == [list(range(64))]
    race = "it reads what a bulk copy of warp 0 .* writes"
    with pytest.raises(EmulationError, match=race):  # its issuer, too, has to wait
        outcomes(bench, load(wait="if (thread == 0)"))
    with pytest.raises(EmulationError, match=f"{race}|it writes what thread 40 .* reads"):
        outcomes(bench, load(wait="if (thread == 40)"))
    with pytest.raises(EmulationError, match="not aligned"):
        outcomes(bench, load(offset=8))
    with pytest.raises(EmulationError, match="no multiple of 16"):
        outcomes(bench, load(size=248))
    with pytest.raises(EmulationError, match="no thread can go on"):
        outcomes(bench, load(size=240))
    early = "if (thread == 5) arguments.output[thread] = shared_memory[thread];\n  if (thread == 0) {"
    with pytest.raises(EmulationError, match=r"it writes what thread 5 .* reads"):
        outcomes(bench, load().replace("if (thread == 0) {", early))


def test_a_bulk_load_does_not_see_a_store_that_is_on_its_way(bench: Emulator) -> None:
    body = (
        BARRIER
        + """
  if (thread != 0) return;
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(arguments.output), "r"(7u) : "memory");
  FENCE
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(16u) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(shared), "l"(arguments.output), "r"(16), "r"(barrier) : "memory");
  {}
  arguments.output[8] = shared_memory[0];
"""
    )
    body = body.replace("{}", WAIT_FOR_BARRIER)
    fence = 'asm volatile("fence.acq_rel.gpu;" ::: "memory");'
    proxy = 'asm volatile("fence.proxy.async.global;" ::: "memory");'
    assert {one[8] for one in outcomes(bench, body.replace("FENCE", proxy))} == {0, 7}
    assert {one[8] for one in outcomes(bench, body.replace("FENCE", fence + proxy))} == {7}
    for missing in (fence, proxy + fence):
        with pytest.raises(EmulationError, match=r"no fence\.proxy\.async\.global since"):
            outcomes(bench, body.replace("FENCE", missing))


STORE = """
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(shared_memory));
  shared_memory[thread] = thread + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (thread == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(arguments.output), "r"(shared), "r"(240) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(0) : "memory");
    SEEN
  }
  __syncthreads();
  shared_memory[thread] = 99;
"""
STORED = [*range(1, 61), 0, 0, 0]


def test_a_bulk_store_reads_and_writes_before_it_was_waited_for(bench: Emulator) -> None:
    body = STORE.replace("SEEN", "arguments.output[63] = arguments.output[5];")
    assert outcomes(bench, body) == [[*STORED, 6]]
    read = body.replace("wait_group %0", "wait_group.read %0")
    assert outcomes(bench, read) == [[*STORED, 0], [*STORED, 6]]
    with pytest.raises(EmulationError, match=r"it writes what a bulk copy of warp 0 .* reads"):
        outcomes(bench, body.replace('"n"(0)', '"n"(1)'))
    alone = body.replace("shared_memory[thread] = 99;", "")
    with pytest.raises(EmulationError, match="ended without waiting until its bulk copies"):
        outcomes(bench, alone.replace('"n"(0)', '"n"(1)'))
    with pytest.raises(EmulationError, match="ended without waiting until its bulk copies"):
        outcomes(bench, alone.replace("cp.async.bulk.commit_group;", ""))
    with pytest.raises(EmulationError, match=RACE):
        outcomes(bench, body.replace("__syncthreads();", "", 1))


def test_what_threads_wrote_needs_a_proxy_fence_before_the_barrier(bench: Emulator) -> None:
    body = STORE.replace("SEEN", "")
    fence = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n'
    for good in (body, body.replace("async.shared::cta;", "async;", 1)):
        assert outcomes(bench, good) == [[*STORED, 0]]
    without = body.replace(fence, "")
    late = without.replace("__syncthreads();\n", "__syncthreads();\n" + fence, 1)
    of_one = body.replace(fence, "if (thread != 7) " + fence)
    early = without.replace(
        "shared_memory[thread] = thread + 1;", fence + "shared_memory[thread] = thread + 1;"
    )
    for bad in (without, late, of_one, early, body.replace("async.shared::cta;", "async.global;", 1)):
        with pytest.raises(EmulationError, match=NO_PROXY_FENCE):
            outcomes(bench, bad)


def test_a_copy_of_a_thread_needs_a_proxy_fence_behind_its_wait(bench: Emulator) -> None:
    copy = """
  if (thread < 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 ::"r"(shared + 16 * thread), "l"(arguments.input + 4 * thread) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  BEFORE
  asm volatile("cp.async.wait_group %0;" ::"n"(0) : "memory");
  BEHIND
"""
    fence = 'asm volatile("fence.proxy.async;" ::: "memory");'
    body = STORE.replace("SEEN", "").replace(
        'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");', ""
    )
    body = body.replace("shared_memory[thread] = thread + 1;", copy)
    good = body.replace("BEFORE", "").replace("BEHIND", fence)
    assert outcomes(bench, good) == [[*range(60), 0, 0, 0, 0]]
    with pytest.raises(EmulationError, match=NO_PROXY_FENCE):
        outcomes(bench, body.replace("BEFORE", fence).replace("BEHIND", ""))


ASYNCHRONOUS_STORE = (
    BARRIER
    + """
  if (thread == 0)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(barrier), "r"(256u) : "memory");
  if (thread >= 32 && thread < 48)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
                 "[%0], {%1, %2, %3, %4}, [%5];"
                 ::"r"(shared + 16 * (thread - 32)), "r"(1u), "r"(2u), "r"(3u), "r"(4u), "r"(barrier)
                 : "memory");
  {before}
"""
    + WAIT_FOR_BARRIER
    + """
  if (thread != 0) return;
  {behind}
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               ::"l"(arguments.output), "r"(shared), "r"(256) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(0) : "memory");
"""
)


def test_an_asynchronous_store_needs_a_proxy_fence_of_those_who_waited(bench: Emulator) -> None:
    """A fence of the thread that issues the store comes before the store arrives."""
    fence = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");'

    def stored(before: str, behind: str) -> str:
        return ASYNCHRONOUS_STORE.replace("{before}", before).replace("{behind}", behind)

    assert outcomes(bench, stored("", fence)) == [[1, 2, 3, 4] * 16]
    for before in ("", fence):
        with pytest.raises(EmulationError, match="not every thread that issues it has executed fence"):
            outcomes(bench, stored(before, ""))


def test_the_first_proxy_fence_behind_a_write_counts(bench: Emulator) -> None:
    """One more, behind the barrier, takes nothing away."""
    fence = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n'
    body = STORE.replace("SEEN", "").replace("__syncthreads();\n", "__syncthreads();\n" + fence, 1)
    assert body.count(fence) == 2
    assert outcomes(bench, body) == [[*STORED, 0]]


def test_the_newest_bulk_stores_may_still_read(bench: Emulator) -> None:
    """Behind a wait for all but one group the first one's source is free, and the second's is not."""
    body = (
        STORE.replace(', "r"(240)', ', "r"(16)')
        .replace(
            'asm volatile("cp.async.bulk.wait_group',
            """asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(arguments.output + 4), "r"(shared + 16), "r"(16) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(1) : "memory");
    FREE
    asm volatile("cp.async.bulk.wait_group""",
        )
        .replace("SEEN", "")
    )
    assert outcomes(bench, body.replace("FREE", "shared_memory[3] = 5;")) == [[*range(1, 9), *[0] * 56]]
    with pytest.raises(EmulationError, match=r"it writes what a bulk copy of warp 0 .* reads"):
        outcomes(bench, body.replace("FREE", "shared_memory[4] = 5;"))
