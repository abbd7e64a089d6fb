"""Recorded measurements are read, written, and searched without a GPU."""

from __future__ import annotations

import itertools
import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kerneltune.cli.main import app
from kerneltune.errors import InputError
from kerneltune.reporting.summary import summarised
from kerneltune.searching.base import SearchBudget
from kerneltune.searching.protocol import Outcome
from kerneltune.tuning.goals import Goals
from kerneltune.tuning.recorded import Recording, read_recording
from kerneltune.tuning.replaying import BEYOND, Attainment, hypervolume, replay
from kerneltune.tuning.store import Store


def recording() -> Recording:
    params: dict[str, Any] = {"x": [1, 2, 4, 8, 16, 32, 64], "y": [1, 2, 4, 8, 16], "kind": ["a", "b"]}
    outcomes = []
    for x in params["x"]:
        for y in params["y"]:
            for kind in params["kind"]:
                if int(x) * int(y) > 256:
                    continue
                time = 1 + abs(math.log2(x / 16)) + abs(math.log2(y / 4)) + (kind == "a")
                configuration: Any = {"x": x, "y": y, "kind": kind}
                if x == 64:
                    outcomes.append(Outcome(configuration, {}, "CompilationFailedConfig", 0.5, 0.0))
                else:
                    outcomes.append(Outcome(configuration, {"time": time}, None, 0.5, time / 100))
    return Recording("kernel", "GPU", params, tuple(outcomes))


def test_files_come_back(tmp_path: Path) -> None:
    given = recording()
    for data in (given.cache_file(), given.results_file()):
        path = tmp_path / "kernel.json"
        path.write_text(json.dumps(data))
        read = read_recording(path)
        assert read.tune_params == given.tune_params
        assert [one.configuration for one in read.outcomes] == [one.configuration for one in given.outcomes]
        assert [one.objectives for one in read.outcomes] == [one.objectives for one in given.outcomes]
        assert [one.failure is None for one in read.outcomes] == [
            one.failure is None for one in given.outcomes
        ]
        assert read.outcomes[0].compile_seconds == pytest.approx(0.5)


def test_a_cache_file_that_was_left_open_is_read_to_its_last_entry(tmp_path: Path) -> None:
    whole = json.dumps(recording().cache_file(), indent=1)
    path = tmp_path / "open.json"
    path.write_text(whole[: whole.rindex("},") + 30])
    read = read_recording(path)
    assert len(read.outcomes) == len(recording().outcomes) - 1
    assert replay(read, "exhaustive").best is not None


def test_kernel_tuner_reads_the_cache_file(tmp_path: Path) -> None:
    kernel_tuner = pytest.importorskip("kernel_tuner")
    given = recording()
    path = tmp_path / "cache.json"
    path.write_text(json.dumps(given.cache_file()))
    found, _ = kernel_tuner.tune_kernel(
        *("kernel", "void kernel() {}", [], [], given.tune_params),
        restrictions=["x * y <= 256"],
        cache=str(path),
        simulation_mode=True,
        strategy="brute_force",
        quiet=True,
        lang="C",
    )
    times = sorted(row["time"] for row in found if "__error__" not in row)
    assert times == pytest.approx(sorted(o.objectives["time"] for o in given.outcomes if not o.failure))


