"""A process of its own compiles the engine, and nobody waits for it in vain."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from drawn_job_shops import draw_jobs, job_shop
from stepping_clock import Clock

from constrint import (
    Model,
    Status,
    all_different,
    sum_,
)
from constrint.engine import background_compile as compiling
from constrint.engine import cache, claims
from constrint.learning import compile_part, compiled_learning
from constrint.settings import DEFAULT
from constrint.support.deadline import Deadline


def shop() -> Model:
    m = job_shop(draw_jobs(4, 3, 3))
    xs = [m.int_var(f"x{i}", 0, 9) for i in range(10)]
    m.add(all_different(xs), sum_((i + 1) * x for i, x in enumerate(xs)) % 7 == 3)
    return m


class Compiler:
    """Stands for the other process."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.code: int | None = None

    def __call__(self, command: Any, **options: Any) -> Compiler:
        self.commands.append(command)
        return self

    def poll(self) -> int | None:
        return self.code


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compiler:
    """Nothing is compiled, and what would be started is noted."""
    compiler = Compiler()
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path / "constrint"])
    monkeypatch.setattr(cache, "_loaded", set())
    monkeypatch.setattr(subprocess, "Popen", compiler)
    monkeypatch.setattr(compiling, "_started", {})
    return compiler


def test_a_long_search_starts_one_compiler_and_does_not_wait_for_it(compiler: Compiler) -> None:
    never, soon = Deadline(), Deadline(100.0)
    assert not compiling.is_ready("learn", DEFAULT.search.seconds_before_compiling - 0.1, never)
    assert compiler.commands == []
    for spent in (DEFAULT.search.seconds_before_compiling, 3.0, 30.0):
        assert not compiling.is_ready("learn", spent, never)
        assert not compiling.is_ready("learn", spent, soon)
    assert [command[-1] for command in compiler.commands] == ["learn"]
    compiler.code = 1  # it failed: whoever has no limit compiles himself
    assert compiling.is_ready("learn", 3.0, never)
    assert not compiling.is_ready("learn", 3.0, soon)
    assert cache.write("learn", b"code")
    assert compiling.is_ready("learn", 3.0, soon)
    assert not compiling.is_ready("learn", 3.0, Deadline(compiling.LOADING / 2))


def test_no_compiler_is_started_beside_another(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    with claims.claimed("engine"):
        assert compiling.begin("engine")
        assert compiler.commands == []
    assert compiling.begin("engine")
    assert len(compiler.commands) == 1


def test_the_compiled_engine_is_not_waited_for_beyond_the_limit(
    compiler: Compiler, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "sleep", lambda _: None)
    for learn in (True, False):
        r = shop().solve(learn=learn, engine="compiled", time_limit=400)
        assert r.status is Status.UNKNOWN
    compiler.code = 0
    for part in ("engine", "learn"):
        cache.write(part, b"code")
        compiling.wait(part, Deadline(0.0))


def test_ctrl_c_ends_the_wait_for_a_compiler(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search ends without an answer, and the compiler goes on."""

    def press(_: float) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(compiling, "sleep", press)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for learn in (True, False):
        with pytest.raises(KeyboardInterrupt):
            shop().solve(learn=learn, engine="compiled")
    assert len(compiler.commands) == 2


def test_the_other_process_compiles_what_it_is_told(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    monkeypatch.setattr(compiled_learning, "load", lambda: loaded.append("learn"))
    monkeypatch.setattr("constrint.engine.compiled.load", lambda: loaded.append("engine"))
    monkeypatch.setattr("os.nice", lambda _: 0)
    monkeypatch.setattr("constrint.local_search.compiled_jumps.load", lambda: loaded.append("jumps"))
    at = "constrint.local_search.compiled_annealing.load"
    monkeypatch.setattr(at, lambda: loaded.append("annealing"))
    monkeypatch.setattr("constrint.relaxation.sums.compiled.load", lambda: loaded.append("cuts"))
    for part in ("engine", "learn", "jumps", "annealing", "cuts"):
        compile_part.main(part)
    assert loaded == ["engine", "learn", "jumps", "annealing", "cuts"]


@pytest.mark.timeout(900)  # the first use on a machine compiles
def test_a_process_of_its_own_fills_the_cache() -> None:
    command = [sys.executable, "-m", "constrint.learning.compile_part", "learn"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert cache.is_filled("learn")


@pytest.mark.parametrize("arguments", [[], ["motor"], ["engine", "learn"]])
def test_unknown_parts_are_bad_input(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "constrint.learning.compile_part", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "{engine,learn,jumps,annealing,cuts}" in done.stderr


def test_ctrl_c_while_machine_code_is_loaded_comes_afterwards() -> None:
    """LLVM's callbacks into Python swallow it, or the process dies."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - what is done before it comes
        with compiling.without_ctrl_c():
            signal.raise_signal(signal.SIGINT)
            done.append(1)
        signal.getsignal(signal.SIGINT)
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
