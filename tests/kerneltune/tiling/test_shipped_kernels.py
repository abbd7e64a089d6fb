"""The package's kernels: the compiler confirms each tiling's predictions, on every GPU."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from msgspec import structs

from kerneltune.cli.tables import _tensor_cores
from kerneltune.compiling.compile import Compiler
from kerneltune.errors import CompilationError, InfeasibleError, InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.hardware import load_profile, profile_names
from kerneltune.inputs.problem import Problem
from kerneltune.tiling.space import TilingSpace

KERNELS = discover()
HEADS_AND_DIMS = ((12, 64), (6, 128), (3, 256), (1, 512), (1, 768), (1, 1024))
MORE_DIMS = (16, 32, 48, 80, 96, 160, 320)
ODD_DIMS = (8, 24, 72, 200, 328)  # multiples of 8 that are none of 16
BATCHES = (1, 2, 8, 16, 64)
HALVES = [0, pytest.param(1, marks=pytest.mark.slow)]  # of what is compiled, the other one at night
PASSES = [
    (direction, name)
    for direction in ("forward", "training", "backward")
    for name in sorted(KERNELS.for_pass(direction).strategies)
]
DTYPE = {name: "bf16" if load_profile(name).mma_depth("bf16") else "fp16" for name in profile_names()}
# Profiles with an SM of their own, and those that say what differs from one of them.
ORIGINALS = [name for name in profile_names() if load_profile(name).based_on is None]
WITHOUT_PRODUCTS = [name for name in profile_names() if not load_profile(name).mma_depth(DTYPE[name])]
VARIANTS = [name for name in profile_names() if name not in {*ORIGINALS, *WITHOUT_PRODUCTS}]


def space(
    gpu: str,
    heads: int,
    head_dim: int,
    batch: int,
    strategy: str | None = None,
    cell: str = "lstm",
    direction: str = "forward",
) -> TilingSpace:
    problem = Problem(cell, heads, head_dim, batch, DTYPE[gpu], direction=direction)
    return TilingSpace(problem, load_profile(gpu), KERNELS, strategy)


def drawn_requests(gpu: str, count: int) -> list[tuple[int, int, int]]:
    everything = [
        (heads, dim, batch)
        for heads, dim in (*HEADS_AND_DIMS, *((2, dim) for dim in MORE_DIMS + ODD_DIMS))
        for batch in BATCHES
    ]
    return random.Random(f"requests on {gpu}").sample(everything, count)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize(("heads", "head_dim"), [*HEADS_AND_DIMS, *((1, dim) for dim in MORE_DIMS)])
def test_h100_has_a_tiling(heads: int, head_dim: int, batch: int) -> None:
    best = space("h100_sxm", heads, head_dim, batch).best()
    assert best.registers <= 255
    assert best.registers * best.threads <= 65536
    assert best.shared_memory <= 232448


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("gpu", ORIGINALS)
def test_drawn_tilings_keep_their_promises(gpu: str, half: int) -> None:
    compiler = Compiler(KERNELS, load_profile(gpu))
    compiled = 0
    for heads, head_dim, batch in drawn_requests(gpu, 8)[half::2]:
        for candidate in space(gpu, heads, head_dim, batch).candidates(2):
            report = compiler.compile(candidate).report
            assert report.broken_promises() == [], candidate
            compiled += 1
    assert compiled >= 2


@pytest.mark.parametrize("direction", ["training", "backward"])
@pytest.mark.parametrize("gpu", ORIGINALS)
def test_passes_of_training_keep_their_promises(gpu: str, direction: str) -> None:
    compiler = Compiler(KERNELS, load_profile(gpu))
    draw = random.Random(f"{direction} on {gpu}")
    for cell in sorted(KERNELS.cells):
        heads, head_dim, batch = draw.choice(drawn_requests(gpu, 20))
        for candidate in space(gpu, heads, head_dim, batch, cell=cell, direction=direction).candidates(1):
            assert compiler.compile(candidate).report.broken_promises() == [], candidate


@pytest.mark.parametrize("cell", sorted(set(KERNELS.cells) - {"lstm"}))
@pytest.mark.parametrize("gpu", ORIGINALS)
def test_other_cells_keep_their_promises(gpu: str, cell: str) -> None:
    compiler = Compiler(KERNELS, load_profile(gpu))
    drawn = random.Random(f"{cell} on {gpu}").sample(drawn_requests(gpu, 20), 2)
    for heads, head_dim, batch in [(4, 24, 3), *drawn]:
        for candidate in space(gpu, heads, head_dim, batch, cell=cell).candidates(1):
            assert compiler.compile(candidate).report.broken_promises() == [], candidate


@pytest.mark.parametrize("gpu", VARIANTS)
def test_variants_of_a_profile_have_tilings_that_keep_their_promises(gpu: str) -> None:
    profile = load_profile(gpu)
    assert ("cluster" in space(gpu, 2, 16, 4).refusals()) == (profile.cluster_max == 1)
    for heads, head_dim in HEADS_AND_DIMS:
        best = space(gpu, heads, head_dim, 16).best()
        assert best.shared_memory <= profile.smem_per_block_optin
        assert best.boost_mhz == profile.boost_mhz
    compiler = Compiler(KERNELS, profile)
    for direction in ("forward", "backward"):
        heads, head_dim, batch = random.Random(f"{direction} on {gpu}").choice(drawn_requests(gpu, 20))
        for candidate in space(gpu, heads, head_dim, batch, direction=direction).candidates(1):
            assert compiler.compile(candidate).report.broken_promises() == [], candidate


@pytest.mark.parametrize("gpu", WITHOUT_PRODUCTS)
def test_gpus_without_the_kernels_products_say_so(gpu: str) -> None:
    said = rf"fp16 has no tensor-core shape on {gpu} that kernels have, 16×8×k, but 8×8×4 only"
    with pytest.raises(InfeasibleError, match=said):
        space(gpu, 2, 64, 4).best()
    assert list(_tensor_cores(load_profile(gpu))) == ["fp16 (8×8×4)"]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize(
    ("gpu", "offset"), [("a10", 0), ("b200_sxm", 1), ("jetson_orin_nano_8gb", 1), ("rtx_5090", 0)]
)
def test_every_strategy_compiles_for_the_targets_of_variants(gpu: str, offset: int, half: int) -> None:
    """Every other one here, such that each is compiled for two targets."""
    profile = load_profile(gpu)
    assert profile.target not in {load_profile(name).target for name in ORIGINALS}
    compiler = Compiler(KERNELS, profile)
    for direction, name in PASSES[(offset + half) % 2 :: 2]:
        request = space(gpu, 2, 64, 5, name, direction=direction)
        found = request.candidates(1)
        assert len(found) == len(request.applicable())
        for candidate in found:
            assert compiler.compile(candidate).report.broken_promises() == [], candidate


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize(("direction", "name"), PASSES)
def test_each_strategy_keeps_its_promises(direction: str, name: str, half: int) -> None:
    compiler = Compiler(KERNELS, load_profile("h100_sxm"))
    compiled = 0
    for heads, head_dim in HEADS_AND_DIMS[half::2]:
        for candidate in space("h100_sxm", heads, head_dim, 16, name, direction=direction).candidates(1):
            assert compiler.compile(candidate).report.broken_promises() == [], candidate
            compiled += 1
    assert compiled


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
def test_heads_that_fit_nowhere_can_be_streamed(direction: str) -> None:
    """Up to 16384 units in one head; 64 rows of 8192 in one batch tile, so that R is read once a step."""
    compiler = Compiler(KERNELS, load_profile("h100_sxm"))
    for cell, head_dim, batch in (
        ("lstm", 8192, 64),
        ("lstm", 16384, 16),
        ("gru", 4096, 64),
        ("slstm", 3072, 5),
    ):
        wanted = space("h100_sxm", 1, head_dim, batch, cell=cell, direction=direction)
        best = wanted.of_strategy("streamed").best()
        assert compiler.compile(best).report.broken_promises() == [], best
        assert best.parameters["batch_tile"] >= batch


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
@pytest.mark.parametrize("dtype", ["bf16", "tf32"])
def test_large_products_are_left_to_the_library(direction: str, dtype: str) -> None:
    """From about 1024 units and 1024 rows on; small ones and small batches never are."""
    for head_dim, batch in ((2048, 256), (4096, 64), (1024, 1024)):
        problem = Problem("lstm", 1, head_dim, batch, dtype, direction=direction)
        best = TilingSpace(problem, load_profile("h100_sxm"), KERNELS).best()
        assert best.strategy == "product", (head_dim, batch)
        assert best.stepwise
    for heads, head_dim, batch in ((12, 64, 16), (1, 512, 64), (1, 1024, 16), (4, 256, 1)):
        problem = Problem("lstm", heads, head_dim, batch, dtype, direction=direction)
        best = TilingSpace(problem, load_profile("h100_sxm"), KERNELS).best()
        assert best.strategy != "product", (heads, head_dim, batch)


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
@pytest.mark.parametrize("cell", ["gru", "lstm", "elman"])
def test_few_rows_of_streamed_heads_are_predicted_as_sixteen(cell: str, direction: str) -> None:
    """They lie in fewer parts of L2 and arrive no sooner."""
    found = [
        space("h100_sxm", 1, 4096, batch, "streamed", cell=cell, direction=direction)
        .best()
        .microseconds_per_step
        for batch in (1, 4, 16)
    ]
    assert min(found[:2]) >= 0.8 * found[2]


@pytest.mark.parametrize("direction", ["forward", "training"])
def test_large_batches_are_for_warpgroups(direction: str) -> None:
    """Where products are what takes the time: two warpgroups, all batch rows of 1 × 768 at the same time."""
    compiler = Compiler(KERNELS, load_profile("h100_sxm"))
    for cell, head_dim, batch in (
        ("lstm", 768, 256),
        ("gru", 1024, 128),
        ("slstm", 512, 300),
        ("elman", 768, 512),
    ):
        best = space("h100_sxm", 1, head_dim, batch, "warpgroup", cell=cell, direction=direction).best()
        assert compiler.compile(best).report.broken_promises() == [], best
    best = space("h100_sxm", 1, 768, 256, direction=direction).best()
    assert (best.strategy, best.parameters["warpgroups"], best.values["resident_groups"]) == (
        "warpgroup",
        2,
        4,
    )
    assert space("h100_sxm", 1, 768, 16, direction=direction).best().strategy == "grid"
    assert "warpgroup" in space("a100_sxm_80gb", 1, 768, 256, direction=direction).refusals()


@pytest.mark.parametrize(
    ("cell", "head_dim", "batch", "row_warpgroups"),
    [("lstm", 768, 256, 1), ("lstm", 1024, 256, 2), ("gru", 512, 100, 1), ("slstm", 512, 300, 2)],
)
def test_backward_by_warpgroups_is_for_large_batches(
    cell: str, head_dim: int, batch: int, row_warpgroups: int
) -> None:
    named = space("h100_sxm", 1, head_dim, batch, "warpgroup", cell=cell, direction="backward").best()
    assert named.parameters["warpgroups"] == row_warpgroups
    assert Compiler(KERNELS, load_profile("h100_sxm")).compile(named).report.broken_promises() == []
    best = space("h100_sxm", 1, head_dim, batch, cell=cell, direction="backward").best()
    assert (best.strategy == "warpgroup") == (batch > 100)
    if batch > 100:
        assert best == named
    few = space("h100_sxm", 1, head_dim, 64, cell=cell, direction="backward").best()
    assert few.strategy == "grid"


@pytest.mark.parametrize(("head_dim", "units"), [(960, 24), (1024, 16), (1536, 16)])
def test_columns_of_r_that_warpgroups_keep_leave_room_for_a_ring(head_dim: int, units: int) -> None:
    asked = space("h100_sxm", 1, head_dim, 256, "warpgroup", direction="backward")
    fitting = [
        number
        for number in (8, 16, 24, 32)
        if asked.best_with(KERNELS.backward["warpgroup"], {"block_units": number})
    ]
    assert max(fitting) == units


def test_what_warpgroups_do_not_do_is_said() -> None:
    without = {name: strategy for name, strategy in KERNELS.backward.items() if name != "warpgroup"}
    problem = Problem("lstm", 1, 768, 256, "bf16", direction="backward")
    with pytest.raises(
        InputError, match="'warpgroup' has no backward pass: block, cluster, grid, product, streamed have"
    ):
        TilingSpace(problem, load_profile("h100_sxm"), replace(KERNELS, backward=without), "warpgroup")
    assert "nearest that works: --head-dim 768" in space("h100_sxm", 1, 776, 256, "warpgroup").why_empty()
    too_large = space("h100_sxm", 1, 4096, 256, "warpgroup", direction="backward").why_empty()
    assert "1.0 MiB of shared memory per block, h100_sxm allows 227 KiB" in too_large
    fp32 = TilingSpace(replace(problem, dtype="fp32"), load_profile("h100_sxm"), KERNELS, "warpgroup")
    assert "it is written for bf16, fp16, not fp32" in fp32.why_empty()


@pytest.mark.parametrize(
    ("direction", "name"),
    [pair for pair in PASSES if pair[0] != "training" and pair[1] != "product"],  # which has none
)
def test_a_wrong_size_of_shared_memory_does_not_compile(direction: str, name: str) -> None:
    """The assertion in each kernel is what makes the promised bytes exact."""
    fitting = [
        candidate
        for heads, head_dim in HEADS_AND_DIMS
        for candidate in space("h100_sxm", heads, head_dim, 16, name, direction=direction).candidates(1)
    ]
    more = {"shared_memory": fitting[0].shared_memory + 16}
    wrong = replace(
        fitting[0], values={**fitting[0].values, **more}, parameters={**fitting[0].parameters, **more}
    )
    with pytest.raises(CompilationError, match="static assertion failed"):
        Compiler(KERNELS, load_profile("h100_sxm")).compile(wrong)


def test_a_cell_that_contradicts_its_header_does_not_compile() -> None:
    """Each constant that a struct written by hand repeats."""
    best = space("h100_sxm", 1, 16, 4, "block", cell="slstm").best()
    right = KERNELS.cell("slstm")
    assert isinstance(right, EquationCell)
    assert right.override
    wrong = {
        "gates": ("i", "f"),
        "states": ("h", "c"),
        "saved_values": 3,
        "saved_states": 1,
        "backward_reads_hidden": True,
        "separate_gradients": True,
    }
    assert set(wrong) == set(right.device_constants())
    assert Compiler(KERNELS, load_profile("h100_sxm")).compile(best).report.broken_promises() == []
    for name, value in wrong.items():
        cell = EquationCell.of_texts(*right.texts)
        cell.__dict__["spec"] = structs.replace(right.spec, **{name: value})
        kernels = replace(KERNELS, cells={"slstm": cell})
        with pytest.raises(
            CompilationError, match=f"{name}: 'slstm' has {int(cell.device_constants()[name])}"
        ):
            Compiler(kernels, load_profile("h100_sxm")).compile(best)


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_turing_streams_what_does_not_fit(cell: str, direction: str) -> None:
    """Without asynchronous copies: any head dimension has a tiling, in fp16 alone."""
    compiler = Compiler(KERNELS, load_profile("t4"))
    for strategy in ("block", "grid", "streamed"):
        best = space("t4", 4, 64, 16, strategy, cell=cell, direction=direction).best()
        assert compiler.compile(best).report.broken_promises() == [], best
    large = space("t4", 1, 4096, 16, "streamed", cell=cell, direction=direction).best()
    assert (large.strategy, large.parameters["async_copy"]) == ("streamed", 0)
    assert compiler.compile(large).report.broken_promises() == []
    refused = TilingSpace(replace(large.problem, dtype="bf16"), load_profile("t4"), KERNELS)
    assert "bf16 has no tensor-core shape on t4 (sm_75)" in refused.why_empty()
    assert "nearest that works: --dtype fp16" in refused.why_empty()