def test_a_replay_finds_the_best_and_repeats() -> None:
    given = recording()
    assert given.space().size == len(given.outcomes)
    one, other = (replay(given, seed=3, budget=SearchBudget(evaluations=30)) for _ in range(2))
    assert one.outcomes == other.outcomes
    assert one.until(1.0) is not None
    assert replay(given, "exhaustive").best == given.best()
    short = replay(given, "random", budget=SearchBudget(seconds=2.0))
    assert 1.5 <= sum(o.compile_seconds + o.run_seconds for o in short.outcomes) <= 2.7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "no JSON"),
        ("{}", "a cache file"),
        ('{"cache": {}, "tune_params": {}, "kernel_name": "k", "device_name": "d"}', "has no result"),
        ('{"results": [{"configuration": {"a": 1}}]}', "'invalidity' is missing"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        read_recording(path)
    assert str(path) in str(caught.value)


def test_the_command(tmp_path: Path) -> None:
    path, converted = tmp_path / "cache.json", tmp_path / "t4.json"
    path.write_text(json.dumps(recording().cache_file()))
    done = CliRunner().invoke(app, ["replay", str(path), "--evaluations", "30"])
    assert done.exit_code == 0
    assert "time 1 of at best 1 after 30" in done.stdout
    assert CliRunner().invoke(app, ["replay", str(path), "--to-t4", str(converted)]).exit_code == 0
    assert read_recording(converted).best().objectives == {"time": 1.0}
    wrong = CliRunner().invoke(app, ["replay", str(tmp_path / "absent.json")])
    assert wrong.exit_code == 2


def test_several_strategies_and_seeds_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "kernel.json"
    path.write_text(json.dumps(recording().cache_file()))
    ask = ["replay", str(path), "--strategy", "random", "--strategy", "exhaustive", "--seeds", "3"]
    done = CliRunner().invoke(app, [*ask, "--seed", "5", "--evaluations", "30", "--json"])
    assert done.exit_code == 0, done.output
    rows = {row["strategy"]: row for row in json.loads(done.stdout)["strategies"]}
    alone = [replay(recording(), "random", seed=s, budget=SearchBudget(evaluations=30)) for s in (5, 6, 7)]
    known = recording().best().objectives["time"]
    ratios = [one.best.objectives["time"] / known for one in alone if one.best is not None]
    assert rows["random"]["ratio"]["mean"] == pytest.approx(sum(ratios) / len(ratios))
    assert rows["random"]["near"] == sum(one.until(1.05 * known) is not None for one in alone)
    assert rows["random"]["ratio"]["low"] < rows["random"]["ratio"]["mean"] < rows["random"]["ratio"]["high"]
    assert rows["exhaustive"]["ratio"]["low"] == rows["exhaustive"]["ratio"]["high"]  # the same each time
    shown = CliRunner().invoke(app, [*ask, "--evaluations", "30"])
    assert "random" in shown.output
    assert "of 3" in shown.output
    none = CliRunner().invoke(app, [*ask, "--evaluations", "1", "--strategy", "nothing"])
    assert none.exit_code == 2
    assert "no strategy is named 'nothing'" in none.output


def with_energy() -> Recording:
    """Energy falls where the time grows, but for one axis."""
    given = recording()
    outcomes = [
        one
        if one.failure
        else replace(
            one,
            objectives={
                "time": one.objectives["time"],
                "energy": 20 / one.objectives["time"] + (one.configuration["kind"] == "b"),
                "gflops": 100 / one.objectives["time"],
            },
        )
        for one in given.outcomes
    ]
    return replace(given, outcomes=tuple(outcomes))


def hypervolume_by_points(points: list[tuple[float, ...]], steps: int = 60) -> float:
    """The share of a grid's cells that a point dominates."""
    edges = [(i + 0.5) * BEYOND / steps for i in range(steps)]
    cells = list(itertools.product(edges, repeat=len(points[0])))
    inside = sum(any(all(a <= b for a, b in zip(p, cell, strict=True)) for p in points) for cell in cells)
    return float(inside / len(cells) * BEYOND ** len(points[0]))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_hypervolumes_are_those_of_a_grid(axes: int) -> None:
    draw = random.Random(axes)
    for _ in range(5):
        points = [tuple(draw.random() * 1.3 for _ in range(axes)) for _ in range(6)]
        inside = [p for p in points if all(one < BEYOND for one in p)] or [(BEYOND,) * axes]
        assert hypervolume(points) == pytest.approx(hypervolume_by_points(inside), abs=0.06)


def test_a_replay_has_several_objectives() -> None:
    given = with_energy()
    found = replay(given, "exhaustive", objective="time,energy")
    attainment = Attainment(given, found.goals)
    curve = [one for one in attainment.after_each(found.trials) if one is not None]
    assert curve == sorted(curve)
    assert curve[-1] == pytest.approx(1.0)
    early = replay(given, "random", objective="time,energy", budget=SearchBudget(evaluations=5))
    (*_, last) = attainment.after_each(early.trials)
    assert last is not None
    assert 0 <= last < 1
    with pytest.raises(InputError, match="has one objective; tpe and nsga2 take several"):
        replay(given, "gaussian", objective="time,energy")
    with pytest.raises(InputError, match="no recorded result of kernel has the objective 'joules'"):
        Attainment(given, Goals.of("joules"))


def test_what_is_to_be_large_is_maximised() -> None:
    given = with_energy()
    most = max(one.objectives["gflops"] for one in given.outcomes if not one.failure)
    assert given.best("gflops").objectives["gflops"] == most
    found = replay(given, objective="gflops", budget=SearchBudget(evaluations=30))
    assert found.best is not None
    assert found.best.objectives["gflops"] == most
    curve = Attainment(given, found.goals).after_each(found.trials)
    assert curve[-1] == 1.0
    reached = found.until(most / 1.05)
    assert reached is not None
    ended = curve[reached - 1]
    assert ended is not None
    assert ended <= 1.05


def test_columns_and_rows_are_read(tmp_path: Path) -> None:
    path = Path(__file__).parents[3] / "benchmarks" / "results" / "h100_tuning_matmul.json"
    read = read_recording(path)
    assert (read.kernel, read.device) == ("matmul", "NVIDIA H100 80GB HBM3")
    assert len(read.outcomes) == 1188
    assert read.best().objectives["time"] == json.loads(path.read_text())["time"]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({"columns": ["a"], "rows": [[1]], "best": {"a": 1}}))
    with pytest.raises(InputError, match="'time_ms' is missing"):
        read_recording(wrong)


