"""A folder whose files have the names of what a process imports; each leaves a mark when it is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PACKAGES = ("constrint", "kerneltune", "numpy", "llvmlite", "highspy", "click", "msgspec", "yaml", "cuda")
MODULES = (
    *("json", "re", "os", "subprocess", "typing", "pathlib", "hashlib", "queue", "base64", "sitecustomize"),
    *("usercustomize", "pynvml", "pycuda", "torch", "triton", "numba", "platformdirs", "reference"),
)
PROGRAM = "import os\nwith open({mark!r}, 'a') as file:\n    file.write({name!r} + '\\n')\n"
ROOT = str(Path(__file__).parents[3])


def hostile(folder: Path, but: tuple[str, ...] = ()) -> Path:
    """Fill a folder; returns the file that has the names of what was run."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder.with_name(folder.name + ".ran")
    for name in (*PACKAGES, *MODULES):
        if name in but:
            continue
        place = folder / name / "__init__.py" if name in PACKAGES else folder / f"{name}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(PROGRAM.format(mark=str(mark), name=name), encoding="utf-8")
    for name in ("nvcc", "ptxas", "nvidia-smi", "c++"):
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> '{mark}'\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return mark


def run_there(folder: Path, program: str, *, timeout: float = 120.0, **words: str) -> str:
    """Run a program whose current folder this is, and which has it on its paths once all is imported.

    Returns its output. It begins without the folder, since nothing protects a process that Python starts
    there, nor what it imports by itself once the folder is on its path.
    """
    begun = (
        f"import sys; sys.path.insert(0, {ROOT!r})\n"
        "import os, constrint, kerneltune\n"
        "from contextlib import suppress\n"
        f"for name in {(*PACKAGES, *MODULES)}:\n"
        "    with suppress(ImportError): __import__(name)\n"
        "def enter():\n"
        "    sys.path.insert(0, '')\n"
        "    sys.path.insert(0, os.getcwd())\n"
        "    os.environ['PYTHONPATH'] = os.pathsep + os.environ.get('PYTHONPATH', '')\n"
        "    os.environ['PATH'] = os.pathsep + '.' + os.pathsep + os.environ['PATH']\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", begun + program],
        cwd=folder,
        env={**os.environ, **words},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
