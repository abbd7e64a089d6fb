"""Tuning, its store and its report, with a stand-in for the process that runs kernels."""

import json
import math
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from agreeing import agrees
from click.testing import CliRunner
from msgspec import structs

from kerneltune.cli.main import app
from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.cubin_cache import CubinCache
from kerneltune.errors import InputError, KernelTuneError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile, profile_names
from kerneltune.inputs.problem import Problem
from kerneltune.running.detect import DeviceFacts, matching
from kerneltune.tiling.space import TilingSpace
from kerneltune.tuning.memory import row_of, trial_key
from kerneltune.tuning.report import make_report
from kerneltune.tuning.store import Store
from kerneltune.tuning.tuner import Tuned, TuneOptions, tune

# Answers each trial with a time: the model's second choice is the fastest; counts its trials in a file.
CHILD = """
import json, os, sys
sys.stdin.readline()
with open({log!r} + ".asked", "a") as log:
    log.write("x")
print(json.dumps({gpu!r}), flush=True)
for request in map(json.loads, sys.stdin):
    with open({log!r}, "a") as log:
        log.write("x")
    cycles = request["order"]["candidate"]["values"]["cycles"]
    if cycles == {dies}:
        os.abort()
    if cycles == {refused}:
        print(json.dumps({{"message": "Failed", "failure": "no GPU here"}}), flush=True)
        continue
    ms = 2.0 if cycles == {second} else 3.0 + cycles / 1e6
    timing = {{"median": ms, "fastest": ms, "spread": 0.0, "samples": 1}}
    print(json.dumps({{"message": "Answer", "timing": timing, "relative_error": 1e-3}}), flush=True)
"""


def failed(reason: str, code: int) -> dict[str, object]:
    return {"message": "Failed", "failure": reason, "exit_code": code}


class Tuning:
    """The best tilings of a small LSTM, with a child that pretends to run them."""

    def __init__(self, folder: Path, cubins: Path) -> None:
        problem = Problem("lstm", heads=2, head_dim=16, batch=4, dtype="bf16", steps=8)
        self.space = TilingSpace(problem, load_profile("h100_sxm"), discover(), "block")
        self.compiler = Compiler(self.space.kernels, self.space.profile, cache=CubinCache(cubins))
        self.store = Store(folder / "trials.sqlite")
        self.log = folder / "log"
        self.candidates = self.space.candidates(4)

    def run(
        self, dies: int = -1, refused: int = -1, gpu: dict[str, object] | None = None, **options: float
    ) -> Tuned:
        gpu = gpu or {"message": "Facts", "device": "pretended", "compute_capability": "9.0"}
        cycles = sorted({candidate.cycles for candidate in self.candidates})
        code = CHILD.format(log=str(self.log), dies=dies, refused=refused, second=cycles[1], gpu=gpu)
        child = (sys.executable, "-c", code)
        return tune(self.space, self.compiler, self.store, TuneOptions(top=4, **options), child=child)  # type: ignore[arg-type]

    @property
    def trials(self) -> int:
        return len(self.log.read_text())


@pytest.fixture(scope="module")
def cubins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cubins")


@pytest.fixture
def tuning(tmp_path: Path, cubins: Path) -> Tuning:
    return Tuning(tmp_path, cubins)


def test_tuning_ranks_and_remembers(tuning: Tuning) -> None:
    first = tuning.run()
    assert len(first.trials) == 4
    assert tuning.trials == 4
    times = [trial.time for trial in first.ranked]
    assert times == sorted(times)  # type: ignore[type-var]
    assert times[0] == 2.0
    assert first.first_choice is not None
    assert first.first_choice.rank > 1
    assert first.first_choice.loss == pytest.approx((3.0 + first.trials[0].candidate.cycles / 1e6) / 2 - 1)
    agrees({"status": "passed", "gpu": "h100_sxm", "store": "s", **first.to_json()}, "tune CELL")
    outcomes = [trial.reported() for trial in first.trials]
    agrees({"status": "passed", "gpu": "h100_sxm", "seed": 1, "outcomes": outcomes}, "run")
    again = tuning.run()
    assert tuning.trials == 4
    assert again.from_store == 4
    assert again.ranked == first.ranked
    tuning.run(again=True)
    assert tuning.trials == 8
    assert len(tuning.store.tilings()) == 4


