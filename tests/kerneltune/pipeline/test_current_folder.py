"""Children of kerneltune, started in a folder with hostile files beside a kernel: none of these is run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hostile_folder import ROOT, hostile, run_there

import kerneltune.pipeline.stages as stages
from kerneltune.running import case_maker


def children() -> list[str]:
    """The modules that children run: the second words of commands whose first is `MODULE`."""
    found = set()
    for path in Path(ROOT, "kerneltune").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Tuple) and getattr(node.elts[:1] and node.elts[0], "id", "") == "MODULE":
                found.add(ast.literal_eval(node.elts[1]))
    return sorted(found)


def test_all_children_are_known() -> None:
    commands = [stages.COMPILE_CHILD, stages.MEASURING_CHILD, case_maker.WORKER]
    assert children() == sorted(command[1] for command in commands)


EACH = """
from kerneltune.running.child_process import MODULE, ChildProcess, SilentError
enter()
for job in (b"", b'{"kernels_root": ".", "trials": [], "case": ".", "kind": "callable"}\\n'):
    with ChildProcess((MODULE, %r), job) as child:
        try:
            print(child.line(60))
        except SilentError as error:
            print(error)
"""
REFERENCES = """
from pathlib import Path
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.problem import Problem
from kerneltune.running.case_maker import make_case
enter()
case = Path("case.files")
case.mkdir()
problem = Problem("lstm", heads=2, head_dim=16, batch=2, steps=3, dtype="fp32")
make_case(problem, discover(), 1, case, workers=2)
print(len(list(case.iterdir())))
"""
COMPILING = """
from kerneltune.messages import Built, Order
from kerneltune.running.children import Child
from kerneltune.pipeline.stages import COMPILE_CHILD
enter()
child = Child(COMPILE_CHILD)
order = Order(kind="cuda", configuration={}, source="__global__ void f() {}", entry="f", cache=False)
answer = child.ask(order, Built, 60)
assert isinstance(answer, Built) or "NVRTC cannot be loaded" in answer.failure, answer
print("seconds")
child.end()
"""
MEASURING = """
import numpy
from kerneltune import InOut, tune
sys.path.append(os.getcwd())
import kernels_of_a_user
enter()
done = tune(kernels_of_a_user.double, params={"n": [1, 2]}, arguments=[InOut(numpy.ones(4))], timed=2)
print(done.best.configuration)
"""
USERS = "import json, beside\n\n\ndef double(data, n):\n    data *= beside.times * n\n    json.dumps(n)\n"


@pytest.mark.parametrize("module", children())
def test_no_child_runs_code_of_the_current_folder(tmp_path: Path, module: str) -> None:
    mark = hostile(tmp_path / "here")
    run_there(tmp_path / "here", EACH % module, KERNELTUNE_CACHE_DIR=str(tmp_path / "cache"))
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize(
    ("program", "tells"),
    [(REFERENCES, "7"), (COMPILING, "seconds"), (MEASURING, "{'n'")],
    ids=["references", "compiling", "measuring"],
)
def test_no_work_of_a_child_runs_code_of_the_current_folder(tmp_path: Path, program: str, tells: str) -> None:
    """A user's functions are found in the folder with the files that they import, after all other modules."""
    mark = hostile(tmp_path / "here")
    (tmp_path / "here" / "kernels_of_a_user.py").write_text(USERS, encoding="utf-8")
    (tmp_path / "here" / "beside.py").write_text("times = 2\n", encoding="utf-8")
    said = run_there(tmp_path / "here", program, KERNELTUNE_CACHE_DIR=str(tmp_path / "cache"))
    assert not mark.exists(), mark.read_text()
    assert tells in said, said
