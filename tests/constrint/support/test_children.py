"""Processes that are started: none runs code of the current folder, wherever the package is installed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hostile_folder import ROOT, hostile, run_there

SOURCES = sorted(
    path for package in ("constrint", "kerneltune") for path in Path(ROOT, package).rglob("*.py")
)
# Where names that start processes may stand, with the reason.
ALLOWED = {
    "constrint/support/children.py": "the one place",
    "constrint/cli/flatzinc.py": "tells MiniZinc where the command is",
    "kerneltune/cli/doctor.py": "shows which Python runs",
}
STARTERS = {
    "-m",
    *("sys.executable", "shutil.which", "os.system", "os.popen", "os.execv", "os.execvp", "os.spawnv"),
    *("os.posix_spawn", "multiprocessing.Process", "multiprocessing.get_context", "multiprocessing.Pool"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "runpy.run_module"),
}


def starters(path: Path) -> list[str]:
    """The places of a file where an interpreter or a program is looked for."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = f"{node.value.id}.{node.attr}" if is_dotted(node) else getattr(node, "value", None)  # type: ignore[attr-defined]
        if isinstance(name, str) and name in STARTERS:
            found.append(f"{path}:{node.lineno}: {name}")  # type: ignore[attr-defined]
    return found


def is_dotted(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)


def test_processes_are_started_in_one_way() -> None:
    """Who looks for an interpreter or a program elsewhere has to use `support/children.py`."""
    others = [path for path in SOURCES if str(path.relative_to(ROOT)) not in ALLOWED]
    assert not [place for path in others for place in starters(path)]
    assert starters(Path(ROOT, "constrint/support/children.py"))


COMPILING = """
from constrint.engine import background_compile as background
enter()
assert background.begin("jumps")
assert background._started["jumps"].wait(100) == 0
"""
SHARING = """
from constrint import Model
from constrint.parallel.processes import Processes
from constrint.parallel.share import search_share
enter()
model = Model()
x = model.int_vars("x", 8, 0, 7)
import constrint
model.add(constrint.all_different(x))
print(model.solve(maximize=x[0] - x[1], workers=2).status)
processes = Processes(1, search_share)
try:
    processes.submit(search_share, "{", "{").result()
except constrint.InternalError as error:
    print("a worker failed" in str(error))
processes.shutdown()
"""


@pytest.mark.parametrize("program", [COMPILING, SHARING], ids=["compiling", "sharing"])
def test_children_run_no_code_of_the_current_folder(tmp_path: Path, program: str) -> None:
    mark = hostile(tmp_path / "here")
    run_there(tmp_path / "here", program, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert not mark.exists(), mark.read_text()


CHILD = """
import sys, subprocess
from constrint.support.children import environment, python_command
program = "import constrint, numpy, json; print(constrint.__file__); print(constrint.Model().solve().status)"
done = subprocess.run(python_command(program), env=environment(), capture_output=True, text=True)
print(done.stdout + done.stderr)
"""


def installed(way: str, folder: Path) -> tuple[dict[str, str], Path]:
    """The package as a folder of `pip install --target` or a zip file: the environment and what holds it."""
    if way == "editable":
        return {}, Path(ROOT)
    if way == "zip":
        place = folder / "all.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for path in Path(ROOT, "constrint").rglob("*"):
                if path.suffix != ".pyc":
                    archive.write(path, path.relative_to(ROOT))
    else:
        place = folder / "target"
        shutil.copytree(Path(ROOT, "constrint"), place / "constrint", ignore=shutil.ignore_patterns("*.pyc"))
    return {"PYTHONPATH": str(place)}, place


@pytest.mark.parametrize("there", [False, True], ids=["elsewhere", "there"])
@pytest.mark.parametrize("way", ["editable", "target", "zip"])
def test_a_child_is_of_the_parents_installation(tmp_path: Path, way: str, there: bool) -> None:
    """Also where the current folder is the one that holds the package."""
    words, place = installed(way, tmp_path)
    begun = f"import sys; sys.path.insert(0, {str(place)!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", begun + CHILD],
        cwd=place if there and place.is_dir() else tmp_path,
        env={**os.environ, **words},
        capture_output=True,
        text=True,
        check=True,
    )
    file, status, *_ = done.stdout.splitlines()
    assert file.startswith(str(place)), done.stdout
    assert status == "Status.OPTIMAL", done.stdout


def test_a_removed_current_folder_is_no_obstacle(tmp_path: Path) -> None:
    program = CHILD.replace("import sys, subprocess", "import os, subprocess; os.rmdir(os.getcwd())")
    (tmp_path / "gone").mkdir()
    assert "OPTIMAL" in run_there(tmp_path / "gone", program)


@pytest.mark.parametrize("package", ["constrint", "kerneltune", "constrint.cli", "kerneltune.cli"])
def test_python_m_imports_nothing_more_from_the_current_folder(tmp_path: Path, package: str) -> None:
    """The package itself comes first; what commands import later is not looked for in the folder."""
    mark = hostile(tmp_path / "here", but=("constrint", "kerneltune"))
    for name in ("re", "json", "os", "typing", "pathlib", "subprocess", "hashlib", "queue", "base64"):
        (tmp_path / "here" / f"{name}.py").unlink()  # imported with the package, or before it: Python's part
    words = ["check", "-"] if package.startswith("constrint") else ["profile", "show", "h100_sxm"]
    done = subprocess.run(
        [sys.executable, "-m", package, *words],
        cwd=tmp_path / "here",
        input="x in 1..3",
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ran = set(mark.read_text().split()) if mark.exists() else set()
    assert ran <= {"sitecustomize", "usercustomize"}


def test_programs_are_not_taken_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from constrint.support.children import program_on_path

    hostile(tmp_path)
    monkeypatch.chdir(tmp_path)
    real = tmp_path / "bin"
    real.mkdir()
    for path in (f":.:{tmp_path}", ""):
        monkeypatch.setenv("PATH", path)
        assert program_on_path("nvcc") is None
    shutil.copy(tmp_path / "nvcc", real)
    monkeypatch.setenv("PATH", f":bin:{real}")
    assert program_on_path("nvcc") == str(real / "nvcc")