def test_nothing_is_compiled_where_nothing_can_run(tuning: Tuning, tmp_path: Path) -> None:
    tuning.compiler = Compiler(tuning.space.kernels, tuning.space.profile, cache=CubinCache(tmp_path))
    for gpu, exit_code, reason in (
        (failed("running kernels needs the extra 'gpu'", 2), 2, "needs the extra 'gpu'"),
        (failed("no GPU can be used", 1), 1, "no GPU can be used"),
        (
            {"message": "Facts", "device": "T4", "compute_capability": "7.5"},
            *(2, "GPU is a T4 of .* the tiling is for h100_sxm"),
        ),
    ):
        with pytest.raises(KernelTuneError, match=reason) as caught:
            tuning.run(gpu=gpu)  # type: ignore[arg-type]
        assert caught.value.exit_code == exit_code
    assert not (tmp_path / "cubins").exists()


def test_what_the_store_has_needs_no_gpu(tuning: Tuning) -> None:
    tuning.run()
    asked = tuning.log.with_name("log.asked")
    asked.unlink()
    assert tuning.run(gpu=failed("no GPU can be used", 1)).from_store == 4
    assert not asked.exists()


def test_a_stored_trial_is_ranked_by_the_model_of_today(tuning: Tuning) -> None:
    before = tuning.run()
    cost = tuning.space.profile.cost
    costs = {**cost, "block_step_cycles": cost["block_step_cycles"] + 10}
    dearer = structs.replace(tuning.space.profile, cost=costs)
    tuning.space = replace(tuning.space, profile=dearer)
    again = tuning.run()
    assert again.from_store == 4
    for old, new in zip(before.trials, again.trials, strict=True):
        assert new.candidate.cycles == old.candidate.cycles + 10
        assert new.time == old.time
        assert new.ratio == pytest.approx(old.ratio * old.candidate.cycles / new.candidate.cycles)  # type: ignore[operator]


def test_what_died_stays_lost_and_what_was_refused_is_tried_again(tuning: Tuning) -> None:
    cycles = sorted(candidate.cycles for candidate in tuning.candidates)
    found = tuning.run(dies=cycles[0], refused=cycles[-1])
    assert {trial.failure is None for trial in found.trials} == {True, False}
    died = [trial for trial in found.trials if trial.died]
    assert died
    assert tuning.run().from_store == 4 - cycles.count(cycles[-1])


