"""The emulated GPU's products of warpgroups: wgmma."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.bench import NO_PROXY_FENCE, RACE, outcome
from emulator.build import EmulationError, Emulator, Launch
from numpy.typing import NDArray

pytestmark = pytest.mark.emulated


def wgmma(
    n: int, element: str, *, registers: bool, adds: int, a: str = "a_matrix", b: str = "b_matrix"
) -> str:
    """The statement, on accumulators d[0], d[1], …"""
    count = n // 2
    numbers = iter(range(count, count + 7))
    of_a = "{" + ", ".join(f"%{next(numbers)}" for _ in range(4)) + "}" if registers else f"%{next(numbers)}"
    of_b, flag = (f"%{next(numbers)}" for _ in range(2))
    text = (
        rf"{{\n.reg .pred adds;\nsetp.ne.b32 adds, {flag}, 0;\n"
        f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{element}.{element} "
        "{" + ", ".join(f"%{i}" for i in range(count)) + "}, "
        rf"{of_a}, {of_b}, adds, 1, 1, 0{'' if registers else ', 0'};\n}}"
    )
    outputs = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    words = [f'"r"(a_words[{i}])' for i in range(4)] if registers else [f'"l"({a})']
    inputs = ", ".join([*words, f'"l"({b})', f'"r"({adds})'])
    return f'asm volatile("{text}" : {outputs} : {inputs} : "memory");'


# A and B as rows of 8 words, in pieces of 8 rows of 16 bytes with other distances each; D into the output.
PRODUCT = """
  const unsigned lane = thread % 32, row = thread / 32 % 4 * 16 + lane / 4;
  constexpr int columns = COLUMNS;
  const auto place = [](unsigned word, unsigned leading, unsigned stride) {
    return word % 8 / 4 * leading + word / 64 * stride + word / 8 % 8 * 16 + word % 4 * 4;
  };
  for (unsigned word = thread; word < 64 * 8; word += blockDim.x)
    shared_memory[place(word, 128, 272) / 4] = arguments.input[word];
  for (unsigned word = thread; word < columns * 8; word += blockDim.x)
    shared_memory[(4096 + place(word, 16 * columns, 128)) / 4] = arguments.input[64 * 8 + word];
  unsigned a_words[4];
  for (int i = 0; i < 4; i++) a_words[i] = arguments.input[(row + i % 2 * 8) * 8 + i / 2 * 4 + lane % 4];
  using Bits = unsigned long long;
  const auto descriptor = [](Bits start, Bits leading, Bits stride) {
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32;
  };
  const unsigned long long a_matrix = descriptor(0, 128, 272), b_matrix = descriptor(4096, 16 * columns, 128);
  float d[columns / 2];
  for (float& one : d) one = 1.0f;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  ISSUE
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  BEFORE
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(0) : "memory");
  BEHIND
  for (int i = 0; i < columns / 2; i++) {
    const unsigned column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    arguments.output[(row + i / 2 % 2 * 8) * columns + column] = __float_as_uint(d[i]);
  }
