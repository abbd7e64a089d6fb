"""What is known of a kernel: the best configuration, headers, the command line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pretended import COMMANDS, tuned

from kerneltune.cli.main import with_folders
from kerneltune.errors import InputError
from kerneltune.tuning.best import best_known
from kerneltune.tuning.header import header_text
from kerneltune.tuning.store import Store


def test_the_best_of_the_nearest_sizes(tmp_path: Path) -> None:
    store = tmp_path / "s"
    tuned(store, sizes={"n": 1000})
    tuned(store, sizes={"n": 5000}, params={"x": [7], "BLOCK": [64]})
    exact = best_known("scale", {"n": 1000}, device="pretended", store=store)
    assert exact is not None
    assert (exact.configuration["x"], exact.time, exact.is_exact) == (5, 1.0, True)
    near = best_known("scale", {"n": 4000}, device="pretended", store=store)
    assert near is not None
    assert (near.configuration["x"], near.is_exact) == (7, False)
    assert best_known("other", {}, store=store) is None


def test_a_search_begins_with_what_is_known(tmp_path: Path) -> None:
    store = tmp_path / "s"
    tuned(store, sizes={"n": 1000}, strategy="exhaustive")
    more = {"sizes": {"n": 4000}, "strategy": "gaussian", "transfer": True}
    found = tuned(store, workers=1, evaluations=3, **more)
    assert found.best.configuration["x"] == 5
    assert found.trials[0].configuration["x"] in (4, 5, 6)


def test_sizes_of_a_header_are_named_in_their_declared_order(tmp_path: Path) -> None:
    tuned(tmp_path / "s", sizes={"n": 1, "m": 2, "k": 3})
    text = header_text("scale", tmp_path / "s", ["n", "m", "k"])
    assert re.search(r"struct Sizes \{\n  [a-z ]+ n;\n  [a-z ]+ m;\n  [a-z ]+ k;\n\};", text)
    numbers = [re.findall(r"\d", row) for row in re.findall(r"\{([^{}]*, [^{}]*, [^{}]*)\}", text)]
    assert ["1", "2", "3"] in numbers


def test_headers_compile_and_choose(tmp_path: Path) -> None:
    store = tmp_path / "s"
    tuned(store, sizes={"n": 1000})
    tuned(store, sizes={"n": 5000}, params={"x": [7], "BLOCK": [64]})
    header = tmp_path / "best.h"
    header.write_text(header_text("scale", store))
    with pytest.raises(InputError, match="no result of other"):
        header_text("other", store)
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    (tmp_path / "test.cpp").write_text(
        '#include "best.h"\nusing namespace kerneltune_scale;\n'
        'static_assert(best("pretended", {1000}).x == 5);\nstatic_assert(best("pretended", {5000}).x == 7);\n'
        'static_assert(best("other", {1}).BLOCK == 64);\nint main() {}\n'
    )
    subprocess.run([compiler, "-std=c++17", "-fsyntax-only", "test.cpp"], cwd=tmp_path, check=True)


def test_damaged_and_foreign_stores_are_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but long enough to be taken for one" * 10)
    with pytest.raises(InputError, match="cannot be opened"):
        Store(tmp_path / "text")
    store = tmp_path / "s"
    tuned(store)
    opened = Store(store)
    opened._connection.execute("update kernels set trial = '{}'")
    with pytest.raises(InputError, match=r"damaged trial [0-9a-f]* of 'scale'"):
        opened.rows()


def test_the_command_line_knows_folders(tmp_path: Path) -> None:
    (tmp_path / "kernel.yaml").write_text("")
    assert with_folders(["tune", str(tmp_path), "--json"])[0] == "tune-kernel"
    assert with_folders(["tune", "lstm", "--batch", "4"])[0] == "tune"
    done = subprocess.run(
        [sys.executable, "-m", "kerneltune.cli", "tune", str(tmp_path), "--gpu", "h100_sxm", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "kernel.yaml" in json.loads(done.stdout)["reason" if "reason" in done.stdout else "error"]
    assert COMMANDS.measure