def test_what_hung_is_tried_again_with_more_time(tuning: Tuning, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what crashed is not; nor is what hung, with the same limit or a lower one."""
    cycles = sorted(candidate.cycles for candidate in tuning.candidates)
    tuning.run(dies=cycles[-1])
    ran = tuning.trials
    (row,) = [row for row in tuning.store.tilings() if row.trial.candidate.cycles == cycles[0]]
    hung = replace(row.trial, objectives={}, failure="hung", died=True, limit=120.0)
    tuning.store.add(row.key, row_of(hung, "content"))
    assert tuning.run().from_store == 4
    assert tuning.run(timeout=90.0).from_store == 4
    assert tuning.trials == ran
    again = tuning.run(timeout=300.0)
    assert tuning.trials == ran + 1
    assert again.from_store == 3
    assert len(again.ranked) == 3
    assert len(tuning.store.tilings()) == 4


def test_another_kernel_compiler_or_request_is_another_trial(tuning: Tuning) -> None:
    candidate = tuning.candidates[0]
    keys = {
        trial_key("content", candidate),
        trial_key("other content", candidate),
        trial_key("content", tuning.candidates[1]),
        trial_key("content", replace(candidate, problem=replace(candidate.problem, steps=9))),
        trial_key("content", replace(candidate, gpu="another")),
    }
    assert len(keys) == 5
    # What the cost model says of a candidate is not what it is.
    other_costs = replace(candidate, values={**candidate.values, "cycles": 7, "step_cycles": 7})
    assert trial_key("content", other_costs) in keys
    assert trial_key("content", replace(candidate)) in keys


def test_the_report_sums_up(tuning: Tuning) -> None:
    tuning.run()
    report = make_report(tuning.store.tilings())
    (entry,) = report.problems
    assert (entry.tried, entry.failed) == (4, 0)
    assert entry.best is not None
    assert entry.best.time == 2.0
    assert (report.compared, report.first_is_fastest) == (1, 0)
    ratios = [row.trial.ratio for row in tuning.store.tilings()]
    squares = [math.log(ratio) ** 2 for ratio in ratios if ratio]
    assert report.residual == pytest.approx(math.sqrt(sum(squares) / 4), abs=1e-4)
    assert make_report(tuning.store.tilings("another GPU")).problems == ()


def test_the_command_prints_the_report(tuning: Tuning) -> None:
    tuning.run()
    answer = CliRunner().invoke(app, ["report", "--store", str(tuning.store.path), "--json"])
    assert answer.exit_code == 0
    document = json.loads(answer.stdout)
    assert document["model"]["compared"] == 1
    agrees(document, "report")
    shown = CliRunner().invoke(app, ["report", "--store", str(tuning.store.path)])
    assert "lstm 2×16" in shown.stdout


def test_a_store_that_is_none_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no database, but long enough to be looked at as one " * 30)
    with pytest.raises(InputError, match=r"notes\.txt"):
        Store(text)
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as connection:
        connection.execute("pragma user_version = 99")
    with pytest.raises(InputError, match="version 99"):
        Store(newer)
    missing = CliRunner().invoke(app, ["report", "--store", str(tmp_path / "none.sqlite")])
    assert missing.exit_code == 2


def test_a_store_is_made_by_whoever_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "trials.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as connection:  # as a second process sees it that looked before it was made
        connection.execute("pragma user_version = 0")
    assert Store(path).tilings() == []


@pytest.mark.parametrize("candidate", ["[]", "{", "{}", "null", '{"candidate": {}}'])
def test_a_damaged_trial_is_named(tmp_path: Path, candidate: str) -> None:
    store = Store(tmp_path / "trials.sqlite")
    store.close()
    with sqlite3.connect(store.path) as connection:
        row = ("abc", "2026", "lstm", "content", "", "{}", candidate)
        connection.execute("insert into kernels values (?, ?, ?, ?, ?, ?, ?)", row)
    shown = CliRunner().invoke(app, ["report", "--store", str(store.path)])
    assert shown.exit_code == 2
    assert "damaged trial abc" in shown.stderr


def test_profiles_are_found_by_facts() -> None:
    profiles = [load_profile(name) for name in ("h100_sxm", "a100_sxm_80gb", "t4")]
    h100 = profiles[0]
    facts = DeviceFacts(
        "NVIDIA H100",
        "9.0",
        h100.sm_count,
        h100.registers_per_sm,
        h100.smem_per_sm,
        h100.smem_per_block_optin,
        1,
    )
    assert matching(facts, profiles).profile == "h100_sxm"
    smaller = matching(replace(facts, sm_count=114), profiles)
    assert (smaller.profile, smaller.nearest) == (None, "h100_sxm")
    assert "h100_sxm" in smaller.sentence
    unknown = matching(replace(facts, compute_capability="12.0"), profiles)
    assert (unknown.profile, unknown.nearest) == (None, None)


@pytest.mark.parametrize(
    ("like", "name", "mebibytes"),
    [
        ("h100_sxm", "NVIDIA H100 80GB HBM3", 81079),
        ("h100_nvl", "NVIDIA H100 NVL", 95330),
        ("h200_sxm", "NVIDIA H200", 143156),
        ("h100_pcie", "NVIDIA H100 PCIe", 81079),
        ("a100_sxm_40gb", "NVIDIA A100-SXM4-40GB", 40339),
        ("a100_pcie_40gb", "NVIDIA A100-PCIE-40GB", 40339),
        ("a100_sxm_80gb", "NVIDIA A100-SXM4-80GB", 81051),
        ("a100_pcie_80gb", "NVIDIA A100 80GB PCIe", 81051),
    ],
)
def test_parts_with_the_same_chip_are_told_apart(like: str, name: str, mebibytes: int) -> None:
    profile = load_profile(like)
    limits = ("compute_capability", "sm_count", "registers_per_sm", "smem_per_sm", "smem_per_block_optin")
    facts = DeviceFacts(
        name=name,
        memory_bytes=mebibytes * 2**20,
        **{limit: getattr(profile, limit) for limit in limits},
    )
    assert matching(facts, [load_profile(name) for name in profile_names()]).profile == like
