"""What a page counts under conditions, in Node, against the listed solutions and `SolutionSet.given`."""

from __future__ import annotations

import ast
import json
import random
import shlex
import shutil
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import page_reader
import pytest
from random_models import draw_model

from constrint import Model
from constrint.cli.given import chosen_values, named_in
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_json, from_tune_params

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "constrint" / "pictures" / "templates" / "page"
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="no node: apt-get install nodejs")


def asked(
    cases: Any,
    **more: Any,
) -> Any:
    """The page's answers to (document, conditions) cases; `paired` has the variables of the pairs."""
    assert NODE is not None
    answer = subprocess.run(
        [NODE, str(Path(__file__).with_name("ask_page.js")), str(SCRIPTS)],
        input=json.dumps(
            [{"document": document, "conditions": listed, **more} for document, listed in cases]
        ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def held(
    solutions: SolutionSet, tmp_path: Path
) -> dict[str, list[dict[str, int | list[int | str] | str] | int] | str]:
    solutions.picture(tmp_path / "space.html")
    return page_reader.document(tmp_path / "space.html")


def drawn(
    random: random.Random, document: dict[str, list[dict[str, int | list[int | str] | str] | int] | str]
) -> Any:
    """Conditions on some variables: each a few places of values."""
    found: list[Any] = []
    for variable in document["variables"]:
        count = len(page_reader.texts(variable))  # type: ignore[arg-type]
        if count == 1 or random.random() < 0.2:
            found.append(None)
        elif random.random() < 0.5:
            low = random.randrange(count)
            found.append(list(range(low, min(count, low + random.randint(1, max(1, count // 2))))))
        else:
            found.append(sorted(random.sample(range(count), random.randint(1, max(1, count // 2)))))
    return found


def conditioned(
    solutions: Any,
    document: dict[str, list[dict[str, int | list[int | str] | str] | int] | str],
    conditions: Any,
) -> Any:
    """The subset by `SolutionSet.given`, one value at a time."""
    part = solutions
    for variable, places in zip(document["variables"], conditions, strict=True):
        if places is not None:
            values = solutions.values_of(variable["name"])  # type: ignore[index]
            subsets = [part.given(**{variable["name"]: values[place]}) for place in places]  # type: ignore[arg-type, index]
            part = subsets[0]
            for other in subsets[1:]:
                part = part | other
    return part


def by_values(conditions: Any) -> Any:
    return [None if places is None else set(places) for places in conditions]


def check_against_the_list(solutions: Any, document: Any, conditions: Any, answer: Any) -> None:
    variables = document["variables"]
    places = [{text: i for i, text in enumerate(page_reader.texts(one))} for one in variables]
    rows = [
        tuple(place[str(value)] for place, value in zip(places, row, strict=True))
        for row in solutions.to_tuples()
    ]
    kept = by_values(conditions)
    fits = [[one is None or row[v] in one for v, one in enumerate(kept)] for row in rows]
    inside = [row for row, fit in zip(rows, fits, strict=True) if all(fit)]
    assert int(answer["total"]) == int(answer["counted"]) == len(inside)
    for v in range(len(variables)):
        but_own = Counter(
            row[v] for row, fit in zip(rows, fits, strict=True) if all(fit[:v]) and all(fit[v + 1 :])
        )
        assert [int(n) for n in answer["counts"][v]] == [but_own[i] for i in range(len(places[v]))]
    if inside:
        assert len(answer["pairs"]) == len(variables) * (len(variables) - 1) // 2
    for pair in answer["pairs"]:
        want = Counter((row[pair["v"]], row[pair["w"]]) for row in inside)
        most_shade = max(max(row) for row in pair["shades"])
        most = max(want.values())
        for i, row in enumerate(pair["exact"]):
            for j, number in enumerate(row):
                assert int(number) == want[i, j]
                assert pair["shades"][i][j] / most_shade == pytest.approx(want[i, j] / most)
    texts = Counter(tuple(str(value) for value in row) for row in solutions.to_tuples())
    sample = [tuple(row) for row in answer["sample"]]
    assert len(set(sample)) == len(sample) == min(40, len(inside))
    for row in sample:
        assert row in texts
        assert all(one is None or places[v][row[v]] in one for v, one in enumerate(kept))


def check_copies(solutions: Any, answer: Any) -> None:
    """The three notations mean the same set; an empty one is none."""
    total = int(answer["total"])
    part = solutions
    options = shlex.split(answer["given"])
    assert options[::2] == ["--given"] * (len(options) // 2)
    for condition in options[1::2]:
        name = named_in(condition, solutions.names)
        values = chosen_values(condition, solutions.values_of(name), name)
        part = part.given(**{name: set(values)})
    assert part.size == total
    call = ast.parse(answer["python"], mode="eval").body
    arguments: dict[Any, Any] = {}
    for keyword in call.keywords:
        value = ast.literal_eval(keyword.value)
        arguments.update(value if keyword.arg is None else {keyword.arg: value})
    assert solutions.given(**arguments).size == total


def test_drawn_sets(tmp_path: Path) -> None:
    random = Random(5)
    sets = []
    for seed in range(92_000, 92_090):
        solutions = draw_model(seed).build().solutions()
        if 1 < solutions.size < 1_500:
            sets.append((seed, solutions, held(solutions, tmp_path)))
    cases = [(document, [drawn(random, document) for _ in range(3)]) for _, _, document in sets]
    kinds: Any = Counter()
    for (seed, solutions, document), (_, conditions), answers in zip(sets, cases, asked(cases), strict=True):
        for chosen, answer in zip(conditions, answers, strict=True):
            try:
                check_against_the_list(solutions, document, chosen, answer)
                check_copies(solutions, answer)
            except AssertionError as problem:
                raise AssertionError(f"seed {seed}, conditions {chosen}") from problem
            kinds["none" if answer["total"] == "0" else "some"] += 1
    assert kinds["some"] > 50
    assert kinds["none"] > 0


def test_values_of_every_kind(tmp_path: Path) -> None:
    random = Random(6)
    space = from_tune_params(
        {
            "text": ["a,b", "it's", 'say "so"', "", "in {x}", "1..2", "\\"],
            "mixed": [1, "1", None, (1, 2), 2.5],
            "real": [0.5, 2, -3.25, 1.0],
            "large": [2**70, 5, -(2**80)],
            "divides": range(5, 25, 5),
        },
        ["text != 'a,b' or real > 0", "divides > 5 or large == 5"],
    )
    document = held(space, tmp_path)
    conditions = [drawn(random, document) for _ in range(40)]
    (answers,) = asked([(document, conditions)], paired=[])
    for chosen, answer in zip(conditions, answers, strict=True):
        assert int(answer["total"]) == conditioned(space, document, chosen).size
        check_copies(space, answer)


def test_constraints_that_are_copied_give_the_same_space(tmp_path: Path) -> None:
    source = json.loads((ROOT / "benchmarks/spaces/data/hotspot.json").read_text(encoding="utf-8"))
    space = from_json(source)
    document = held(space, tmp_path)
    random = Random(7)
    conditions = [drawn(random, document) for _ in range(5)]
    conditions.append([None, None, [3, 4, 5], [0, 1], None, [4, 5, 9], *[None] * 5])
    (answers,) = asked([(document, conditions)], paired=[])
    assert any(" in {" in answer["constraints"] for answer in answers)
    assert any(" <= " in answer["constraints"] for answer in answers)
    for chosen, answer in zip(conditions, answers, strict=True):
        assert int(answer["total"]) == conditioned(space, document, chosen).size
        lines = answer["constraints"].splitlines()
        again = from_tune_params(source["tune_params"], [*source["restrictions"], *lines])
        assert again.size == int(answer["total"])
        check_copies(space, answer)


def chain(variables: int, values: int, step: int) -> Model:
    m = Model()
    x = m.int_vars("x", variables, 0, values - 1)
    m.add(*[abs(a - b) <= step for a, b in pairwise(x)])
    return m


@pytest.mark.parametrize(("variables", "values"), [(11, 40), (12, 50), (40, 20)])
def test_numbers_beyond_doubles_are_exact(variables: Any, values: Any, tmp_path: Path) -> None:
    model = chain(variables, values, 12)
    solutions = model.solutions()
    assert solutions.size > 10**15
    document = held(solutions, tmp_path)
    conditions = [None] * variables
    conditions[0], conditions[4], conditions[-1] = [1, 5, 6], list(range(3, 20)), [0, values - 1]  # type: ignore[call-overload]
    (answers,) = asked([(document, [[None] * variables, conditions])], paired=[4, 6])
    assert answers[0]["total"] == answers[0]["counted"] == str(solutions.size)
    assert [int(n) for n in answers[0]["counts"][3]] == list(solutions.value_counts("x[3]").values())
    part = conditioned(solutions, document, conditions)
    assert part.size > 10**10
    assert answers[1]["total"] == answers[1]["counted"] == str(part.size)
    listed = part.value_counts("x[6]")
    assert [int(n) for n in answers[1]["counts"][6]] == [listed.get(i, 0) for i in range(values)]
    (pair,) = answers[1]["pairs"]
    exact = {(i, j): int(n) for i, row in enumerate(pair["exact"]) for j, n in enumerate(row)}
    assert sum(exact.values()) == part.size
    assert exact[5, 7] == part.given(**{"x[4]": 5, "x[6]": 7}).size > 0
    assert exact[3, 40 % values] == part.given(**{"x[4]": 3, "x[6]": 40 % values}).size
    most_shade, most = max(map(max, pair["shades"])), max(exact.values())
    for (i, j), number in exact.items():
        assert pair["shades"][i][j] / most_shade == pytest.approx(number / most)
    text = "\n".join([model.to_text(), answers[1]["constraints"]])
    assert Model.from_text(text).solutions().size == part.size
    check_copies(solutions, answers[1])


def test_samples_are_uniform(tmp_path: Path) -> None:
    m = Model()
    x, y, z, free = (m.int_var(name, 0, 5) for name in ("x", "y", "z", "free"))
    m.add(x * y <= z + 3, free <= 1)
    solutions = m.solutions()
    document = held(solutions, tmp_path)
    ((answer,),) = asked([(document, [[[1, 2, 3], None, None, None]])], seeds=list(range(400)))
    size = int(answer["total"])
    drawn = Counter(map(tuple, answer["sample"]))
    assert sum(drawn.values()) == 400 * 40
    assert len(drawn) == size
    expected = 400 * 40 / size
    chi = sum((number - expected) ** 2 / expected for number in drawn.values())
    assert chi < size + 6 * (2 * size) ** 0.5  # drawn without repetition, so that it is smaller still