"""
WARPGROUP = Launch(blocks=1, threads=128, cluster=1, shared_memory=8192)


def product(
    bench: Emulator,
    issue: str,
    n: int = 16,
    element: str = "bf16",
    *,
    before: str = "",
    behind: str = "",
    changes: tuple[tuple[str, str], ...] = (),
    launch: Launch = WARPGROUP,
) -> tuple[list[NDArray[np.float32]], NDArray[np.float32]]:
    """What `issue` computes in three orders of threads, and the product of A and B."""
    draw = np.random.default_rng(n)
    a, b = (draw.integers(-8, 9, (rows, 16)).astype(np.float32) for rows in (64, n))
    both = np.concatenate([a, b])
    halves = (
        both.astype(np.float16).view(np.uint16)
        if element == "f16"
        else (both.view(np.uint32) >> 16).astype(np.uint16)
    )
    body = (
        PRODUCT.replace("COLUMNS", str(n))
        .replace("ISSUE", issue)
        .replace("BEFORE", before)
        .replace("BEHIND", behind)
    )
    for old, new in changes:
        assert old in body
        body = body.replace(old, new)
    values = np.ascontiguousarray(halves).view(np.uint32).ravel()
    found = [
        outcome(bench, body, seed, values, launch, 64 * n).view(np.float32).reshape(64, n)
        for seed in range(3)
    ]
    return found, a @ b.T


@pytest.mark.parametrize("registers", [True, False])
@pytest.mark.parametrize("element", ["bf16", "f16"])
@pytest.mark.parametrize("n", [8, 16, 32, 64])
def test_products_of_a_warpgroup(bench: Emulator, n: int, element: str, registers: bool) -> None:
    """The second adds to what is on its way from the first; the first to nothing."""
    first, second = (wgmma(n, element, registers=registers, adds=adds) for adds in (0, 1))
    found, expected = product(bench, first + second, n, element)
    for one in found:
        np.testing.assert_array_equal(one, 2 * expected)
    if n == 16:
        found, expected = product(bench, second, n, element)
        np.testing.assert_array_equal(found[0], 1 + expected)


def test_groups_of_wgmma_are_waited_for_in_their_order(bench: Emulator) -> None:
    """Of two groups, each with accumulators of its own, the newer may still be on its way."""
    other = wgmma(16, "bf16", registers=False, adds=1).replace("(d[", "(e[")
    commit = 'asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");'
    wait = 'asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"({}) : "memory");'
    issue = (
        "float e[8] = {2, 2, 2, 2, 2, 2, 2, 2};" + wgmma(16, "bf16", registers=True, adds=1) + commit + other
    )
    first = "for (int i = 0; i < 8; i++) d[i] = FROM[i];" + wait.format(0)
    last = (('"n"(0)', '"n"(1)'), ("for (int i = 0; i < columns", first + "for (int i = 0; i < columns"))
    unfinished, _ = product(
        bench, issue, before=wait.format(1), behind="for (int i = 0; i < 8; i++) d[i] = e[i];"
    )
    finished, expected = product(bench, issue, behind="for (int i = 0; i < 8; i++) d[i] += e[i];")
    np.testing.assert_array_equal(finished[0], 3 + 2 * expected)
    np.testing.assert_array_equal(unfinished[0], 2 + expected)
    for source, result in (("d", 1 + expected), ("e", np.full_like(expected, np.nan))):
        changes = (last[0], (last[1][0], last[1][1].replace("FROM", source)))
        for one in product(bench, issue, changes=changes)[0]:
            np.testing.assert_array_equal(one, result)


def test_two_warpgroups_multiply_apart(bench: Emulator) -> None:
    """Each has a B of its own; the one that lacks a warp does not take the other's."""
    launch = Launch(blocks=1, threads=256, cluster=1, shared_memory=8192)
    issue = wgmma(16, "bf16", registers=True, adds=0)
    for one in product(bench, f"if (thread < 128) {{ {issue} }} else {{ {issue} {issue} }}", launch=launch)[
        0
    ]:
        np.testing.assert_array_equal(one, product(bench, issue)[1])
    with pytest.raises(EmulationError, match="waits for the other warps of its warpgroup, in wgmma"):
        product(bench, f"if (thread < 96 || thread >= 128) {{ {issue} }}", launch=launch)


