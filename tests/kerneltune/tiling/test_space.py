"""Solving, ranking, explanations, and the register loop, on the stand-in kernels."""

# mypy: disable-error-code="arg-type"
import re
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.errors import CompilationError, InfeasibleError, InputError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

# A prediction that the compiler cannot keep.
LOW = ("24 + held", "held // 2 + 16")


def rewritten(folder: Path, kernels: Kernels, *changes: tuple[str, str]) -> Kernels:
    """The stand-in kernels with another constraint file."""
    import shutil

    root = folder / "kernels"
    shutil.copytree(kernels.root, root)
    path = root / "strategies" / "plain" / "tiling.constrint"
    text = path.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return discover(root)


def test_best_tiling(echo_space: TilingSpace) -> None:
    best = echo_space.best()
    assert best.parameters == {"head_dim": 64, "gates": 4, "batch_tile": 8, "held": 64}
    assert (best.threads, best.blocks, best.registers, best.cycles) == (256, 24, 88, 384)
    assert best.microseconds_per_step == pytest.approx(384 / 1980)
    assert set(echo_space.solve_seconds) == {"plain"}


def test_ranking_is_complete_and_in_order(echo_space: TilingSpace) -> None:
    found = echo_space.candidates(100)
    assert len(found) == 8  # two batch tiles, four numbers of held values
    assert [candidate.cycles for candidate in found] == sorted(candidate.cycles for candidate in found)
    assert len({tuple(candidate.parameters.items()) for candidate in found}) == 8
    assert echo_space.candidates(2) == found[:2]


def test_what_is_asked_of_one_strategy(echo_space: TilingSpace) -> None:
    assert replace(echo_space, strategy="plain").best() == echo_space.best()
    with pytest.raises(InputError, match="unknown strategy 'plane'"):
        replace(echo_space, strategy="plane")


