"""The three commands with standard streams that are closed or full, and with Ctrl-C at any moment.

Exit code 1 means that nothing fits, and 2 that the input is wrong: what else may happen has another one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MODEL = "x in 1..3\n"
NONE = "x in 1..3; x > 4\n"
FLAT = "var 1..3: x :: output_var;\nsolve satisfy;\n"
REQUEST = "lstm --gpu h100_sxm --heads 4 --head-dim 64 --batch 16 --dtype bf16".split()  # noqa: SIM905
COMMANDS = {
    "solve": ("constrint", ["solve", "-"], MODEL, 0),
    "solve in JSON": ("constrint", ["solve", "-", "--json"], MODEL, 0),
    "solve in vain": ("constrint", ["solve", "-"], NONE, 1),
    "check": ("constrint", ["check", "-"], MODEL, 0),
    "convert": ("constrint", ["convert", "-", "-", "--to", "json"], MODEL, 0),
    "fmt": ("constrint", ["fmt", "-"], MODEL, 0),
    "space": ("constrint", ["space", "-"], MODEL, 0),
    "version": ("constrint", ["--version"], "", 0),
    "help": ("constrint", ["solve", "--help"], "", 0),
    "flatzinc": ("fzn_constrint", [], FLAT, 0),
    "flatzinc help": ("fzn_constrint", ["--help"], "", 0),
    "profile": ("kerneltune", ["profile", "show", "h100_sxm"], "", 0),
    "tile": ("kerneltune", ["tile", *REQUEST, "--json"], "", 0),
    "kerneltune version": ("kerneltune", ["--version"], "", 0),
    "wrong": ("constrint", ["solve", "-"], "x = 3", 2),
    "wrong request": ("kerneltune", ["tile", "nocell", *REQUEST[1:]], "", 2),
    "no command": ("kerneltune", ["nothing"], "", 2),
}
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")


def started(name: str, redirected: str = "") -> tuple[list[str], str, int]:
    """A command in a shell that redirects its streams, its input, and its exit code if nothing is wrong."""
    command, words, text, code = COMMANDS[name]
    program = f"import sys; sys.argv[0] = {command!r}; import constrint_commands as all; all.{command}()"
    return ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-c", program, *words], text, code


def ran(name: str, redirected: str) -> subprocess.CompletedProcess[str]:
    command, text, _ = started(name, redirected)
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("redirected", [">&-", pytest.param("> /dev/full", marks=FULL)])
def test_an_answer_that_cannot_be_written_is_an_error_of_its_own(name: str, redirected: str) -> None:
    done = ran(name, redirected)
    if COMMANDS[name][3] == 2:
        assert done.returncode == 2
        return
    assert done.returncode == 4, done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: cannot write the answer: ")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("redirected", ["2>&-", pytest.param("2> /dev/full", marks=FULL)])
def test_messages_that_nobody_can_read_change_nothing(name: str, redirected: str) -> None:
    done = ran(name, redirected)
    assert done.returncode == COMMANDS[name][3]
    assert done.stderr == ""
    if "--json" in COMMANDS[name][1]:
        json.loads(done.stdout)


@pytest.mark.parametrize("name", ["solve", "flatzinc", "fmt"])
def test_closed_input_is_no_empty_model(name: str) -> None:
    done = ran(name, "<&-")
    assert done.returncode == 2
    assert done.stderr == "error: cannot read -: bad file descriptor\n"
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["solve", "flatzinc", "tile"])
def test_all_streams_closed(name: str) -> None:
    done = ran(name, "<&- >&- 2>&-")
    assert done.returncode == (4 if name == "tile" else 2)
    assert (done.stdout, done.stderr) == ("", "")


def test_files_do_not_take_the_place_of_closed_streams(tmp_path: Path) -> None:
    """A file that is opened first would have number 1, and would get the answer."""
    path = tmp_path / "model.lp"
    command, text, _ = started("convert", ">&-")
    done = subprocess.run(
        [*command[:-5], "convert", "-", str(path)], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert path.read_text().startswith("\\")


@pytest.mark.parametrize("name", ["help", "flatzinc help", "kerneltune version", "tile"])
def test_a_reader_that_has_gone_is_no_error(name: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command, text, _ = started(name)
    done = subprocess.run(command, input=text, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.returncode == 128 + signal.SIGPIPE
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["solve", "flatzinc", "tile", "no command"])
def test_ctrl_c_at_any_moment_leaves_no_traceback(name: str) -> None:
    """From the command's first line on: before it, Python itself starts, which no program can change."""
    command, text, code = started(name)
    command[5:6] = ["-c"]
    command[6] = command[6].replace(
        "import constrint_commands as all;", "import constrint_commands as all; sys.stderr.write('begun\\n');"
    )
    codes = set()
    for milliseconds in range(0, 400, 40):
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            process.stdin.write(text)
            process.stdin.close()
            assert process.stderr.readline() == "begun\n"
            time.sleep(milliseconds / 1000)
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
            ended = process.wait(60)
            # At its very end Python lets the signal end it, which shells report as 130.
            codes.add(130 if ended == -signal.SIGINT else ended)
        assert "Traceback" not in said, said
    assert codes <= {130, code}
    assert 130 in codes


@pytest.mark.parametrize("place", ["weakref.ref(thing, lost)", "vars(thing).update(__del__=lost)"])
def test_ctrl_c_where_nothing_can_be_raised_is_not_lost(place: str) -> None:
    """Python calls such code between any two steps: when a module is imported or an object freed."""
    program = f"""
import signal, time, weakref
from constrint.support.command import run_command

class Thing:
    def __del__(self):
        self.__dict__.get("__del__", int)()

def lost(*_):
    signal.raise_signal(signal.SIGINT)
    return len("the signal is handled here")

def main():
    thing = Thing()
    kept = {place}
    del thing
    time.sleep(30)
    return 0

run_command(main)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_ignored_ctrl_c_stays_ignored() -> None:
    """As a shell starts commands in the background."""
    command, text, code = started("solve")
    command[2] = 'trap "" INT; exec "$@"'
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(3):
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
        output, _ = process.communicate(text, timeout=60)
    assert process.returncode == code
    assert output == "x = 1\n"
