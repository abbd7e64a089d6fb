"""Cost constants from measured tilings: the solver's formulas are used, and known constants are recovered."""

# mypy: disable-error-code="union-attr"
from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from agreeing import agrees
from click.testing import CliRunner
from made import timed
from msgspec import structs

from kerneltune.cli.main import app
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.cost_model import CostModel, Tiling
from kerneltune.tiling.fit import Constant, fit, quality, with_costs
from kerneltune.tiling.space import TilingSpace
from kerneltune.tuning.memory import row_of, trial_key
from kerneltune.tuning.report import latest, make_report
from kerneltune.tuning.store import Store

KERNELS = discover()
H100 = load_profile("h100_sxm")
# The constants of a GPU that is pretended: some other than the profile's.
TRUTH = {
    **H100.cost,
    "block_step_cycles": 300,
    "block_group_centicycles": 2500,
    "mma_centicycles_each": 800,
    "grid_step_cycles": 1300,
    "grid_l2_bytes_per_sm_cycle": 20,
}


@cache
def drawn() -> list[Candidate]:
    """Tilings of two strategies."""
    found = []
    for strategy, shapes in (("block", ((12, 64), (6, 128))), ("grid", ((1, 512), (1, 768)))):
        for heads, dim in shapes:
            space = TilingSpace(Problem("lstm", heads, dim, 16, "bf16"), H100, KERNELS, strategy)
            found += space.draw(KERNELS.strategy(strategy), 6, seed=3)
    return found


def tilings_of(costs: dict[str, int], noise: float = 0.0) -> list[Tiling]:
    """The drawn tilings with the times that ``costs`` give."""
    model, draw = CostModel(H100, KERNELS), random.Random(1)
    found = []
    for candidate in drawn():
        cycles = model.cycles(Tiling.of(candidate, 1.0), costs) * (1 + draw.uniform(-noise, noise))
        found.append(Tiling.of(candidate, cycles * candidate.problem.steps / H100.boost_mhz / 1e3))
    return found


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
def test_a_formula_gives_what_the_solver_gave(direction: str) -> None:
    model = CostModel(H100, KERNELS)
    for strategy in KERNELS.for_pass(direction).strategies:
        for cell in ("lstm", "gru"):
            problem = Problem(cell, 2, 128, 7, "bf16", direction=direction)
            space = TilingSpace(problem, H100, KERNELS, strategy)
            for candidate in space.draw(space.kernels.strategy(strategy), 5, seed=1):
                tiling = Tiling.of(candidate, 1.0)
                assert model.cycles(tiling, H100.cost) == candidate.cycles
                assert model.costs_of(tiling) <= set(H100.cost)


def test_other_constants_give_what_a_profile_with_them_gives() -> None:
    other = structs.replace(H100, cost=TRUTH)
    for candidate in TilingSpace(Problem("lstm", 1, 768, 16, "bf16"), other, KERNELS, "grid").candidates(3):
        assert CostModel(H100, KERNELS).cycles(Tiling.of(candidate, 1.0), TRUTH) == candidate.cycles


def test_constants_are_found_again() -> None:
    model = CostModel(H100, KERNELS)
    found = fit(model, tilings_of(TRUTH))
    assert found.tilings == 24
    assert found.before.residual > 0.1
    assert found.after.residual < 0.02
    assert set(found.parts) == {"forward block", "forward grid"}
    constants = {constant.name: constant for constant in found.constants}
    for name in ("block_group_centicycles", "grid_step_cycles", "grid_l2_bytes_per_sm_cycle"):
        assert constants[name].before == H100.cost[name]
        # Some take turns for others in so few tilings, so they are near, not equal.
        off, was_off = (abs(math.log(c / TRUTH[name])) for c in (constants[name].after, H100.cost[name]))
        assert off < was_off / 2, name
    assert "cluster_step_cycles" not in constants  # no tiling has it
    assert found.after.requests == 4
    assert found.after.mean_loss < 0.01


