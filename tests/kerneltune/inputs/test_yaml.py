"""YAML files: any text is read, or refused with its place, in little time; values agree with PyYAML."""

from __future__ import annotations

import os
import random
import time
import tomllib
from pathlib import Path

import pytest
import yaml

from kerneltune.errors import InputError
from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.hardware import HardwareProfile, load_profile
from kerneltune.inputs.yamlfile import read_checked
from kerneltune.inputs.yamltree import MOST_CHARACTERS, MOST_LEVELS, MOST_YAML_VALUES, YamlError, parsed
from kerneltune.tiling.fit import Constant, with_costs

ROOT = Path(__file__).parents[3]
FILES = sorted([*data_folder("hardware_profiles").glob("*.yaml"), *data_folder("kernels").rglob("*.yaml")])
COUNT = int(os.environ.get("KERNELTUNE_YAML_MUTANTS", "400"))
SECONDS = 2.0  # of processor, for one text


def refusal(text: str) -> str:
    """Line, column and message."""
    with pytest.raises(YamlError) as caught:
        parsed(text)
    return f"{caught.value.line}:{caught.value.column}: {caught.value}"


@pytest.fixture(params=["C", "Python"])
def either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """PyYAML's parser in C, and the one that there is everywhere."""
    if request.param == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    return str(request.param)


@pytest.mark.usefixtures("either_parser")
def test_shipped_files_have_the_values_that_pyyaml_gives() -> None:
    assert len(FILES) > 25
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        tree = parsed(text)
        assert tree.value == yaml.safe_load(text), path
        lines = text.splitlines()
        for key, (line, column) in tree.keys.items():
            assert lines[line - 1][column - 1 :].startswith(str(key)), path


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [x, 2.5, -3, 0x1F, 0o17, 012, +7]", {"a": 1, "b": ["x", 2.5, -3, 31, 15, 12, 7]}),
        ("[yes, no, on, off, '']", ["yes", "no", "on", "off", ""]),
        ("[true, False, ~, null]", [True, False, None, None]),
        ("[1_000, 1:30, 2020-01-02, 0b11]", ["1_000", "1:30", "2020-01-02", "0b11"]),
        ("[1e3, .5, -.inf, 1.]", [1e3, 0.5, float("-inf"), 1.0]),
        ('["1", \'true\', !!str 3, !!int "4", !!float 5, ! 6]', ["1", "true", "3", 4, 5.0, "6"]),
        ("a: &x [1, 2]\nb: *x\nc: &y 3\nd: *y", {"a": [1, 2], "b": [1, 2], "c": 3, "d": 3}),
        ("", None),
        ("# nothing", None),
        ("a:", {"a": None}),
        ("--- 3\n...", 3),
        ("é: ünï — ×", {"é": "ünï — ×"}),
    ],
)  # fmt: skip
def test_values(text: str, value: object) -> None:
    assert parsed(text).value == value


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3", '3:1: found duplicate key "a": keep one of the two'),
        ("x:\n  - b: 1\n    c: 2\n    b: 3", '4:5: found duplicate key "b"'),
        ("a: [1, 2", "not valid YAML"),
        ("a: b: c", "1:5: not valid YAML"),
        ("a: *x", "1:4: not valid YAML: found undefined alias"),
        ("a: &x [1, *x]", "1:11: the alias 'x' is inside the value that it stands for"),
        ("a: &x {b: *x}", "1:11: the alias 'x' is inside the value that it stands for"),
        ("? [1]\n: 2", "1:3: a key must be a single value"),
        ("a: 1\n---\nb: 2", "2:1: a second document: one is expected"),
        ("a: !!python/object/apply:os.system [ls]", "1:4: not valid YAML: unknown tag"),
        ("a: !mine 3", "1:4: not valid YAML: unknown tag"),
        ("a: " + "9" * 5000, "1:4: not valid YAML: a number of more than 400 digits"),
        ("[" * (MOST_LEVELS + 9), f"1:{MOST_LEVELS + 1}: nested too deep"),
        ("[" * 100_000, "nested too deep"),  # the parser may meet a bound of its own first
        ("{a: " * 100_000, f"1:{4 * MOST_LEVELS + 1}: nested too deep"),
        (
            "\n".join(" " * i + "a:" for i in range(900)),
            f"{MOST_LEVELS + 1}:{MOST_LEVELS + 1}: nested too deep",
        ),
        ("- " * 50_000, "nested too deep"),
        ("x" * (MOST_CHARACTERS + 1), f"1:1: longer than {MOST_CHARACTERS} characters"),
        ("[" + "1," * (MOST_YAML_VALUES + 1) + "]", f"more than {MOST_YAML_VALUES} values"),
        ("a: 1\nb: \x07", "not valid YAML"),
    ],
)
def test_what_is_refused_has_a_place(text: str, said: str) -> None:
    started = time.process_time()
    assert said in refusal(text)
    assert time.process_time() - started < 10 * SECONDS