FENCED = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");'
REGISTERS, SHARED = (wgmma(16, "bf16", registers=registers, adds=1) for registers in (True, False))
OVERWRITE_B, OVERWRITE_A = (
    "if (thread == 9) shared_memory[1024] = 0;",
    "if (thread == 9) shared_memory[0] = 0;",
)
READS = "it writes what a wgmma of warp [0-9] .* reads, and no barrier"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ((('asm volatile("wgmma.fence.sync.aligned;" ::: "memory");', ""),), "wgmma without wgmma.fence"),
        ((('"n"(0)', '"n"(1)'),), "ended without waiting for its wgmma"),
        (
            (('asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");', ""),),
            "ended without waiting for its wgmma",
        ),
        ((("BEFORE", "d[3] += 1.0f;"),), "was changed or moved before"),
        ((("BEFORE", OVERWRITE_B),), READS),
        ((("BEFORE", OVERWRITE_A),), READS),
        ((("BEFORE", "__syncthreads();" + OVERWRITE_B),), READS),
        ((("BEHIND", OVERWRITE_B),), READS),
        (((FENCED, ""),), NO_PROXY_FENCE),
        (((FENCED + "\n  __syncthreads();", "__syncthreads();" + FENCED),), NO_PROXY_FENCE),
        (((FENCED + "\n  __syncthreads();", FENCED),), RACE),
        (((FENCED + "\n  __syncthreads();", FENCED + "__syncwarp();"),), RACE),
        ((("b_matrix = ", "b_matrix = 1ull << 62 | "),), "asks for a swizzle"),
        ((("a_matrix = ", "a_matrix = 2ull << 62 | "),), "asks for a swizzle"),
        ((("b_matrix = ", "b_matrix = 1ull << 49 | "),), "has bits that must be 0"),
        ((("b_matrix = ", "b_matrix = 1ull << 14 | "),), "has bits that must be 0"),
        ((("descriptor(4096", "descriptor(8064"),), "access at byte [0-9]+ of 8192"),
        ((("descriptor(4096", "descriptor(4096 + lane / 31 * 16"),), "different matrix descriptors"),
        ((('"r"(1)', '"r"(static_cast<int>(lane != 4))'),), "some threads of a warpgroup want wgmma to add"),
    ],
)
def test_mistakes_with_wgmma_are_found(
    bench: Emulator, changes: tuple[tuple[str, str], ...], message: str
) -> None:
    words = {"BEFORE": "", "BEHIND": ""} | dict(change for change in changes if change[0].isupper())
    rest = tuple(change for change in changes if not change[0].isupper())
    with pytest.raises(EmulationError, match=message):
        product(bench, SHARED, before=words["BEFORE"], behind=words["BEHIND"], changes=rest)


def test_wgmma_of_the_wrong_threads_or_accumulators_is_found(bench: Emulator) -> None:
    both = f"if (thread < 64) {{ {SHARED} }} else {{ {REGISTERS} }}"
    with pytest.raises(EmulationError, match="come to different wgmma"):
        product(bench, both)
    with pytest.raises(EmulationError, match="not one of four of a warpgroup"):
        product(bench, SHARED, launch=Launch(blocks=1, threads=96, cluster=1, shared_memory=8192))
    with pytest.raises(EmulationError, match=r"comes to wgmma while other lanes|comes to .* wait in wgmma"):
        product(bench, f"if (lane != 6) {{ {SHARED} }} else __syncwarp();")
    with pytest.raises(EmulationError, match="takes accumulators of another one"):
        product(bench, SHARED + wgmma(8, "bf16", registers=True, adds=1))


def test_wgmma_with_wrong_strides_is_wrong_and_with_a_barrier_b_may_be_overwritten(bench: Emulator) -> None:
    found, expected = product(
        bench, SHARED, changes=(("descriptor(0, 128, 272)", "descriptor(0, 272, 128)"),)
    )
    assert not np.array_equal(found[0], 1 + expected)
    found, expected = product(bench, SHARED, behind="__syncthreads();" + OVERWRITE_B + OVERWRITE_A)
    np.testing.assert_array_equal(found[0], 1 + expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{%0, %1,", "{%1, %0,"),
        ("%8, %9, adds", "%9, %8, adds"),
        ("m64n16k16", "m64n24k16"),
        ("m64n16k16", "m64n8k16"),
        ("bf16.bf16", "bf16.f16"),
        ("adds, 1, 1, 0, 0;", "adds, 1, 1, 0;"),
        ("setp.ne.b32 adds, %10", "setp.ne.b32 adds, %9"),
        ('"+f"(d[7])', '"+f"(d[7]), "+f"(d[6])'),
        ('"l"(b_matrix)', '"l"(lane)'),
        ('"+f"(d[7])', '"+r"(a_words[0])'),
    ],
)
def test_wgmma_texts_that_no_assembler_takes_do_not_compile(bench: Emulator, old: str, new: str) -> None:
    assert old in SHARED
    with pytest.raises(EmulationError, match="refused the kernel"):
        product(bench, SHARED.replace(old, new))
