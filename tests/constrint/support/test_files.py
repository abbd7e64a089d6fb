"""Users' files are read by one bounded way: no reader of either package opens them itself."""

from __future__ import annotations

import gzip
import os
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from constrint import LimitExceeded, Limits, Model, ModelError
from constrint.frontends.text.data import read_data
from constrint.solutions.solutionset import SolutionSet
from constrint.support.files import opened, read_file
from constrint.tuning.spaces import from_json
from kerneltune.errors import InputError
from kerneltune.inputs.files import json_text_of, text_of
from kerneltune.inputs.yamlfile import _parse
from kerneltune.tuning.cache_files import read_cache
from kerneltune.tuning.recorded import read_recording

ROOT = Path(__file__).resolve().parents[3]
OPENING = re.compile(
    r"\.read_text\(\s*(?:encoding|\"utf|\))|\.read_bytes\(\)|(?<!def )(?<![\w.])open\("
    r"|\.open\((?!\))|fdopen\(|np\.load\("
)
OWN = "our own files, in the package or in folders that no other user may write"
WRITTEN = "opened to be written"
ALLOWED = {
    "constrint/support/files.py": "the bounded reader",
    "constrint/support/limits.py": "memory that the system tells of this process",
    "constrint/support/own_files.py": OWN,
    "constrint/support/placing.py": WRITTEN,
    "constrint/support/command.py": "the null device, and standard streams",
    "constrint/engine/cache.py": OWN,
    "kerneltune/cells/syntax.py": OWN,
    "constrint/frontends/parsers.py": OWN,
    "constrint/cli/starting.py": OWN,
    "constrint/cli/language_server.py": "standard output",
    "constrint/solutions/table_files.py": WRITTEN,
    "constrint/integrations/kernel_tuner.py": WRITTEN,
    "constrint/learning/proof_log.py": WRITTEN,
    "constrint/diagrams/files.py": WRITTEN,
    "kerneltune/reporting/page.py": OWN,
    "kerneltune/measuring/case.py": OWN,
    "kerneltune/measuring/device_checks.py": OWN,
    "kerneltune/running/child_output.py": "the standard output of a child",
    "kerneltune/running/case_files.py": OWN,
    "kerneltune/running/scratch.py": OWN,
    "kerneltune/compiling/source.py": OWN,
    "kerneltune/compiling/cubin_cache.py": OWN,
    "kerneltune/compiling/ready.py": OWN,
    "kerneltune/compiling/compile.py": "what a compiler of ours has just written",
    "kerneltune/pipeline/counting.py": "what ncu has just written into a folder of ours",
    "kerneltune/compiling/bundle.py": "sqlite, which reads what it needs",
    "kerneltune/compiling/bundle_build.py": OWN,
    "kerneltune/cli/bundle.py": "sqlite, which reads what it needs",
    "kerneltune/sources/folder.py": "an array is mapped: it is as large as its file, which is a regular one",
}  # fmt: skip


def test_no_reader_opens_files_itself() -> None:
    found = set()
    for package in ("constrint", "kerneltune"):
        for path in (ROOT / package).rglob("*.py"):
            if OPENING.search(path.read_text(encoding="utf-8")):
                found.add(path.relative_to(ROOT).as_posix())
    assert found - ALLOWED.keys() == set(), "read users' files by constrint.support.files, or say why not"
    assert ALLOWED.keys() - found == set(), "no longer needed"


NAMES = ("a",)
READERS = {
    "model": Model.from_file,
    "data": lambda path: read_data([path.with_suffix(".json")]),
    "solutions": SolutionSet.load,
    "space": from_json,
    "kernel text": text_of,
    "kernel JSON": json_text_of,
    "profile": _parse,
    "cache": lambda path: read_cache(path, NAMES),
    "recording": read_recording,
}
REFUSED = (ModelError, InputError, OSError)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("constrint.support.limits.PATIENCE", "constrint.support.files.PATIENCE"):
        monkeypatch.setattr(module, 0.2)
    monkeypatch.setattr(read_file, "__defaults__", (read_file.__defaults__[0], 0.2))  # type: ignore[index]


@pytest.mark.parametrize("name", READERS)
def test_endless_and_silent_files_are_answered(tmp_path: Path, name: Any, impatient: None) -> None:
    folder, pipe, endless = tmp_path / "d.json", tmp_path / "p.json", tmp_path / "z.json"
    folder.mkdir()
    os.mkfifo(pipe)
    endless.symlink_to("/dev/zero")
    for path, said in ((folder, "directory"), (pipe, "nothing came"), (endless, "more than|no ")):
        started = time.perf_counter()
        with pytest.raises(REFUSED, match=said):
            READERS[name](path)  # type: ignore[operator]
        assert time.perf_counter() - started < 20


def test_the_message_names_the_size_and_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "long.constrint"
    path.write_text("#" * 1000)
    with pytest.raises(LimitExceeded, match=r"more than 500 bytes[^$]*--max-bytes"):
        Model.from_file(path, limits=Limits(bytes=500))
    with pytest.raises(InputError, match=r"long\.constrint: this has more than 500 bytes"):
        text_of(path, most=500)
    packed = tmp_path / "bomb.constrint.gz"
    packed.write_bytes(gzip.compress(b"#" * 10_000_000))
    with pytest.raises(LimitExceeded, match="bytes"):
        Model.from_file(packed, limits=Limits(bytes=500_000))


def test_lists_without_content_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("[" + "[]," * 3_000_001 + "0]")
    with pytest.raises(InputError, match="3,000,000 lists"):
        read_recording(path)


@pytest.mark.parametrize("ending", [".constrint", ".constrint.gz"])
def test_pipes_are_read_as_files_are(tmp_path: Path, ending: str) -> None:
    pipe = tmp_path / f"p{ending}"
    os.mkfifo(pipe)
    content = b"x in 3..3\n" * 1 + b"# a comment\n" * 50_000
    raw = gzip.compress(content) if ending.endswith("gz") else content

    def write() -> None:
        time.sleep(0.1)
        pipe.write_bytes(raw)

    writer = threading.Thread(target=write)
    writer.start()
    with opened(pipe) as file:
        assert b"".join(iter(lambda: file.read(1 << 16), b"")) == content
    writer.join()
    writer = threading.Thread(target=write)
    writer.start()
    assert Model.from_file(pipe).solve()["x"] == 3
    writer.join()


def test_handles_are_closed(tmp_path: Path) -> None:
    path = tmp_path / "m.constrint.gz"
    path.write_bytes(gzip.compress(b"x in 0..1"))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        Model.from_file(path)
        with pytest.raises(OSError, match="directory"):
            read_file(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before
