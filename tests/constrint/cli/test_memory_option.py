"""``--memory`` holds in all that a command does: reading, building, and every method of solving."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import atexit, re, sys
from pathlib import Path
from constrint.cli.main import main
def peak(): return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1000
atexit.register(lambda: sys.stderr.write(f"peak {peak()} MB"))
main()
"""
# MB; the second is a start, and what is built between two looks: lists of domains, and their arrays.
LIMIT, OWN = 100, 125
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")

TEXTS = {
    "list": "x in 0..9\nsum([1..1000000]) == x",
    "set": "x in 0..9\n" + "x in {1..1000000}\n" * 9,
    "array": "x[1..1000, 1..900] in 0..9",
    "array of its own domains": "x[i in 1..1000, j in 1..900] in 0..i + j",
    "rows": f"x, y in 0..9\ntable([x, y], [{', '.join(f'[{i}, {i + 1}]' for i in range(400_000))}])",
    "numbers": f"x in 0..9\nl := [{', '.join(map(str, range(700_000)))}]\nsum(l) == x; x in l",
    "lines": "".join(f"x{i} in 0..9\n" for i in range(250_000)),
    "solving": "x[1..3000] in 1..3000\nall_different(x)\nsum(x) == 5",
}
OPTIONS = [
    ["--no-learn"],
    ["--learn"],
    ["--lns"],
    ["--restarts", "luby"],
    ["--workers", "2"],
    ["--count"],
    ["--all"],
]


def run(path: Path, *options: str) -> tuple[int, str, int]:
    """The exit code, what is said, and the peak in MB."""
    words = [sys.executable, "-c", PROGRAM, "solve", str(path), "--time-limit", "60", *options]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    said, _, peak = done.stderr.rpartition("peak ")
    return done.returncode, said, int(peak.split()[0])


@pytest.mark.parametrize("name", TEXTS)
def test_the_limit_holds_for_every_kind_of_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.constrint"
    path.write_text(TEXTS[name])
    code, said, peak = run(path, "--memory", str(LIMIT))
    assert code == 3, said
    assert "memory limit of 100,000,000 bytes" in said
    assert peak < LIMIT + OWN


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_the_limit_holds_for_every_method(tmp_path: Path, options: list[str]) -> None:
    path = tmp_path / "m.constrint"
    path.write_text(TEXTS["solving"] + ("\nminimize x[1]" if options == ["--lns"] else ""))
    code, said, peak = run(path, "--memory", str(LIMIT), *options)
    assert code == 3, said
    assert "memory limit" in said
    assert peak < LIMIT + OWN