def test_a_strategy_that_is_taken_by_name_only(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(tmp_path, echo_space.kernels)
    described = kernels.root / "strategies" / "plain" / "kernel.yaml"
    described.write_text(described.read_text(encoding="utf-8") + "by_name: true\n", encoding="utf-8")
    discover.cache_clear()
    space = replace(echo_space, kernels=discover(kernels.root))
    assert space.candidates(3) == []
    with pytest.raises(InfeasibleError, match="it is taken only where it is named"):
        space.best()
    assert space.of_strategy("plain").best() == echo_space.best()


def test_the_best_tiling_with_chosen_values(echo_space: TilingSpace) -> None:
    (plain,) = echo_space.applicable()
    found = echo_space.best_with(plain, {"held": 32})
    assert found is not None
    assert found.parameters == {**echo_space.best().parameters, "held": 32}
    assert echo_space.best_with(plain, {"held": 33}) is None


def test_dtype_without_tensor_cores_is_refused(echo_space: TilingSpace) -> None:
    space = replace(echo_space, profile=load_profile("t4"))
    assert space.refusals() == {"plain": "bf16 has no tensor-core shape on t4 (sm_75)"}
    with pytest.raises(InfeasibleError) as caught:
        space.best()
    assert "bf16 has no tensor-core shape on t4 (sm_75)" in str(caught.value)
    assert "nearest that works: --dtype fp16" in str(caught.value)
    assert space.for_problem(replace(space.problem, dtype="fp16")).candidates()


def test_too_many_threads_are_named(echo_space: TilingSpace) -> None:
    space = echo_space.for_problem(replace(echo_space.problem, head_dim=512))
    reason = space.why_empty()
    assert "plain: needs 2048 of threads per block, h100_sxm allows 1024" in reason
    assert "nearest that works: --head-dim 256" in reason


def test_two_shortages_are_named_together(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(tmp_path, echo_space.kernels, ("2 * batch_tile *", "200 * batch_tile *"))
    problem = replace(echo_space.problem, head_dim=512)
    reason = TilingSpace(problem, echo_space.profile, kernels).why_empty()
    assert "needs 1.6 MiB of shared memory per block, h100_sxm allows 227 KiB and needs 2048" in reason


def test_shared_memory_is_named(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(tmp_path, echo_space.kernels, ("2 * batch_tile *", "208 * batch_tile *"))
    reason = replace(echo_space, kernels=kernels).why_empty()
    assert "plain: needs 234 KiB of shared memory per block, h100_sxm allows 227 KiB" in reason
    assert "nearest that works: --head-dim 56" in reason


def test_registers_are_named(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(tmp_path, echo_space.kernels, ("24 + held", "248 + held"))
    reason = replace(echo_space, kernels=kernels).why_empty()
    assert "plain: needs 256 of registers per thread, h100_sxm allows 255" in reason


def test_a_file_without_a_result_is_named(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(tmp_path, echo_space.kernels, ("cluster := 1\n", ""))
    with pytest.raises(InputError, match=r"tiling\.constrint: 'cluster' is not defined"):
        replace(echo_space, kernels=kernels).best()


def test_an_error_in_a_file_has_its_place(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(tmp_path, echo_space.kernels, ("head_dim == 8 * warps", "head_dim == 8 * wraps"))
    with pytest.raises(InputError, match=r"tiling\.constrint:6:24"):
        replace(echo_space, kernels=kernels).best()


def test_a_kept_promise_needs_no_turn(echo_space: TilingSpace) -> None:
    settled = settle(echo_space, Compiler(echo_space.kernels, echo_space.profile))
    assert settled.tightenings == ()
    assert settled.compiled.report.broken_promises() == []


def test_too_low_a_prediction_is_tightened(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(tmp_path, echo_space.kernels, LOW)
    space = replace(echo_space, kernels=kernels)
    first = space.best()
    settled = settle(space, Compiler(kernels, space.profile))
    assert settled.tightenings
    assert "spills" in settled.tightenings[0].sentence
    assert settled.compiled.report.broken_promises() == []
    slack = sum(turn.added_registers for turn in settled.tightenings)
    assert settled.compiled.candidate.register_slack == slack
    assert settled.compiled.candidate.registers > first.registers
    assert settled.compiled.report.registers <= settled.compiled.candidate.registers


def test_the_loop_changes_the_tiling_where_registers_run_out(tmp_path: Path, echo_space: TilingSpace) -> None:
    """With room for few registers, more slack leaves no tiling that holds 64 values: another one is found."""
    kernels = rewritten(
        tmp_path,
        echo_space.kernels,
        LOW,
        ("registers <= max_registers_per_thread", "registers <= 72"),
    )
    space = replace(echo_space, kernels=kernels)
    settled = settle(space, Compiler(kernels, space.profile))
    assert space.best().parameters["held"] == 64
    assert settled.compiled.candidate.parameters["held"] == 32
    assert settled.compiled.report.broken_promises() == []


def test_a_tiling_that_spills_with_all_its_registers_is_left(tmp_path: Path, echo_space: TilingSpace) -> None:
    """Many steps of slack change neither it nor its registers."""
    needed = "needed := 24 + held + register_slack\nneeded <= max_registers_per_thread\nregisters := 48"
    kernels = rewritten(tmp_path, echo_space.kernels, ("registers := 24 + held + register_slack", needed))
    space = replace(echo_space, kernels=kernels)
    settled = settle(space, Compiler(kernels, space.profile))
    assert 1 <= len(settled.tightenings) <= 2
    assert settled.compiled.candidate.parameters["held"] < 64
    assert settled.compiled.report.broken_promises() == []


def test_the_loop_says_when_nothing_is_left(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(
        tmp_path,
        echo_space.kernels,
        LOW,
        ("held in {8, 16, 32, 64}", "held in {64}"),
        ("registers <= max_registers_per_thread", "registers <= 56"),
    )
    with pytest.raises(InfeasibleError, match=r"turn 1: plain .* spills"):
        settle(
            replace(echo_space, kernels=kernels),
            Compiler(kernels, echo_space.profile),
        )


def test_a_kernel_that_disagrees_with_its_constraints(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(tmp_path, echo_space.kernels, ("blocks_per_sm := 1", "blocks_per_sm := 3"))
    with pytest.raises(CompilationError, match="its constraint file and its kernel disagree"):
        settle(
            replace(echo_space, kernels=kernels),
            Compiler(kernels, echo_space.profile),
        )


def test_requests_of_any_size_are_answered(fake_kernels: Kernels) -> None:
    profile = load_profile("h100_sxm")
    for batch in (1, 7, 1000):
        best = TilingSpace(Problem("echo", 3, 48, batch, "fp16"), profile, fake_kernels).best()
        assert best.blocks == 3 * -(-batch // best.parameters["batch_tile"])


def test_a_folder_without_strategies_is_said(echo_space: TilingSpace) -> None:
    with pytest.raises(InputError, match=r"there is no strategy below .*fake_kernels"):
        replace(echo_space, kernels=replace(echo_space.kernels, strategies={}))


def test_arrays_beyond_device_memory_are_named(echo_space: TilingSpace) -> None:
    problem = replace(echo_space.problem, batch=10**9, steps=10**12)
    space = echo_space.for_problem(problem)
    assert space.candidates() == []
    reason = space.why_empty()
    assert "needs more than 1 EiB of device memory" in reason
    assert "W x [T,B,H,D,G] more than 1 EiB" in reason
    assert "h100_sxm has 85899345920 bytes (80.0 GiB) (memory_bytes)" in reason
    asked = re.search(r"nearest that works: --batch 1 --steps (\d+)$", reason)
    assert asked
    nearest = replace(problem, batch=1, steps=int(asked[1]))
    assert echo_space.for_problem(nearest).candidates()
    assert not echo_space.for_problem(replace(nearest, steps=nearest.steps + 1)).candidates()


def test_device_memory_to_the_byte(echo_space: TilingSpace) -> None:
    """One unit of memory decides: arrays counted by hand for 12 heads of 64, 4 gates, batch 16, 8 steps."""
    states = len(echo_space.cell.spec.states)
    need = 2 * (8 * 16 * 12 * 64 * 4 + states * 9 * 16 * 12 * 64 + 12 * 4 * 64 * 64 + 12 * 4 * 64)
    enough = structs.replace(echo_space.profile, memory_bytes=need)
    assert replace(echo_space, profile=enough).best().values["device_memory"] == need
    short = replace(echo_space, profile=structs.replace(enough, memory_bytes=need - 1))
    assert short.candidates() == []
    assert f"needs {need} bytes" in short.why_empty()
    assert "nearest that works: --batch 15" in short.why_empty()


def test_a_workspace_counts_as_device_memory(tmp_path: Path, echo_space: TilingSpace) -> None:
    kernels = rewritten(
        tmp_path, echo_space.kernels, ("cluster := 1\n", "cluster := 1\nworkspace := 2 ** 37 * batch\n")
    )
    space = replace(echo_space, kernels=kernels)
    assert space.candidates() == []
    assert re.search(r"plain: needs \d+ bytes \(2\.0 TiB\) of device memory, h100_sxm", space.why_empty())


def test_a_grid_has_a_largest_size(echo_space: TilingSpace) -> None:
    """With memory enough for any request, the number of blocks still has an end."""
    profile = structs.replace(echo_space.profile, memory_bytes=2**62)
    space = replace(echo_space, profile=profile).for_problem(
        replace(echo_space.problem, batch=2**33, heads=4, steps=1)
    )
    reason = space.why_empty()
    assert space.candidates() == []
    assert "needs 2147483648 of blocks in the grid, h100_sxm allows 2147483647" in reason
    assert f"nearest that works: --batch {2**33 - 16}" in reason
    assert space.for_problem(replace(space.problem, batch=2**33 - 16)).best().blocks == 2**31 - 4


def key_of(candidate: Candidate) -> tuple[object, ...]:
    return candidate.strategy, tuple(sorted(candidate.parameters.items()))


@pytest.mark.parametrize(
    ("problem", "gpu"),
    [
        (Problem("lstm", 12, 64, 16, "bf16"), "h100_sxm"),
        (Problem("gru", 1, 768, 64, "fp32", direction="backward"), "a100_sxm_80gb"),
        (Problem("elman", 2, 256, 8, "fp16", direction="training"), "t4"),
    ],
)
def test_a_list_of_all_ranks_as_solving_one_by_one_does(problem: Problem, gpu: str) -> None:
    """The same cycles in the same order; in equal cycles the same tilings, and the first is the same."""
    space = TilingSpace(problem, load_profile(gpu), discover())
    limit = 8
    listed = space.candidates(limit)
    solved: list[Candidate] = []
    for strategy in space.applicable():
        solved += space._best_of(strategy, space.model(strategy), limit)
    solved.sort(key=lambda candidate: candidate.cycles)
    solved = solved[:limit]
    assert [candidate.cycles for candidate in listed] == [candidate.cycles for candidate in solved]
    assert len({key_of(candidate) for candidate in listed}) == len(listed)
    below = solved[-1].cycles  # of what is as good as the last, not all are taken
    for found, wanted in ((listed, solved), (solved, listed)):
        others = {key_of(candidate): candidate for candidate in wanted}
        for candidate in found:
            if candidate.cycles < below:
                assert others[key_of(candidate)].values == candidate.values
    assert key_of(listed[0]) == key_of(space.best())
    assert [key_of(c) for c in space.candidates(3)] == [key_of(c) for c in listed[:3]]


def test_a_space_that_is_too_large_to_list_is_solved_one_by_one(echo_space: TilingSpace) -> None:
    listed = echo_space.candidates(6)
    assert len(listed) > 3
    unlisted = replace(echo_space, longest_list=2)
    assert [c.cycles for c in unlisted.candidates(6)] == [c.cycles for c in listed]


def test_more_than_there_are_is_all(echo_space: TilingSpace) -> None:
    everything = echo_space.candidates(10_000)
    strategy = echo_space.applicable()[0]
    assert len(everything) == len({key_of(candidate) for candidate in everything})
    assert len(everything) == echo_space.model(strategy).solutions().size  # each differs in a parameter
    assert echo_space.candidates(len(everything)) == everything