def test_runs_are_kept_and_shown(tmp_path: Path) -> None:
    path, store, page = tmp_path / "kernel.json", tmp_path / "s.sqlite", tmp_path / "page.html"
    path.write_text(json.dumps(with_energy().cache_file()))
    ask = ["replay", str(path), "--store", str(store), "--html", str(page), "--evaluations", "12"]
    runner = CliRunner()
    done = runner.invoke(app, ask)
    assert done.exit_code == 0, done.output
    assert "kernel on GPU, replayed by auto" in page.read_text()
    done = runner.invoke(app, [*ask, "--strategy", "random", "--strategy", "evolution", "--seeds", "2"])
    assert done.exit_code == 0, done.output
    assert '"title":"kernel on GPU"' in page.read_text()
    found = summarised(Store(store).rows())
    assert [one.device for one in found] == [
        "GPU, replayed by auto, seed 0",
        *(f"GPU, replayed by {name}, seed {seed}" for name in ("random", "evolution") for seed in (0, 1)),
    ]
    assert all(len(one.trials) == 12 for one in found)
    front = runner.invoke(app, [*ask, "--objective", "time,energy", "--strategy", "nsga2"])
    assert front.exit_code == 0, front.output
    assert "% of the hypervolume of the recorded front" in " ".join(front.output.split())
    several = runner.invoke(app, [*ask, "--objective", "time,energy", "--strategy", "random", "--seeds", "2"])
    assert several.exit_code == 0, several.output
    assert "hypervolume of the front" in several.output


def test_values_of_mixed_types_are_told_apart(tmp_path: Path) -> None:
    """As in a file of Kernel Tuner's own tests: 1 equals True, but is another value."""
    kinds: list[Any] = ["test", 1, True, 2.45]
    outcomes = [
        Outcome({"x": x, "mixed": mixed}, {"time": 1.0 + x + place}, None, 0.1, 0.1)
        for x in (1, 2, 3)
        for place, mixed in enumerate(kinds)
    ]
    given = Recording("k", "d", {"x": [1, 2, 3], "mixed": ["test", 1, True, 2.45]}, tuple(outcomes))
    path, other = tmp_path / "mixed.json", tmp_path / "t4.json"
    path.write_text(json.dumps(given.cache_file()))
    other.write_text(json.dumps(given.results_file()))
    assert read_recording(other).mixed == {"mixed"}
    read = read_recording(path)
    assert read.mixed == {"mixed"}
    assert read.space().size == 12
    for name in ("exhaustive", "gaussian", "evolution"):
        found = replay(read, name)
        tried = {repr(sorted(trial.configuration.items())) for trial in found.trials}
        assert len(tried) == len(found.trials)
        assert found.best is not None
        assert found.best.configuration == {"x": 1, "mixed": "test"}
    assert len(replay(read, "exhaustive", prior=read.outcomes).trials) == 12
