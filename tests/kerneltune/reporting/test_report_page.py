"""Results of users' kernels: listed, exported, shown live and on one page, from stored trials."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser, chromium, needs_chromium
from rich.console import Console

from kerneltune.errors import InputError
from kerneltune.inputs.hardware import load_profile
from kerneltune.pipeline.run import Budget, Progress
from kerneltune.pipeline.trial import Trial
from kerneltune.reporting.bench_page import bench_page_of
from kerneltune.reporting.importance import importances
from kerneltune.reporting.live import live_view, seconds_left, table_of
from kerneltune.reporting.page import Roof, page_of
from kerneltune.reporting.summary import TunedSummary, summarised
from kerneltune.tuning.memory import KernelMemory
from kerneltune.tuning.recorded import Recording, read_recording
from kerneltune.tuning.replay_bench import replay_each
from kerneltune.tuning.store import Store

H100 = "NVIDIA H100 80GB HBM3"


def trials(count: int = 60) -> list[Trial]:
    """Drawn ones: numbers, texts and truth values, some failed, one with text that would end a script."""
    draw = random.Random(3)
    found = []
    for i in range(count):
        tile, unroll, layout = 2 ** draw.randint(3, 7), draw.random() < 0.5, draw.choice("AB")
        configuration = {"tile": tile, "unroll": unroll, "layout": layout, "turn": i}
        if i % 9 == 5:
            found.append(Trial(configuration, failure="</script><b>registers & spills</b>\nmore"))
            continue
        time = 1 + abs(tile - 32) / 16 + draw.random()
        objectives = {"time": time, "gflops": 100 / time, "gbs": 40 / time + i % 7}
        resources = {"registers": 40, "shared_memory": 1024 * tile, "blocks_per_sm": 2, "threads": 256}
        predicted = time * (1 + 0.1 * draw.random()) if i > 8 else None
        more: dict[str, Any] = {"resources": resources, "predicted": predicted}
        found.append(Trial(configuration, objectives, spread=0.01, relative_error=1e-7, **more))
    return found


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.sqlite"
    with closing(Store(path)) as opened:
        memory = KernelMemory(opened, "matmul", "id", H100, {"m": 512})
        for trial in trials():
            memory.add(trial)
        KernelMemory(opened, "reduce", "id", "another", {}).add(Trial({"x": 1}, {"time": 2.0}))
    return path


def ask(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kerneltune.cli", "results", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def tuned(store: Path) -> TunedSummary:
    with closing(Store(store)) as opened:
        return summarised(opened.rows("matmul"))[0]


def test_results_are_listed_and_exported(store: Path, tmp_path: Path) -> None:
    options = ("--store", str(store))
    listed = ask(*options)
    assert listed.returncode == 0
    assert f"matmul on {H100}, m=512: 60 tried, 7 failed" in listed.stdout
    assert "reduce on another" in listed.stdout
    assert "  1 time 2 ms: x=1" in listed.stdout
    rates = ask("matmul", "--objective", "gflops", *options).stdout.splitlines()
    assert " GFLOP/s: " in rates[1]
    found = json.loads(ask("matmul", "--json", *options).stdout)["results"][0]["trials"]
    least = min(trial.objectives["time"] for trial in trials() if trial.passed)
    assert found[0]["objectives"]["time"] == pytest.approx(least)
    for option in ("--to-t4", "--to-cache"):
        path = tmp_path / option[2:]
        assert ask("matmul", option, str(path), *options).returncode == 0
        recording = read_recording(path)
        assert len(recording.outcomes) == 60
        assert recording.best().objectives["time"] == pytest.approx(least)


def test_what_is_asked_wrongly_is_said(store: Path, tmp_path: Path) -> None:
    wrong = {
        ("matmull",): "did you mean 'matmul'",
        ("matmul", "--device", "a100"): "results are of NVIDIA H100",
        ("--html", str(tmp_path / "a.html")): "name the kernel",
        ("matmul", "--html", str(tmp_path / "a.html"), "--objective", "joules"): "no objective 'joules'",
        ("matmul", "--html", str(tmp_path / "none" / "a.html")): "cannot write",
    }
    for words, said in wrong.items():
        done = ask(*words, "--store", str(store))
        assert done.returncode == 2
        assert said in done.stderr
    assert "has no results" in ask("--store", str(tmp_path / "empty.sqlite")).stderr


ROOF = Roof(3350.0, 64, 65536, 233472, 60000.0)
AXE = Path(__file__).parents[3] / "kerneltune" / "reporting" / "library" / "node_modules/axe-core/axe.min.js"


@needs_chromium
def test_the_page_in_a_browser(store: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(page_of(tuned(store), roof=ROOF), encoding="utf-8")
    with chromium() as browser:
        _look(browser, page)


def _look(browser: Browser, page: Path) -> None:
    browser.open(page)
    best = min((trial for trial in trials() if trial.passed), key=lambda trial: trial.objectives["time"])
    cells = "[...document.querySelectorAll('#best tbody tr')[0].children].map(c => c.textContent)"
    row = browser.value(cells)
    assert float(row[1]) == pytest.approx(best.objectives["time"], rel=1e-3)
    assert row[5:] == [_as_script(best.configuration[name]) for name in sorted(best.configuration)]
    assert browser.value("document.querySelector('h1').textContent") == f"matmul on {H100}, m=512"
    assert browser.value("document.querySelectorAll('#parameters svg').length") == 4
    assert browser.value("document.querySelectorAll('#convergence circle').length") == 53
    assert "registers & spills" in browser.value("document.querySelector('#failures table').textContent")
    assert browser.value("document.querySelectorAll('#failures svg').length") == 3  # turn has too many values
    assert "60,000 GFLOP/s of float32" in browser.value("document.querySelector('#roofline p').textContent")
    assert browser.value("document.querySelectorAll('#roofline path').length") > 0
    assert browser.value("document.querySelectorAll('#predicted circle').length") == 45
    agreement = browser.value("document.querySelector('#predicted p').textContent")
    assert 0.8 < float(agreement.split()[-1].rstrip(".")) <= 1.0
    resources = browser.value("document.querySelectorAll('#resources tbody tr')[0].textContent")
    assert "25 %31 %" in resources  # 16 of 64 warps, 20,480 of 65,536 registers
    shown = "document.querySelector('#kept').textContent"
    assert browser.value(shown) == "53 of 53 configurations shown."
    lists = "[...document.querySelectorAll('#coordinates label')].map(l => l.firstChild.textContent)"
    place = browser.value(lists).index("tile")
    browser.value(
        f"(() => {{ const s = document.querySelector('#keep-{place}'); s.value = '128';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    kept = sum(trial.passed and trial.configuration["tile"] == 128 for trial in trials())
    assert browser.value(shown) == f"{kept} of 53 configurations shown."
    browser.click("document.querySelector('#all')")
    assert browser.value(shown) == "53 of 53 configurations shown."
    assert browser.problems == []


@needs_chromium
@pytest.mark.parametrize("beside", [False, True])
def test_nothing_is_cut_and_all_can_be_read(store: Path, tmp_path: Path, beside: bool) -> None:
    """In both modes, at the width of a telephone and of a screen: labels are inside their section."""
    one = tuned(store)
    other = TunedSummary("matmul", "another", {"m": 512}, 1, tuple(trials(40)), "now") if beside else None
    page = tmp_path / "report.html"
    page.write_text(page_of(one, roof=ROOF, beside=other), encoding="utf-8")
    with chromium() as browser:
        for width, dark in ((400, False), (400, True), (1300, False), (1300, True)):
            browser.open(page, width, dark=dark)
            assert browser.value("document.documentElement.scrollWidth") <= width
            assert browser.value(CUT) == []
            assert browser.value(TOUCHING) == []
            assert barriers(browser) == []
            assert browser.value("document.querySelector('#beside') !== null") == beside
        assert browser.problems == []


def barriers(browser: Browser) -> Any:
    """What axe-core finds; nothing where it is not installed."""
    if not AXE.is_file():
        return []
    browser.value(AXE.read_text(encoding="utf-8") + "; true")
    return browser.value("axe.run().then(r => r.violations.map(v => v.id + ' ' + v.nodes[0].html))")


@needs_chromium
@pytest.mark.parametrize("objective", ["time", "time,energy"])
def test_the_page_of_compared_searches(tmp_path: Path, objective: str) -> None:
    outcomes = [
        replace(
            trial.outcome,
            objectives={"time": trial.objectives["time"], "energy": 9.0 - trial.objectives["time"]},
        )
        if trial.passed
        else trial.outcome
        for trial in trials()
    ]
    values = {name: sorted({one.configuration[name] for one in outcomes}) for name in ("tile", "turn")}
    params: dict[str, Any] = {**values, "unroll": [False, True], "layout": ["A", "B"]}
    recording = Recording("matmul", H100, params, tuple(outcomes))
    names = objective.split(",")
    rows = replay_each(recording, ["random", "exhaustive"], range(3), objective=objective)
    page = tmp_path / "bench.html"
    page.write_text(bench_page_of(f"matmul on {H100}", rows, names, len(outcomes)), encoding="utf-8")
    with chromium() as browser:
        for width, dark in ((400, False), (400, True), (1300, False), (1300, True)):
            browser.open(page, width, dark=dark)
            assert browser.value("document.documentElement.scrollWidth") <= width
            assert browser.value(CUT) == browser.value(TOUCHING) == []
            assert barriers(browser) == []
            cells = "[...document.querySelectorAll('#numbers tbody tr')].map(r => r.children[1].textContent)"
            assert browser.value(cells) == ["3 of 3", "3 of 3"]
            assert browser.value("document.querySelectorAll('#curves svg path').length") >= 4
            assert browser.value("document.querySelectorAll('#until svg circle').length") == 2
        assert browser.problems == []


TOUCHING = """[...document.querySelectorAll('section svg')].flatMap(svg => {
  const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent && !t.closest('.wide'));
  const boxes = texts.map(text => [text, text.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
    && !one.getAttribute('transform')?.includes('rotate(-40')
  ).map(([other]) => one.textContent + ' | ' + other.textContent));
})"""
CUT = """[...document.querySelectorAll('section svg text')].filter(text => {
  const box = text.getBoundingClientRect(), place = (text.closest('.wide') || text.closest('section'));
  const room = place.getBoundingClientRect(), left = place.scrollLeft || 0;
  const from = box.left + left - room.left, to = box.right + left - room.left;
  return box.width && (from < -1 || to > place.scrollWidth + 1);
}).map(text => text.textContent)"""


def test_roofs_are_both_or_none() -> None:
    known = Roof.of(load_profile("h100_sxm"))
    assert known.flops == pytest.approx(2e-3 * 128 * 132 * 1980)
    assert Roof.of(load_profile("t4")).flops == pytest.approx(2e-3 * 64 * 40 * load_profile("t4").boost_mhz)


def test_importance_finds_what_matters() -> None:
    draw = random.Random(5)
    found = []
    for _ in range(200):
        tile, unroll = draw.choice([8, 16, 32]), draw.choice([1, 2])
        one: dict[str, Any] = {"tile": tile, "unroll": unroll, "idle": draw.choice("abc")}
        found.append(Trial(one, {"time": 1 + abs(tile - 16) + 0.1 * unroll}))
    listed = importances(found, "time", ["idle", "tile", "unroll", "absent"])
    assert [one["name"] for one in listed] == ["tile", "unroll", "idle"]
    assert listed[0]["variance"] > 0.9
    assert listed[2]["variance"] < 0.05
    if listed[0]["trees"] is not None:
        assert sum(one["trees"] for one in listed) == pytest.approx(1.0)
    assert importances(found[:5], "time", ["tile"]) == []
    assert importances(found, "energy", ["tile"]) == []


def test_importance_needs_no_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    found = [Trial({"a": i % 3, "b": i % 2}, {"time": 1.0 + i % 3}) for i in range(60)]
    listed = importances(found, "time", ["a", "b"])
    assert listed[0] == {"name": "a", "variance": pytest.approx(1.0), "trees": None}
    assert listed[1]["variance"] < 0.01


def test_two_stores_are_shown_side_by_side(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with closing(Store(other)) as opened:
        memory = KernelMemory(opened, "matmul", "id", "another", {"m": 512})
        for trial in trials(20):
            memory.add(trial)
    page = tmp_path / "two.html"
    words = ("matmul", "--html", str(page), "--store", str(store))
    assert ask(*words, "--beside", str(other)).returncode == 0
    assert '"title":"matmul on another, m=512"' in page.read_text(encoding="utf-8")
    assert "--beside goes with --html" in ask("matmul", "--beside", str(other), "--store", str(store)).stderr


def test_fronts_are_of_what_is_measured_by_itself() -> None:
    found = [
        Trial({"x": i}, {"time": 1.0 + i, "energy": 9.0 - i, "gflops": 1 / (1 + i), "odd": 1.0 + i})
        for i in range(4)
    ]
    text = page_of(TunedSummary("k", "d", {}, 1, tuple(found), "now"))
    assert '"fronts":[{"name":"energy","unit":"J","turns":[0,1,2,3]},' in text
    assert '{"name":"odd","unit":"","turns":[0]}]' in text


def _as_script(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_pages_need_a_measurement() -> None:
    with pytest.raises(InputError, match="none of its trials passed"):
        page_of(TunedSummary("k", "d", {}, 1, (Trial({"x": 1}, failure="no"),), "now"))


def test_the_live_view_says_what_is_left() -> None:
    done = Trial({"x": 4}, {"time": 2.0})
    progress = Progress([done, Trial({"x": 5}, failure="no")], done, seconds=4.0, since_best=1)
    assert seconds_left(progress, Budget(evaluations=10)) == pytest.approx(16.0)
    assert seconds_left(progress, Budget(evaluations=10, seconds=5.0)) == pytest.approx(1.0)
    assert seconds_left(progress, Budget()) is None
    console = Console(record=True, width=100, force_terminal=True)
    with live_view(Budget(seconds=9.0), console=console) as notice:
        notice(done, progress)
    console.print(table_of(progress, Budget(seconds=9.0)))
    text = console.export_text()
    assert "2 (1 failed), 0.5 a second" in text
    assert "4 s, 5 s left" in text
    assert "time 2: x=4" in text


def test_what_is_not_finite_is_left_out() -> None:
    """JSON has no infinity: neither predictions nor spreads, errors, resources or parameters may hold it."""
    odd = Trial(
        {"x": math.inf, "y": 2},
        {"time": 1.0, "energy": math.nan},
        predicted=math.inf,
        spread=math.nan,
        relative_error=-math.inf,
        resources={"registers": math.inf},  # type: ignore[dict-item]
    )
    fine = Trial({"x": 1, "y": 2}, {"time": 2.0}, predicted=3.0)
    whole = page_of(TunedSummary("k", "d", {}, 2, (odd, fine), "now"))
    (page,) = [line for line in whole.splitlines() if line.startswith("const data = {")]
    for word in ("Infinity", "NaN"):
        assert f":{word}" not in page
        assert f"[{word}" not in page
    assert '"predicted":null' in page
    assert '"predicted":3.0' in page
