"""Fuzzing: every format reads or refuses every input; the inputs are the same in each run.

`CONSTRINT_FUZZ` is the number of inputs of each format, `CONSTRINT_FUZZ_SEED` their seed. For many more:
`PYTHONPATH=tests/constrint python -m fuzz.run --count 20000 --keep FOLDER`.
"""

from __future__ import annotations

import os
import sys

import pytest
from fuzz.harness import Tally, corpus, format_of, formats, inputs, run

COUNT = int(os.environ.get("CONSTRINT_FUZZ", "60"))
SEED = int(os.environ.get("CONSTRINT_FUZZ_SEED", "0"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of processes are those of Linux")


def kinds(tally: Tally) -> list[tuple[str, bytes]]:
    return [(finding.kind, finding.data) for finding in tally.findings]


@pytest.mark.fuzz
@pytest.mark.parametrize("name", formats())
def test_every_input_is_answered(name: str) -> None:
    tally = run(format_of(name), list(inputs(format_of(name), COUNT, SEED)))
    assert not tally.findings, "\n".join(map(str, tally.findings[:5]))
    assert corpus(name)
    assert tally.accepted + tally.refused >= COUNT * 0.9
    assert min(tally.accepted, tally.refused) > COUNT // 20, "the inputs are all of one kind"


def test_harness_sees_what_is_wrong() -> None:
    sham = format_of("fuzz.sham")
    wrong = [b"traceback", b"nowhere", b"surrogate", b"large", b"loop"]
    tally = run(sham, [b"good", *wrong, b"refused", b"\xff", b"good"])
    assert sorted(kinds(tally)) == sorted(
        [
            ("traceback", b"traceback"),
            ("no place", b"nowhere"),
            ("traceback", b"surrogate"),
            ("memory", b"large"),
            ("time", b"loop"),
            ("traceback", b"\xff"),
        ]
    )
    assert (tally.accepted, tally.refused) == (2, 1)


def test_inputs_are_the_same_every_time() -> None:
    text = format_of("text")
    first, second = (list(inputs(text, 12, 3)) for _ in range(2))
    assert first == second
    assert first != list(inputs(text, 12, 4))
