"""benchmarks/rnn/backward_variants.py without a GPU: its variants, its input, its times and its table."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "rnn"))
import backward_variants
import variant_times
from backward_variants import Row

from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.problem import Problem
from kerneltune.messages import Built, Order
from kerneltune.running.case import random_case

LARGE = Problem("lstm", 1, 768, 256, "bf16", 512, "backward")
GRU = Problem("gru", 12, 64, 16, "bf16", 512, "backward")


@pytest.mark.slow
def test_variants_fit_or_say_that_they_do_not() -> None:
    rows = [*backward_variants.compiled(LARGE, "h100_sxm"), *backward_variants.compiled(GRU, "h100_sxm")]
    found = {(row.problem, row.variant): row for row in rows}
    assert len(found) == len(rows)
    assert {row.failure for row in rows} <= {None, "it does not fit"}
    names = {row.variant for row in rows if row.problem == LARGE and row.candidate is not None}
    assert {"default", "without warpgroups", "warpgroup, 24 units, stages of 1"} < names
    apart = found[GRU, "default, stores apart"]
    assert apart.cubin != found[GRU, "default"].cubin
    assert all(row.cubin for row in rows if row.failure is None)


@pytest.mark.parametrize("direction", ["training", "backward"])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_input_that_is_timed_has_the_shapes_of_a_drawn_case(cell: str, direction: str) -> None:
    problem = Problem(cell, 2, 8, 11, "fp16", 30, direction, forward_clip=0.5)
    drawn = random_case(problem, discover().cell(cell), seed=1)
    timed = variant_times.timed_case(problem)
    assert {name: a.shape for name, a in timed.inputs.items()} == {
        name: a.shape for name, a in drawn.inputs.items()
    }
    assert all(timed.inputs[name].dtype == array.dtype for name, array in drawn.inputs.items())
    assert timed.outputs.keys() == drawn.outputs.keys()
    assert timed.initial.shape == drawn.initial.shape
    for array in timed.inputs.values():
        assert array.flags.c_contiguous
    steps = timed.inputs["input" if direction == "training" else "output_gradient"]
    np.testing.assert_array_equal(steps[12:24], steps[:12])
    np.testing.assert_array_equal(steps[:, 8:], steps[:, :3])


class Clock:
    """A backend whose kernels take as long as their number of units."""

    def __init__(self) -> None:
        self.prepared: list[int] = []

    def load(self, order: Order, built: Built) -> Clock:
        assert built.cubin == b"code"
        self.prepared.append(int(order.configuration["block_units"]))
        return self

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        return [float(self.prepared[-1])] * count

    def close(self) -> None:
        """There is nothing to free."""


def test_rounds_go_to_and_fro(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (_, best), *_ = backward_variants.variants(GRU, "h100_sxm")
    assert best is not None
    Path(tmp_path, "cubin").write_bytes(b"code")
    variants = []
    for units in (1, 2, 3):
        other = replace(best, parameters={**best.parameters, "block_units": units})
        variants.append(
            {"candidate": other.to_json(), "cubin": str(tmp_path / "cubin"), "cooperative": False}
        )
    clock = Clock()
    variant_times.time_variants(clock, variants, np.inf)
    assert clock.prepared == [1, 2, 3, 3, 2, 1]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["variant"], line["milliseconds"]) for line in lines] == [
        (0, 1.0), (1, 2.0), (2, 3.0), (2, 3.0), (1, 2.0), (0, 1.0)
    ]  # fmt: skip


CHILD = """
import json, sys
job = json.load(sys.stdin)
for number, variant in enumerate(job["variants"][:2]):
    assert open(variant["cubin"], "rb").read() == b"code"
    for more in (0.5, 0.0):
        print(json.dumps({"variant": number, "milliseconds": 4.0 - 2 * number + more}))
sys.exit("the clock stopped")
"""


def test_times_and_table(tmp_path: Path) -> None:
    Path(tmp_path, "child.py").write_text(CHILD, encoding="utf-8")
    (_, best), *_ = backward_variants.variants(GRU, "h100_sxm")
    names = ("default", "faster", "wrong", "untimed")
    rows = [Row(GRU, name, best, b"code", passed=name != "wrong", error=1e-3) for name in names]
    rows[2].failure = "it is wrong"
    backward_variants.measure(rows, tmp_path, seconds=60.0, program=tmp_path / "child.py")
    assert [row.rounds for row in rows] == [[4.5, 4.0], [2.5, 2.0], [], []]
    assert rows[3].failure == "not timed: the clock stopped"
    _, _, default, faster, wrong, untimed = backward_variants.table(rows).splitlines()
    assert default.split()[-3:] == ["7.812", "8.000", "1.00×"]
    assert faster.split()[-3:] == ["3.906", "4.000", "2.00×"]
    assert wrong.endswith("FAILED: it is wrong")
    assert untimed.endswith("not timed: the clock stopped")
    backward_variants.write(tmp_path / "out.json", rows)
    written = json.loads(Path(tmp_path, "out.json").read_text(encoding="utf-8"))["rows"]
    assert [row["microseconds_per_step"] for row in written] == [7.8125, 3.90625, None, None]


def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert backward_variants.main([], (sys.executable, "-c", "print('{}')")) > 0
    assert "no kernel can be run here" in capsys.readouterr().err
