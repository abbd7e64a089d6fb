"""Spaces in T1 files, read and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from drawn_spaces import PARAMS, allowed, python, same

from constrint import ConstrintError, ModelError
from constrint.tuning.spaces import from_json, from_tune_params, to_t1


def test_t1_in_and_out() -> None:
    texts = ["a * c <= 32", "a < c or b > 0"]
    params = {name: PARAMS[name] for name in "abc"}
    described = json.loads(json.dumps(to_t1(params, texts)))
    assert described["ConfigurationSpace"]["Conditions"][0]["Parameters"] == ["a", "c"]
    assert same(from_json(described), allowed(params, [python(text) for text in texts]))


def test_t1_reads_python_and_json_notation_as_data() -> None:
    def space(kind: str, values: Any) -> Any:
        return {"ConfigurationSpace": {"TuningParameters": [{"Name": "x", "Type": kind, "Values": values}]}}

    for kind, values, want in [
        ("int", "[2**i for i in range(5)]", [1, 2, 4, 8, 16]),
        ("int", "list(range(1, 4)) + [10]", [1, 2, 3, 10]),
        ("uint", [0, 3], [0, 3]),
        ("bool", "[true, false]", [True, False]),
        ("float", "[0.5, 2]", [0.5, 2]),
        ("string", "['a', 'b c']", ["a", "b c"]),
    ]:
        assert from_json(space(kind, values)).tune_params == {"x": want}
    for kind, values, message in [
        ("int", "[1.5]", "of type int, and 1.5 is not"),
        ("uint", "[-1]", "of type uint"),
        ("int", "[True]", "of type int"),
        ("int", "open('x')", "not supported"),
        ("int", "[i for i in range(10**9)]", "too many"),
        ("int", "[9**9**9**9]", "too large"),
        ("int", "3", "not a list of values"),
        ("complex", "[1]", "the type is one of"),
    ]:
        with pytest.raises(ModelError, match=f"'x'.*{message}"):
            from_json(space(kind, values))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"tune_params": {"a": [1], "a": [2]}}', "'a' occurs twice"),
        ('{"tune_params": {"a": [1]}', "file.json:1:27: this is not JSON"),
        ("[1]", "is a JSON object, not a list"),
        ("{}", "neither 'tune_params' nor"),
        ('{"ConfigurationSpace": {}}', "needs a list of 'TuningParameters'"),
        ('{"tune_params": {"a": [1]}, "restrictions": [5]}', "a string or a callable, not 5"),
        ('{"tune_params": [1]}', "a dict of lists of values"),
    ],
)
def test_files_that_hold_no_space(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConstrintError, match=message):
        from_json(path)
    with pytest.raises(ModelError, match="cannot read"):
        from_json(tmp_path / "none.json")


def test_traced_restrictions_can_be_written() -> None:
    given = [lambda p: (p["a"] > 1) & (p["c"] != -3), "b > 0 and a < 8", lambda a, f: a * f >= 1]
    params = {name: PARAMS[name] for name in "abcf"}
    space = from_tune_params(params, given)  # type: ignore[arg-type]
    assert space.restrictions[1] == given[1]
    again = from_json(json.loads(json.dumps(space.to_t1())))
    assert again == space
    with pytest.raises(ModelError, match="restriction 1 can only be called"):
        from_tune_params(params, [lambda p: 1 < p["a"] < 3]).to_t1()
    with pytest.raises(ModelError, match="T1 has integers, floats, Booleans and strings"):
        from_tune_params({"a": [("x", 2)]}).to_t1()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"tune_params": {"a": [1, 2]}, "restrictons": ["a == 1"]}, "did you mean 'restrictions'"),
        (
            {"ConfigurationSpace": {"TuningParameters": []}, "Conditions": []},
            "a search space has no 'Conditions'",
        ),
        (
            {"ConfigurationSpace": {"TuningParameters": [], "Conditons": []}},
            "did you mean 'Conditions'",
        ),
        (
            {"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": "[1]", "Typ": "int"}]}},
            "tuning parameter 1 has no 'Typ': did you mean 'Type'",
        ),
        (
            {
                "ConfigurationSpace": {
                    "TuningParameters": [{"Name": "a", "Type": "int", "Values": "[1]", "Default": 1}],
                    "Conditions": [{"Expression": "a == 1", "Weight": 2}],
                }
            },
            "condition 1 has no 'Weight'",
        ),
    ],
)
def test_names_that_would_be_ignored_are_refused(data: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        from_json(data)


def test_parts_that_say_how_to_tune_are_ignored() -> None:
    data = {"$schema": "…", "General": {}, "Search": {}, "Budget": [], "KernelSpecification": {}}
    given = {"TuningParameters": [{"Name": "x", "Type": "int", "Values": "[1, 2]"}]}
    assert from_json({**data, "ConfigurationSpace": given}).size == 2