@pytest.mark.usefixtures("either_parser")
def test_aliases_of_aliases_are_bounded() -> None:
    """A text of nine lines that stands for 10^9 values."""
    lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"]
    for one, other in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{other}: &{other} [{','.join([f'*{one}'] * 10)}]")
    assert "counting those repeated by aliases" in refusal("\n".join(lines))
    assert parsed("\n".join(lines[:3])).value["c"][9][9] == ["x"] * 10


@pytest.mark.parametrize("share", range(4))
def test_mutants_of_shipped_files_are_read_or_refused(share: int, tmp_path: Path) -> None:
    random_ = random.Random(share)
    words = ["[", "]", "{", "}", ":", "- ", "&a ", "*a", "!!int ", "!x ", "|", ">", "\t", "\0", "é", '"', "'"]
    words += ["%YAML 1.3\n", "---\n", "...\n", "? ", "<<: *a", "9" * 500, "\n", "# ", "\r", "\ud800"[:0], "~"]
    for number in range(COUNT // 4):
        raw = bytearray(random_.choice(FILES[:25]).read_bytes())
        for _ in range(random_.randint(1, 6)):
            place = random_.randrange(len(raw) + 1)
            kind = random_.randrange(4)
            if kind == 0:
                del raw[place : place + random_.randint(1, 40)]
            elif kind == 1:
                raw[place:place] = random_.choice(words).encode()
            elif kind == 2:
                raw[place : place + 1] = bytes([random_.randrange(256)])
            else:
                other = random_.randrange(len(raw) + 1)
                raw[place:place] = raw[other : other + random_.randint(1, 200)]
        path = tmp_path / f"{number}.yaml"
        path.write_bytes(raw)
        started = time.process_time()
        said = f"{path}:"
        try:
            read_checked(path, HardwareProfile)
        except InputError as error:
            said = str(error)
        assert said.startswith((f"{path}:", f"cannot read {path}"))
        assert time.process_time() - started < SECONDS


@pytest.mark.usefixtures("either_parser")
def test_numbers_are_put_in_their_places() -> None:
    text = "# é — ×\nname: x\ncost:   # here\n    b:   12  # é\n    'a': 7\nmore: {b: 1}\n"
    found = with_costs(text, [Constant("a", 7, 100, 1), Constant("b", 12, 3, 1)])
    assert found == text.replace("12", "3").replace("7", "100")
    flow = with_costs("cost: {a: 1, b: 2}", [Constant("b", 2, 30, 1)])
    assert flow == "cost: {a: 1, b: 30}"
    for wrong in (
        "cost: {a: 1}",
        "cost: {b: x}",
        "cost: 3",
        "b: 3",
        "[",
        "x: &n 4\ncost: {b: *n}",
        "cost: {b: '3'}",
    ):
        with pytest.raises(InputError, match="has no line for the cost 'b'"):
            with_costs(wrong, [Constant("b", 2, 30, 1)])


def test_what_is_wrong_is_listed_up_to_a_number(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("".join(f"wrong_{number}: 1\n" for number in range(5000)))
    with pytest.raises(InputError) as caught:
        load_profile(str(path))
    assert len(str(caught.value).splitlines()) == 50


def test_the_extra_all_is_every_one_that_needs_no_gpu() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (named,) = extras["all"]
    assert named.startswith("constrint[")
    of_gpus, of_developers = {"gpu", "torch", "jax", "nvml"}, {"test", "bench", "docs"}
    assert set(named.removeprefix("constrint[").rstrip("]").split(",")) == (
        set(extras) - of_gpus - of_developers - {"all"}
    )
