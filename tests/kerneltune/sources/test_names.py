"""Names and values in generated C++: what is accepted compiles and means itself."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerneltune.errors import InputError
from kerneltune.measuring.case import Case
from kerneltune.pipeline.trial import Trial
from kerneltune.sources.arguments import In, InOut, Out
from kerneltune.sources.description import Description
from kerneltune.sources.names import KEYWORDS, check_names, literal, quoted, type_of
from kerneltune.tuning.header import _text
from kerneltune.tuning.store import StoredTrial

COMPILER = shutil.which("c++") or shutil.which("g++")
SOURCE = "__global__ void scale(float* x) {}\n"
WRONG = [
    "A; int pwn",
    "",
    "a b",
    "int",
    "__x",
    "_X",
    "x\n#define A 99",
    "é",
    "🎉",
    "x\\",
    "1x",
    "and",
    "defined",
]
ODD_TEXTS = [
    *(
        'a"\n#define A 99',
        "\\",
        "??/",
        "🎉é",
        "a\0b",
        "\udcff",
        "*/",
        "//",
        '")',
        "%s{}",
        "\t",
        "\x1b[2J",
        "</script>",
    ),
    *("${x}", 'R"(', "\u2028", "ends in \\"),
]


def described(**given: Any) -> Description:
    return Description(SOURCE, **{"params": {"A": [1, 2]}, "grid": 1, "block": 32, **given})


@pytest.mark.parametrize("name", [*WRONG, "threadIdx"])
def test_names_of_parameters_and_macros_are_identifiers(name: str) -> None:
    for given in (
        {"params": {name: [1, 2]}},
        {"params": {name: ["float", "double"]}},
        {"defines": {name: 1}},
    ):
        with pytest.raises(
            InputError, match=r"the (parameter|macro) .*: (rename it, as to '\w+'|leave it out)"
        ):
            described(**given).kernel(None)


@pytest.mark.parametrize("name", WRONG)
def test_names_of_sizes_are_identifiers(name: str) -> None:
    with pytest.raises(InputError, match=r"the size .*: rename it, as to '\w+'"):
        described(sizes={name: 1}).kernel(None)


@pytest.mark.parametrize("name", [*WRONG, *ODD_TEXTS])
def test_what_is_suggested_is_accepted(name: str) -> None:
    try:
        check_names([name], "name", ("taken",))
    except InputError as error:
        check_names([str(error).rpartition("as to '")[2].rstrip("'")], "name", ("taken",))


@pytest.mark.parametrize(
    "value", ["x\n#define A 99", "/*", "a // b", "x\\", 'R"(', math.inf, math.nan, "\x1b[2J"]
)
def test_values_of_macros_stay_on_their_line(value: Any) -> None:
    fix = r"(leave it out|give the text 'INFINITY' or 'NAN')"
    with pytest.raises(InputError, match=fix):
        described(params={"A": [value, 2]}).kernel(None)
    if isinstance(value, float):  # a macro's text is an expression, whose value is an integer
        with pytest.raises(InputError, match=fix):
            described(defines={"B": value}).kernel(None).order({"A": 1})


@pytest.mark.parametrize("name", ["n\n*/ int pwn; /*", "a\x1b[2J", "x\u2028y"])
def test_a_kernels_name_is_one_line(name: str) -> None:
    for given in ({"name": name}, {"entry": name}):
        with pytest.raises(InputError, match=r"the kernel's (name|entry) .* has the character"):
            described(**given).kernel(None)
    with pytest.raises(InputError, match=r"the constant .* is not a symbol in C"):
        described(constants={name: np.ones(3)}).kernel(None)


@pytest.mark.parametrize("name", ['a"', "back\\slash", 'x" #define A 99', "é🎉", "ends in \\"])
def test_the_line_before_the_source_has_the_kernels_name(name: str) -> None:
    source = described(name=name).kernel(None).order({"A": 1}).source
    head, _, rest = source.partition("#line 1 ")
    line, _, own = rest.partition("\n")
    assert head == "#define A 1\n"
    assert line == quoted(name)
    assert own == SOURCE
    compiled(f"#line 1 {line}\nconstexpr const char* name = __FILE__;\n")


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "a/b", "..", "a\0b", "x" * 300, 'a"'])
def test_names_of_arguments_are_no_paths(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    arguments = (In(np.ones(3), name), Out(np.zeros(2), name + "2"), InOut(np.full(4, 2.0), name + "3"))
    case = Case(arguments, {name + "3": np.full(4, 5.0)}, 1e-3, {name: np.arange(5)})
    case.save(folder)
    assert os_names(tmp_path) == ["case"]
    found = Case.load(folder)
    assert [one.name for one in found.arguments] == [one.name for one in arguments]
    assert found.arguments[2].value.tolist() == [2.0] * 4
    assert found.expected[name + "3"].tolist() == [5.0] * 4
    assert (found.constants or {})[name].tolist() == [0, 1, 2, 3, 4]


def os_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def compiled(text: str) -> None:
    if COMPILER is None:
        pytest.skip("no C++ compiler")
    command = [
        COMPILER,
        "-std=c++17",
        "-Werror",
        "-Wall",
        "-Wextra",
        "-Wshadow",
        "-fsyntax-only",
        "-xc++",
        "-",
    ]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", [*ODD_TEXTS, "", "plain", "a" * 300, "?" * 9])
def test_texts_are_literals_of_the_same_bytes(text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    checks = "".join(f"static_assert((unsigned char)t[{i}] == {byte});\n" for i, byte in enumerate(data))
    compiled(
        f"#include <string_view>\nconstexpr std::string_view t = {literal(text, 'std::string_view')};\n"
        f"static_assert(t.size() == {len(data)});\n{checks}// {quoted(text)}\nint main() {{}}\n"
    )


VALUES: list[list[Any]] = [
    [True, False], [1, -(2**63), 2**63 - 1], [0, 2**64 - 1], [1, 0.5],
    [math.inf, -math.inf, math.nan, 1e300, 1e-7, 3],
    ["a", 3, 0.5, True], [True, 7], ODD_TEXTS,
]  # fmt: skip


def row(kernel: str, device: str, sizes: dict[str, int], configuration: dict[str, Any]) -> StoredTrial:
    return StoredTrial(kernel, "identity", device, sizes, "today", Trial(configuration, {"time": 1.0}))


@pytest.mark.parametrize("values", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize(
    "sizes",
    [[], ["rows", "row", "found", "device", "configuration"], ["n", "device_", "limits", "size", "data"]],
)
def test_headers_compile_whatever_they_hold(values: list[Any], sizes: list[str]) -> None:
    kernel = "n\n*/ #error\n\\"
    listed = [
        row(
            kernel, device, {one: number + 3 for number, one in enumerate(sizes)}, {"first": value, "rows": 1}
        )
        for device, value in zip([*ODD_TEXTS, *ODD_TEXTS], values, strict=False)
    ]
    text = _text(kernel, ["first", "rows"], sizes, listed)
    assert "#error" not in [line.strip() for line in text.splitlines()]
    asked = '"other", {' + ", ".join(str(number + 3) for number in range(len(sizes))) + "}"
    text = text.replace("#pragma once\n", "")
    compiled(f"{text}\nstatic_assert(kerneltune_n_error_::best({asked}).rows == 1);\nint main() {{}}\n")


@pytest.mark.parametrize(
    "name", [*WRONG, "Configuration", "Row", "Sizes", "best", "std", *sorted(KEYWORDS)[:3]]
)
def test_headers_refuse_names_that_cpp_cannot_have(name: str) -> None:
    one = row("k", "d", {"n": 1}, {name: 1})
    with pytest.raises(InputError, match=r"the parameter .*: rename it, as to '\w+'"):
        _text("k", [name], ["n"], [one])
    with pytest.raises(InputError, match=r"the size .*: rename it, as to '\w+'"):
        _text("k", [], [name], [row("k", "d", {name: 1}, {})])


def test_integers_of_more_than_64_bits_are_refused() -> None:
    with pytest.raises(InputError, match="more than 64 bits"):
        type_of([2**64], "x")
    with pytest.raises(InputError, match="more than 64 bits"):
        type_of([-1, 2**63], "x")
