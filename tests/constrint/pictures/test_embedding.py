"""The set inside a page, read back by a reader of its own, against the listed solutions."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import page_reader
import pytest
from random_models import draw_model

from constrint import Model, ModelError
from constrint.tuning.spaces import from_json, from_tune_params

DATA = Path(__file__).parents[3] / "benchmarks" / "spaces" / "data"

ODD: dict[str, Any] = {
    "text": ["</script><script>alert(1)</script>", "a & b", 'say "so"', "", "\u2028"],
    "mixed": [1, "1", None, (1, 2), True][:4],
    "real": [0.5, 2, -3.25],
    "large": [2**70, 5, -(2**80)],
    "divides": range(5, 25, 5),
}


def test_the_page_of_a_drawn_set_holds_its_solutions(tmp_path: Path) -> None:
    path = tmp_path / "space.html"
    read = 0
    for seed in range(91_000, 91_120):
        solutions = draw_model(seed).build().solutions()
        if not 0 < solutions.size < 3_000:
            continue
        solutions.picture(path)
        document = page_reader.document(path)
        assert [variable["name"] for variable in document["variables"]] == list(solutions.names)
        want = Counter(tuple(str(value) for value in row) for row in solutions.to_tuples())
        assert page_reader.solutions(document) == want, f"seed {seed}"
        assert int(document["size"]) == solutions.size
        read += 1
    assert read > 60


def test_values_of_every_kind(tmp_path: Path) -> None:
    space = from_tune_params(ODD, ["text != 'a & b' or real > 0"])
    space.picture(tmp_path / "odd.html")
    text = (tmp_path / "odd.html").read_text(encoding="utf-8")
    assert "</script><script>alert" not in text
    document = page_reader.document(tmp_path / "odd.html")
    want = Counter(tuple(str(value) for value in row) for row in space.to_tuples())
    assert page_reader.solutions(document) == want
    kinds = {variable["name"]: variable for variable in document["variables"]}
    assert kinds["divides"]["written"] == "`divides`"
    assert [kinds[name]["ordered"] for name in ODD] == [False, False, True, True, True]
    assert [kinds["divides"][key] for key in ("start", "step", "count")] == ["5", "5", 4]


@pytest.mark.parametrize("name", ["hotspot", "catbench_rise_mm"])
def test_the_page_of_a_tuners_space(name: str, tmp_path: Path) -> None:
    space = from_json(json.loads((DATA / f"{name}.json").read_text(encoding="utf-8")))
    space.picture(tmp_path / "space.html")
    document = page_reader.document(tmp_path / "space.html")
    assert page_reader.size(document) == space.size == int(document["size"])
    assert (tmp_path / "space.html").stat().st_size < 100_000


def test_a_huge_set_is_held(tmp_path: Path) -> None:
    m = Model()
    x = m.int_vars("x", 12, 0, 60)
    m.add(*[abs(a - b) <= 25 for a, b in pairwise(x)])
    solutions = m.solutions()
    assert solutions.size > 10**19
    solutions.picture(tmp_path / "space.html")
    assert page_reader.size(page_reader.document(tmp_path / "space.html")) == solutions.size


def test_a_diagram_beyond_the_limit_is_drawn_statically(tmp_path: Path) -> None:
    m = Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    m.add(x * y % 7 == 1)
    solutions = m.solutions()
    path = tmp_path / "space.html"
    solutions.picture(path, most_edges=3)
    text = path.read_text(encoding="utf-8")
    assert "<svg" in text
    assert 'id="set"' not in text
    assert "is static: the diagram has more than 3 edges" in " ".join(text.split())
    assert "most_edges" in text
    assert "--picture-edges" in text
    solutions.picture(path, most_edges=solutions.edges)
    assert page_reader.size(page_reader.document(path)) == solutions.size
    for wrong, message in ((-1, "cannot be negative"), (2.5, "must be an integer")):
        with pytest.raises(ModelError, match=message):
            solutions.picture(path, most_edges=wrong)  # type: ignore[arg-type]
