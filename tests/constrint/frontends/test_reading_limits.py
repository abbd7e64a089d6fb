"""Limits and time limits hold while XCSP3, FlatZinc, search spaces and solution sets are read."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constrint import LimitError, LimitExceeded, Limits, Model, ModelError, ParseError
from constrint.frontends.flatzinc import read_flatzinc
from constrint.solutions.solutionset import SolutionSet
from constrint.support.limits import Budget
from constrint.tuning.spaces import from_json, from_tune_params

XS = '<array id="x" size="[4]"> 0..3 </array>'


def instance(constraints: str, variables: Any = XS) -> str:
    head = f"<instance><variables>{variables}</variables>\n<constraints>"
    return f"{head}\n{constraints}\n</constraints></instance>"


def flat(text: str) -> str:
    return f"var 0..9: x;\nvar 0..9: y;\n{text}\nsolve satisfy;\n"


XCSP3 = {
    "variables": instance("", '<array id="x" size="[11]"> 0..3 </array>'),
    "values": instance("", '<var id="x"> 0..4 9..20 </var>'),
    "digits": instance("<intension> le(x[0],12345678901) </intension>"),
    "depth": instance("<intension> " + "not(" * 11 + "x[0]" + ")" * 11 + " </intension>"),
    "nodes": instance(
        "<group><intension> le(%0,%1) </intension>" + "<args> x[0] x[1] </args>" * 20 + "</group>"
    ),
    "bytes": instance(" " * 2000),
}
FLATZINC = {
    "variables": flat("".join(f"var 0..1: v{i};" for i in range(9))),
    "values": flat("var {1,2,4,7,8,9,11,12,14,15,17}: v;"),
    "digits": flat("constraint int_le(x,12345678901234567890);"),
    "depth": flat("var bool: b :: " + "a(" * 11 + "1" + ")" * 11 + ";"),
    "nodes": flat("constraint int_le(x,y);" * 40),
    "bytes": flat("%" * 2000),
}
TIGHT = {"variables": 10, "values": 10, "digits": 10, "depth": 10, "nodes": 60, "bytes": 1500}


@pytest.mark.parametrize("name", TIGHT)
@pytest.mark.parametrize(("dialect", "texts"), [("xcsp3", XCSP3), ("flatzinc", FLATZINC)])
def test_each_limit_is_named_with_its_place_and_can_be_raised(
    dialect: str, texts: dict[str, str], name: str
) -> None:
    with pytest.raises(LimitExceeded, match=r"^file(:\d+)?: ") as caught:
        Model.from_text(texts[name], dialect=dialect, filename="file", limits=Limits(**{name: TIGHT[name]}))
    assert caught.value.name == name
    Model.from_text(texts[name], dialect=dialect, limits=Limits(**{name: None}))


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("xcsp3", instance("<intension> eq(x[0],1) </intension>" * 30_000)),
        ("flatzinc", flat("constraint int_le(x,y);\n" * 30_000)),
    ],
)
def test_reading_obeys_the_time_limit(dialect: str, text: str) -> None:
    with pytest.raises(LimitError, match="time limit"):
        Model.from_text(text, dialect=dialect, time_limit=0.01)


@pytest.mark.parametrize(
    "constraint",
    [
        "<group/>", "<slide/>", "<block><group/></block>",
        "<extension><list> x[] </list><supports> (1,2,3,4(1 "
        "</supports></extension>", "<ordered><list> x[] </list><lengths> 1 </lengths></ordered>",
        "<regular><list> x[] </list><transitions/></regular>", "<mdd><list> x[] </list></mdd>",
        "<instantiation><list> x[] </list><values> 1 </values></instantiation>",
        "<intension> add() </intension>",
        "<sum><list><a/></list></sum>",
        '<slide><list offset="0"> x[] </list><allEqual> %0 </allEqual></slide>',
    ],
)  # fmt: skip
def test_xcsp3_names_the_line_of_what_is_wrong(constraint: str) -> None:
    with pytest.raises(ParseError) as caught:
        Model.from_text(instance(f"\n{constraint}"), dialect="xcsp3")
    assert caught.value.line == 4


@pytest.mark.parametrize(
    "declared", ['<!ENTITY a "1">', '<!ENTITY a SYSTEM "file:///etc/hostname">', '<!ENTITY % a "">']
)
def test_xcsp3_reads_no_entities(declared: str) -> None:
    text = f"<!DOCTYPE instance [{declared}]><instance/>"
    with pytest.raises(ParseError, match="entities are not read"):
        Model.from_text(text, dialect="xcsp3")


def test_equal_parts_of_an_expression_do_not_multiply() -> None:
    nested = "sqr(" * 60 + "x[0]" + ")" * 60
    with pytest.raises(LimitExceeded, match=r"steps|operators and operands"):
        Model.from_text(instance(f"<intension> eq({nested},1) </intension>"), dialect="xcsp3")
    chain = "".join(
        f"var -9..9: z{i};constraint int_div(z{i},z{i},z{i + 1}) :: defines_var(z{i + 1});" for i in range(60)
    )
    model = Model.from_text(flat(f"{chain}var -9..9: z60;constraint int_ne(z0,0);"), dialect="flatzinc")
    result = model.solve(time_limit=20)
    assert result
    assert all(abs(value) <= 9 for value in result.values.values())


@pytest.mark.parametrize(
    "text", ["var int: a = b; var int: b = a;", "var int: a = a;", "array [1..1] of int: a = a;"]
)
def test_flatzinc_cycles_have_a_line(text: str) -> None:
    with pytest.raises(ParseError, match=r"equal to itself|an array is expected"):
        read_flatzinc(flat(text))


@pytest.mark.parametrize(
    "text", ["", "var 0..9: x;\nconstraint int_le(x,3);\n", "solve satisfy; solve satisfy;"]
)
def test_flatzinc_ends_with_one_solve_item(text: str) -> None:
    with pytest.raises(ParseError, match="solve item"):
        read_flatzinc(text)


def t1(
    parameter: dict[str, int | None] | None = None, condition: Any = None
) -> dict[str, dict[str, list[dict[str, int | list[object] | str | None]]]]:
    usual = {"Name": "a", "Type": "int", "Values": "[1, 2]"}
    held = {"Expression": "a > 1", "Parameters": ["a"]}
    parameters = [{**usual, **(parameter or {})}]
    return {
        "ConfigurationSpace": {"TuningParameters": parameters, "Conditions": [{**held, **(condition or {})}]}
    }


@pytest.mark.parametrize("wrong", [None, 5, 1.5, True, [], ["a"], {}, {"a": 1}, [[]], "\ud800"])
@pytest.mark.parametrize("field", ["Name", "Type", "Values", "Expression", "Parameters"])
def test_t1_refuses_other_types(tmp_path: Path, field: Any, wrong: Any) -> None:
    path = tmp_path / "space.json"
    is_parameter = field in ("Name", "Type", "Values")
    path.write_text(json.dumps(t1({field: wrong}) if is_parameter else t1(None, {field: wrong})))
    fine = (field == "Type" and wrong is None) or (field == "Parameters" and (not wrong or wrong == ["a"]))
    if field == "Parameters" and isinstance(wrong, int | float) and wrong:
        fine = False
    if fine:
        assert from_json(path).size == 1
        return
    with pytest.raises(ModelError, match=r"space\.json: "):
        from_json(path)


def test_restrictions_have_limits() -> None:
    for text in ("a < " + "9" * 100_000, "(" * 5000 + "a" + ")" * 5000, "9**9**9 > a", "-" * 100_000 + "a"):
        with pytest.raises(ModelError):
            from_tune_params({"a": [1, 2]}, [text])
    values = list(range(1, 300_000))
    with pytest.raises(LimitError, match="time limit"):
        from_tune_params({"a": values, "b": values}, ["a % 7 == b"], time_limit=0.01)


def test_archives_are_data(tmp_path: Path) -> None:
    def write(entries: Any, method: Any = zipfile.ZIP_STORED) -> Any:
        path = tmp_path / "set.npz"
        with zipfile.ZipFile(path, "w", method) as file:
            for name, content in entries.items():
                file.writestr(name, content)
        return path

    with pytest.raises(LimitExceeded, match=r"set\.npz.*bytes"):
        SolutionSet.load(
            write({"header.npy": bytes(10**7)}, zipfile.ZIP_DEFLATED), limits=Limits(bytes=10**6)
        )
    pickled = io.BytesIO()
    np.lib.format.write_array(pickled, np.array([{}], dtype=object), allow_pickle=True)
    evaluated = b"\x93NUMPY\x01\x00\x10\x00{'descr': 9**99}"
    for content in (pickled.getvalue(), evaluated, b"", b"\x93NUMPY\x01\x00\xff\xff{"):
        with pytest.raises(ModelError, match=r"set\.npz: no solution set"):
            SolutionSet.load(write({"header.npy": content}))


@pytest.mark.parametrize("count", ["node", "variable", "values"])
def test_default_limits_are_for_what_a_text_expands_to(count: str) -> None:
    field = {"node": "nodes", "variable": "variables", "values": "values"}[count]
    default = getattr(Limits(), field)

    def counts(limits: Limits, written: int) -> None:
        budget = Budget(limits)
        budget.size(written)
        getattr(budget, count)(default + 10)

    unlimited = Limits(steps=None, bytes=None)
    counts(unlimited, default + 10)  # a long text, of which each byte may be one of them
    with pytest.raises(LimitExceeded, match=f"{default:,}"):
        counts(unlimited, 1000)
    with pytest.raises(LimitExceeded, match=f"{default + 1:,}"):
        counts(Limits(steps=None, bytes=None, **{field: default + 1}), default + 10)