def test_noise_leaves_a_residual_of_its_size() -> None:
    found = fit(CostModel(H100, KERNELS), tilings_of(TRUTH, noise=0.05))
    assert 0.01 < found.after.residual < 0.04
    assert found.after.worst < 1.1


def test_what_no_tiling_tells_is_held() -> None:
    block = [tiling for tiling in tilings_of(TRUTH) if tiling.strategy == "block"]
    found = fit(CostModel(H100, KERNELS), block)
    idle = [constant for constant in found.constants if not constant.tilings]
    assert all(constant.after == constant.before for constant in idle)
    assert not {constant.name for constant in found.constants} & {"grid_step_cycles", "split_centicycles"}


def test_only_some_constants_are_fitted() -> None:
    model = CostModel(H100, KERNELS)
    found = fit(model, tilings_of(TRUTH), ["grid_*", "join_centicycles"])
    names = {constant.name for constant in found.constants}
    assert names == {
        "grid_step_cycles",
        "grid_fragment_cycles",
        "grid_mark_cycles",
        "grid_smem_bytes_per_cycle",
        "grid_partial_centicycles",
        "grid_warp_centicycles",
        "grid_l2_bytes_per_sm_cycle",
        "grid_l2_bytes_per_cycle",
        "join_centicycles",
    }
    assert found.after.residual < found.before.residual
    with pytest.raises(InputError, match=r"no constant of the tilings matches gird_\*; they have block_"):
        fit(model, tilings_of(TRUTH), ["gird_*"])


def test_the_first_choice_is_judged_among_the_favourites() -> None:
    model = CostModel(H100, KERNELS)
    tilings = [t for t in tilings_of(dict(H100.cost)) if t.problem.head_dim == 768]
    order = sorted(tilings, key=lambda tiling: model.cycles(tiling, H100.cost))
    slow = [replace(order[0], milliseconds=1.2), replace(order[1], milliseconds=1.0)]
    last = replace(order[-1], milliseconds=0.5)
    judged = quality(model, [*slow, last], H100.cost, first=2)
    assert (judged.requests, judged.first_is_fastest) == (1, 0)
    assert judged.mean_loss == judged.worst_loss == pytest.approx(0.2)
    assert quality(model, [*slow, last], H100.cost).worst_loss == pytest.approx(1.4)


def test_tilings_of_older_constraint_files_are_left_out() -> None:
    tilings = tilings_of(TRUTH)
    old = [replace(t, values={n: v for n, v in t.values.items() if n != "batch_tile"}) for t in tilings[:3]]
    found = fit(CostModel(H100, KERNELS), [*old, *tilings[3:]])
    assert found.tilings == 21
    reason = "a measured tiling of 'block' has no batch_tile, which its constraint file now chooses"
    assert found.left_out == (f"3 left out: {reason}",)
    with pytest.raises(InputError, match="no timed tiling"):
        fit(CostModel(H100, KERNELS), old)


def test_a_profiles_text_keeps_its_comments() -> None:
    text = (data_folder("hardware_profiles") / "h100_sxm.yaml").read_text("utf-8")
    changed = with_costs(text, [Constant("group_centicycles", 5010, 77, 1)])
    assert changed.replace("\n  group_centicycles: 77 ", "\n  group_centicycles: 5010 ") == text
    assert changed != text
    with pytest.raises(InputError, match="no line for the cost 'unknown_cycles'"):
        with_costs(text, [Constant("unknown_cycles", 1, 2, 1)])


def stored(path: Path, tilings: list[Tiling]) -> Store:
    """A store with a trial of every tiling, each one of those drawn."""
    store = Store(path)
    for number, tiling in enumerate(tilings):
        (candidate,) = (one for one in drawn() if Tiling.of(one, tiling.milliseconds) == tiling)
        content = f"content {number}"
        store.add(trial_key(content, candidate), row_of(timed(candidate, tiling.milliseconds), content))
    return store


