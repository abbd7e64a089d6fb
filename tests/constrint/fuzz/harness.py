"""The contract of every format: an input is read, or refused with its place, in bounded time and memory.

A format is a module `fuzz/format_NAME.py` with one `FORMAT = Format(…)`, and a folder `fuzz/corpus/NAME` of
files with one input each: samples for mutation, and former findings (`found-*`), which are run every time.
Inputs come from the grammar (a hypothesis strategy), from the corpus, and from its mutations (`mutate`). They
run in a child process (`child`) in batches; a child that dies is replaced, and the batch continues after the
input that killed it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutate import mutations

FOLDER = Path(__file__).parent
CORPUS = FOLDER / "corpus"
SECONDS, MEGABYTES = 2.0, 1000  # of processor time and memory that one input may take
NAME = "<fuzz>"
"""The file name that inputs are read under: an error must name it, as it must name the place."""


@dataclass(frozen=True)
class Format:
    """A format under test.

    Attributes:
        name: Its name, and that of its folder in the corpus.
        read: Reads the bytes of an input, under the file name `NAME`; raises a `ConstrintError` for bad
            input. What it returns is given to `use`.
        use: What is done with an input that is accepted: check it, write it, solve it within a short time.
        grammar: Gives a hypothesis strategy of inputs (text or bytes) that are nearly right.
        words: Words of the format, which mutations insert.
        refusals: Errors other than `ConstrintError` that are clean refusals in this format.
        path_like: Whether the place of an error is a path in the document; otherwise a line is needed.
    """

    name: str
    read: Callable[[bytes], Any]
    use: Callable[[Any], None]
    grammar: Callable[[], Any]
    words: Sequence[str]
    refusals: tuple[type[Exception], ...] = ()
    path_like: bool = False


@dataclass(frozen=True)
class Finding:
    """An input that was not answered as it should be.

    Attributes:
        format: Name of the format.
        kind: "traceback", "no place", "time", "memory" or "died".
        detail: The end of the traceback, or the message.
        data: The input.
    """

    format: str
    kind: str
    detail: str
    data: bytes

    @property
    def file_name(self) -> str:
        """A name for the input in the corpus."""
        return f"found-{self.kind.replace(' ', '-')}-{hashlib.sha256(self.data).hexdigest()[:10]}"

    def __str__(self) -> str:
        shown = self.data if len(self.data) <= 300 else self.data[:150] + b" ... " + self.data[-150:]
        return f"{self.format}: {self.kind}: {self.detail}\n    {len(self.data)} bytes: {shown!r}"


def formats() -> list[str]:
    """The names of all formats."""
    return sorted(path.stem.removeprefix("format_") for path in FOLDER.glob("format_*.py"))


def format_of(name: str) -> Format:
    """The format of a name, or of a module whose name has a dot."""
    found: Format = import_module(name if "." in name else f"fuzz.format_{name}").FORMAT
    return found


def corpus(name: str) -> list[bytes]:
    """The files of a format's corpus, in the order of their names."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*")) if path.is_file()]


def inputs(fmt: Format, count: int, seed: int) -> Iterator[bytes]:
    """The whole corpus, then `count` inputs, half of them drawn from the grammar and half mutated."""
    kept = corpus(fmt.name)
    yield from kept
    drawn = from_grammar(fmt, count // 2, seed)
    yield from drawn
    random = Random(seed)
    yield from mutations([*kept, *drawn[:200]], count - len(drawn), random, fmt.words)


def from_grammar(fmt: Format, count: int, seed: int) -> list[bytes]:
    """Inputs drawn from the format's strategy, the same ones for the same seed."""
    import hypothesis

    drawn: list[bytes] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(fmt.grammar())
    def draw(each: str | bytes) -> None:
        drawn.append(each.encode("utf-8", "surrogatepass") if isinstance(each, str) else each)

    if count:
        draw()
    return drawn[:count]


@dataclass
class Tally:
    """What a run has come to.

    Attributes:
        accepted: Inputs that were read.
        refused: Inputs that were refused with their place.
        findings: The others.
        slowest: Seconds of processor time of the slowest input that was answered.
        largest: The most megabytes by which an input made the process grow.
    """

    accepted: int
    refused: int
    findings: list[Finding]
    slowest: float = 0.0
    largest: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.accepted + self.refused + len(self.findings)} inputs: {self.accepted} accepted, "
            f"{self.refused} refused, {len(self.findings)} findings; slowest {self.slowest:.2f} s, "
            f"largest {self.largest:.0f} MB"
        )


def run(fmt: Format, data: Sequence[bytes], *, batch: int = 500) -> Tally:
    """Run inputs in child processes."""
    tally = Tally(0, 0, [])
    first = 0
    while first < len(data):
        part = data[first : first + batch]
        first += _run_part(fmt, part, tally)
    return tally


def _run_part(fmt: Format, part: Sequence[bytes], tally: Tally) -> int:
    """Run inputs in one child; gives how many were answered, the one that the child died of included."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "inputs")
        with place.open("wb") as file:
            for each in part:
                file.write(len(each).to_bytes(8, "little") + each)
        environment = {**os.environ, "PYTHONPATH": _path(), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "fuzz.child", fmt.name, str(place), str(SECONDS), str(MEGABYTES)]
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
    answers = [json.loads(line) for line in done.stdout.decode().splitlines() if line.endswith("}")]
    for each, answer in zip(part, answers, strict=False):
        _count(fmt, each, answer, tally)
    if len(answers) == len(part):
        return len(part)
    if not done.stdout:
        raise RuntimeError(f"the child did not start: {done.stderr.decode(errors='replace')}")
    kind = "time" if -done.returncode in _OUT_OF_TIME else "died"
    if kind == "time" and len(part) > 1:  # a busy machine doubles times: what counts is a repeated excess
        _run_part(fmt, [part[len(answers)]], tally)
        return len(answers) + 1
    detail = f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}"
    tally.findings.append(Finding(fmt.name, kind, detail, part[len(answers)]))
    return len(answers) + 1


def _count(fmt: Format, data: bytes, answer: dict[str, Any], tally: Tally) -> None:
    tally.slowest = max(tally.slowest, answer["seconds"])
    tally.largest = max(tally.largest, answer["megabytes"])
    if answer["kind"] == "accepted":
        tally.accepted += 1
    elif answer["kind"] == "refused":
        tally.refused += 1
    else:
        tally.findings.append(Finding(fmt.name, answer["kind"], answer["detail"], data))


def _path() -> str:
    """Where a child finds this package and the constrint that is being tested."""
    import constrint

    package = Path(constrint.__file__).parent.parent
    return os.pathsep.join([str(FOLDER.parent), str(package), os.environ.get("PYTHONPATH", "")])


_OUT_OF_TIME = (27, 24)  # SIGPROF, by the timer of an input; SIGXCPU


def named_in(text: str, offered: dict[str, Any]) -> dict[str, Any]:
    """Those of some constants that a text names: others are refused."""
    words = re.findall(r"\w+", re.sub("#.*", "", text))
    return {name: value for name, value in offered.items() if name in words}
