"""Every message about a file begins with the file's name, in each format and each command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from constrint.cli.flatzinc import app as fzn
from constrint.cli.main import app


def t1(values: str = "[1, 2]", condition: str = "a > 1") -> Any:
    parameters = [{"Name": "a", "Type": "int", "Values": values}]
    conditions = [{"Expression": condition, "Parameters": ["a"]}]
    return json.dumps({"ConfigurationSpace": {"TuningParameters": parameters, "Conditions": conditions}})


def model(**parts: Any) -> Any:
    variables = [{"name": "x", "domain": {"lo": 0, "hi": 3}}]
    return json.dumps(
        {"format": "constrint", "version": 1, "variables": variables, "constraints": [], **parts}
    )


def flat(text: str) -> str:
    return f"var 0..3: x;\n{text}\nsolve satisfy;\n"


WRONG = {
    "space.json": [
        t1("[1, 2"), t1("3"), t1(condition="a >"), t1(condition="zz > 1"), t1(condition="a > " + "9" * 5000),
        '{"tune_params": {"a": []}}', '{"tune_params": {"a": [1]}, "restrictions": ["a >"]}',
        '{"tune_params": 3}', '{"ConfigurationSpace": 3}', '{"tune_params": {',
    ],
    "model.json": [
        model(version=9), model(variables=3), model(constraints=[{"expr": ["<=", "y", 3]}]), "{", "[]",
        model(constraints=[{"expr": ["all_different", 3]}]), model(definitions=[{"name": "x", "expr": 3}]),
        model(maximize=["x"]), model(x=1), '{"format": "other"}',
    ],
    "flat.fzn": [
        flat("constraint foo(x);"), flat("constraint int_le(x);"), flat("var 0..3: x;"), "var 0..3: x;",
        flat("constraint int_lin_eq([1],[x,x],2);"), flat("constraint array_int_element(x,[],x);"),
        flat("constraint int_le(x,y);"), flat("constraint ("),
        flat(f"constraint int_le(x, {'9' * 5000});"),
        flat("constraint fzn_cumulative([x],[1,2],[1],1);"), flat("array [1..2] of int: a;"),
        "solve minimize z;",
        flat("constraint bool_clause(x, 3);"), flat("var int: a = b;"), flat("constraint set_in(x, 3);"),
    ],
}  # fmt: skip
CASES = [(name, text) for name, texts in WRONG.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_messages_begin_with_the_file(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    calls = [(app, ["space", str(path)])] if name == "space.json" else [(app, ["check", str(path)])]
    if name == "flat.fzn":
        calls.append((fzn, [str(path)]))  # type: ignore[arg-type]
    for command, arguments in calls:
        done = CliRunner().invoke(command, arguments)
        assert done.exit_code == 2, done.output
        assert done.output.removeprefix("error: ").startswith(f"{path}:"), done.output