def test_from_a_store_to_a_profile_in_one_command(tmp_path: Path) -> None:
    store = stored(tmp_path / "trials.sqlite", tilings_of(TRUTH))
    profile = tmp_path / "h100_sxm.yaml"
    profile.write_text((data_folder("hardware_profiles") / "h100_sxm.yaml").read_text("utf-8"), "utf-8")
    words = ["fit", "--gpu", "h100_sxm", "--store", str(store.path), "--update", str(profile)]
    answer = CliRunner().invoke(app, [*words, "--json"])
    assert answer.exit_code == 0, answer.stderr
    data = json.loads(answer.stdout)
    agrees(data, "fit")
    assert data["tilings"] == 24
    assert data["parts"]["forward grid"]["residual_after"] < 0.01
    fitted = load_profile(str(profile)).cost
    assert fitted == {**H100.cost, **{entry["name"]: entry["after"] for entry in data["constants"]}}
    shown = CliRunner().invoke(app, [*words[:5]])
    entry = next(entry for entry in data["constants"] if entry["name"] == "grid_step_cycles")
    line = f"  grid_step_cycles: {entry['after']}  # was {entry['before']}; matters to 12 tilings"
    assert line in shown.stdout
    assert "after: root mean square" in shown.stdout
    both = CliRunner().invoke(app, [*words[:5], "--cell", "gru", "--cell", "lstm"])
    assert both.output == shown.output
    nothing = CliRunner().invoke(app, [*words[:5], "--cell", "gru"])
    assert nothing.exit_code == 2
    assert "no timed tiling" in nothing.stderr


def test_times_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    rows = [
        {
            "strategy": tiling.strategy,
            "problem": {"heads": 12, "head_dim": 64, "batch": 16, "dtype": "bf16", "steps": 1024},
            "parameters": {},
            "values": dict(tiling.values),
            "milliseconds": tiling.milliseconds,
        }
        for tiling in tilings_of(TRUTH)
        if (tiling.strategy, tiling.problem.head_dim) == ("block", 64)
    ]
    path.write_text(json.dumps({"rows": rows}), "utf-8")
    words = ["fit", "--gpu", "h100_sxm", "--json", "--results", str(path)]
    answer = CliRunner().invoke(app, words)
    assert json.loads(answer.stdout)["tilings"] == 6
    path.write_text(json.dumps({"rows": [{}]}), "utf-8")
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == 2
    assert "times.json has no rows of times" in refused.stderr


def test_the_last_trial_of_a_tiling_counts(tmp_path: Path) -> None:
    tilings = tilings_of(TRUTH)[:6]
    newer = [replace(tiling, milliseconds=tiling.milliseconds * 2) for tiling in tilings[:2]]
    store = stored(tmp_path / "trials.sqlite", [*tilings, *newer])
    trials = store.tilings()
    assert len({trial.key for trial in trials}) == 6 + len(newer)
    (found,) = latest(trials).values()
    assert len(found) == len({tuple(t.values.items()) for t in tilings})
    times = {trial.time for trial in found}
    assert times == {tiling.milliseconds for tiling in [*newer, *tilings[2:]]}


def test_the_report_has_the_worst_loss_among_the_favourites(tmp_path: Path) -> None:
    model = CostModel(H100, KERNELS)
    tilings = [t for t in tilings_of(dict(H100.cost)) if t.problem.head_dim == 768]
    order = sorted(tilings, key=lambda tiling: model.cycles(tiling, H100.cost))
    times = [1.2, 1.0, *[2.0] * (len(order) - 3), 0.5]
    store = stored(
        tmp_path / "trials.sqlite",
        [replace(tiling, milliseconds=time) for tiling, time in zip(order, times, strict=True)],
    )
    few, all_of_them = (make_report(store.tilings(), first) for first in (2, 20))
    assert few.worst_loss == pytest.approx(0.2)
    assert all_of_them.worst_loss == pytest.approx(1.4)
    assert all_of_them.problems[0].tried == len(order)
