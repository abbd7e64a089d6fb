"""Names and labels that mean something in the language in which they are written: they stay text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from constrint import Model, ModelError

TAG = "</script><img src=x onerror=alert(1)>"
NAMES = [
    *(
        "a\nb",
        "x;y",
        "x := 1",
        TAG,
        "`",
        "x`y",
        "#c",
        "int",
        "var",
        "a b",
        "🎉",
        "é",
        "\u2028",
        "\0",
        "\x1b[2J",
    ),
    *(
        '"',
        "'",
        "\\",
        " ",
        "x\ty",
        "<!--",
        "]]>",
        "&amp;",
        "$x$",
        "%",
        "{}",
        "${x}",
        "{{x}}",
        "x[0]",
        "x<y",
        "True",
    ),
    *(
        "and",
        "max",
        "st",
        "end",
        "free",
        "RHS",
        "ROWS",
        "x" * 300,
        "1x",
        "-",
        "a.b",
        "e1",
        "\r",
        "\x85",
        "*/",
        "--",
    ),
    *("constraint true;", "x\nsolve satisfy;\n", "</var>", "Subject To\n c: x <= 0", "\nENDATA\n"),
]
# No element, no attribute and no end of the script comes from a name.
MARKUP = {"_repr_html_": re.compile(r"<(/?script|img)"), "_repr_latex_": re.compile(r"<[A-Za-z/!?]")}


def model(name: str) -> Model:
    m = Model(name)
    x, y, z = (m.int_var(one, 0, 3) for one in (name, "other", f"{name}b"))
    m.add(x + y + z == 5, name=name)
    m.add(x <= y, name=f"{name}2")
    m.maximize(x + 2 * y)
    return m


@pytest.mark.parametrize("dialect", ["constrint", "json", "flatzinc", "xcsp3", "lp", "mps"])
def test_a_written_model_is_the_same_model(dialect: str) -> None:
    for name in NAMES:
        try:
            text = model(name).to_text(dialect=dialect)
        except ModelError:
            assert dialect == "constrint"
            assert set(name) & set("`\n\r"), name
            continue
        found = Model.from_text(text, dialect=dialect)
        assert found.count() == model(name).count() > 0, name
        assert found.solve().objective == model(name).solve().objective, name


def test_names_in_protocol_buffers() -> None:
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    for name in NAMES:
        read = cp_model.CpModel()
        assert read.Proto().parse_text_format(model(name).to_text(dialect="cp-sat"))
        assert [one.name for one in read.Proto().variables][:1] == [name]


@pytest.mark.parametrize(
    "name", [TAG, "x<img src=x onerror=alert(1)>", "<img/onerror=x>", '"><img onerror=x>']
)
def test_names_and_labels_are_no_markup(tmp_path: Path, name: str) -> None:
    m = model(name)
    c = m.enum_var(f"{name}c", [name, "plain"])
    m.add(c == name, name=f"{name}3")
    x = m.variables[name]
    infeasible = model(name)
    infeasible.add(infeasible.variables[name] > 3, name=f"{name}4")
    shown = [
        m,
        m.solve(),
        m.solutions(),
        infeasible.solve().conflict,
        x,
        x + 1,
        (x < 2),
        x + m.variables["other"] == 3,
    ]
    for one in shown:
        for way, markup in MARKUP.items():
            text = getattr(one, way, lambda: "")() or ""
            assert not markup.search(text), (type(one), way, text)
    for ending in (".svg", ".html"):
        path = tmp_path / f"picture{ending}"
        m.solutions().picture(path)
        text = path.read_text("utf-8")
        page = model("plain")
        page.solutions().picture(tmp_path / f"plain{ending}")
        assert text.count("</script") == (tmp_path / f"plain{ending}").read_text("utf-8").count("</script")
        assert "<img" not in text
