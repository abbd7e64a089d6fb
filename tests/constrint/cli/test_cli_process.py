"""The `constrint` command as a process: pipes, signals, and standard output with nothing but the answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-c", "from constrint.cli.main import main; main()"]
MANY = "x, y, z in 1..300; x + y + z >= 3\n"
ENDLESS = "x, y, z in 1..10 ** 7\nx ** 3 + y ** 3 == z ** 3 + 7 * x * y * z + 2 ** 61 + 1\n"


def run(*arguments: str, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], input=text, capture_output=True, text=True, timeout=60, check=False
    )


def let_work(process: subprocess.Popen[Any], seconds: float) -> None:
    """Wait until a process has used so many seconds of a processor: on a busy machine, that takes longer."""
    if not Path("/proc/self/stat").exists():
        time.sleep(2 * seconds)
        return
    while process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") >= seconds:
            return
        time.sleep(0.05)


def test_reads_from_a_pipe_and_answers_in_json_alone() -> None:
    result = run("solve", "--json", "-", text="x in 1..9; x * x == 49")
    assert result.returncode == 0
    assert json.loads(result.stdout)["values"] == {"x": 7}
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("text", "code"),
    [("x in 1..2", 0), ("x in 1..2; x == 3", 1), ("x in 1..2; x = 3", 2), ("x in 1..2; y == 3", 2)],
)
def test_exit_codes(text: str, code: int) -> None:
    result = run("solve", "-", text=text)
    assert result.returncode == code
    assert "Traceback" not in result.stderr
    assert bool(result.stderr) == (code == 2)


def test_numbers_of_any_length_are_printed() -> None:
    result = run("solve", "-", text="x in 2 ** 13000..; y in 0..9; x <= 2 ** 13000; z := x * x * y; y == 9\n")
    assert result.returncode == 0
    # Python itself refuses to print such numbers by default, so look at the digits from behind.
    last_line = result.stdout.splitlines()[2]
    assert len(last_line) == len("z = ") + 7828
    assert last_line.endswith(f"{9 * 2**26000 % 10**50:050d}")


@pytest.mark.parametrize("options", [["--all"], ["--all", "--json"]])
def test_a_reader_that_stops_early_is_no_error(options: list[str]) -> None:
    process = subprocess.Popen(
        [*COMMAND, "solve", *options, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(MANY.encode())
    assert process.stdin is not None
    process.stdin.close()
    assert process.stdout is not None
    process.stdout.readline()
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    errors = process.stderr.read().decode()
    assert process.wait(timeout=60) == 128 + signal.SIGPIPE
    assert errors == ""
    assert process.stderr is not None
    process.stderr.close()


def test_interrupting_is_clean() -> None:
    process = subprocess.Popen(
        [*COMMAND, "solve", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdin is not None
    process.stdin.write(ENDLESS.encode())
    assert process.stdin is not None
    process.stdin.close()
    let_work(process, 1.5)
    assert process.stderr is not None
    assert process.poll() is None, process.stderr.read().decode()
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    output, errors = process.stdout.read().decode(), process.stderr.read().decode()
    assert process.wait(timeout=30) == 128 + signal.SIGINT
    assert "Traceback" not in errors
    assert "interrupted" in errors
    assert output == ""
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()


def test_interrupting_an_optimisation_gives_the_best_so_far() -> None:
    # Neighbouring products modulo a prime leave the bound of the goal far above what can be reached, so
    # no machine proves an optimum (the proof would visit about 60**24 assignments) before the signal.
    names = [f"x{i}" for i in range(24)]
    pairs = zip(names, [*names[1:], names[0]], strict=True)
    text = f"{', '.join(names)} in 0..60\nall_different({', '.join(names)})\n"
    text += f"maximize {' + '.join(f'({left} * {right}) % 61' for left, right in pairs)}\n"
    process = subprocess.Popen(
        [*COMMAND, "solve", "--json", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(text)
    assert process.stdin is not None
    process.stdin.close()
    let_work(process, 3.0)
    assert process.stderr is not None
    assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    answer = json.loads(process.stdout.read())
    assert process.wait(timeout=30) == 0
    assert answer["status"] == "feasible"
    assert len({answer["values"][name] for name in names}) == 24
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()


@pytest.mark.parametrize("module", ["constrint", "constrint.cli.main"])
def test_starting_imports_no_parser_and_no_compiler(module: str) -> None:
    probe = (
        f"import sys, {module}; print([m for m in ('lark', 'numba', 'sympy', 'rich') if m in sys.modules])"
    )
    command = [sys.executable, "-c", probe]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == "[]"
