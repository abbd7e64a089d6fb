"""Short texts that stand for very much are refused soon, with the limit and its place.

A text of n bytes is read or refused within 1,000,000 + n steps. The classes: what is named and taken again,
what is run through and left out, what calls itself through others, what is listed at great length.
"""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constrint import LimitError, LimitExceeded, Limits, Model, ParseError
from constrint.frontends import parsers
from constrint.frontends.text.data import read_data
from constrint.support.limits import Budget, resident_bytes

HEAD = "x in 0..9\ny in 0..9\n"
SECONDS = 20.0
"""Processor time that no answer takes on a busy machine: 3 s on an idle one."""
GROWTH = 800_000_000


def doubled(first: str, then: str, use: str) -> str:
    return (
        f"{HEAD}a0 := {first}\n"
        + "".join(f"a{i} := {then.format(f'a{i - 1}')}\n" for i in range(1, 61))
        + use
    )


LISTS = doubled("[x, 1]", "[{0}, {0}]", "")
NUMBERS = doubled("[1, 1]", "[{0}, {0}]", "")
LONG = f"{HEAD}n := 10000\nv[1..n] in 0..9\nc[i in 1..n] := i\ns := sum(v)\n"
THRICE = "for i in 1..2000 for j in 1..2000 for k in 1..2000"
FUNCTIONS = f"{HEAD}f0(p) := {{0}}\n" + "".join(
    f"f{i}(p) := f{i - 1}(p) + f{i - 1}(p)\n" for i in range(1, 61)
)
REFUSED = {
    **{
        f"nested {use} {kind}": text + use
        for kind, text in {"lists": LISTS, "numbers": NUMBERS}.items()
        for use in [
            "sum(a60) == x",
            "all_different(a60)",
            "x in a60",
            "a60[1] == x",
            "table([x, y], a60)",
            "max(a60) == x",
            "forall(a60)",
            "len([z for q in a60 for z in a60]) == x; sum(a60) == y",
            "b[1..2] := a60",
            "nvalue(a60) == x",
        ]
    },
    "comprehension": f"{HEAD}sum(i * j * k {THRICE}) == x",
    "condition never true": f"{HEAD}sum(i {THRICE} if k < 0) == x",
    "two conditions": f"{HEAD}sum(i {THRICE} if k > 0 if j in {{3, 5}} and k < 0) == x",
    "empty inner loop": f"{HEAD}sum(j for i in 1..1000000 for j in i..i-1) == x",
    "empty inner loops": HEAD + "sum(j for i in 1..100000 for j in i..i-1) == x\n" * 60,
    "forall": f"{HEAD}forall(x == 1 {THRICE} if i + j + k < 0)",
    "set": f"{HEAD}x in {{i * j * k {THRICE}}}",
    "array": f"{HEAD}a[i in 1..2000, j in 1..2000] := i * j",
    "declared array": f"{HEAD}a[i in 1..1000, j in 1..1000] in i - i..j + 1",
    "functions of a variable": FUNCTIONS.format("p + p") + "f60(x) == x",
    "functions of nothing": FUNCTIONS.format("1") + "f60(1) == x",
    "functions of lists": f"{HEAD}f0(p) := [p, p]\n"
    + "".join(f"f{i}(p) := f{i - 1}([p, p])\n" for i in range(1, 61))
    + "sum(f60(1)) == x",
    "long array again": LONG + "sum(v) <= 7\n" * 1000,
    "long array at a variable": LONG + "v[y] <= 7\n" * 1000,
    "long list at a variable": LONG + f"l := [{'1, ' * 10_000}]\n" + "l[x] <= 7\n" * 2000,
    "long list as a set": LONG + f"l := [{'1, ' * 10_000}]\n" + "x in l\n" * 2000,
    "parts of a long array": LONG + "sum(v[i..i+1] for i in 1..300) == x",
    "names for a long array": LONG + "".join(f"v{i} := v\nsum(v{i}) == x\n" for i in range(1000)),
    "long sum again": LONG + "s + x <= 7\n" * 2000,
    "factor of a long sum": LONG + "(s * x) // y <= 7\n" * 2000,
    "ranges in brackets": HEAD + "sum([1..1000000]) == x\n" * 50,
    "ranges in braces": HEAD + "x in {1..1000000}\n" * 50,
}  # fmt: skip
TYPICAL = ["nested a60[1] == x lists", "condition never true", "functions of nothing"]
ANSWERED = {
    "many index sets": f"{HEAD}a[{', '.join(['1..1'] * 15_000)}] in 0..1",
    "many generators": f"{HEAD}sum(1 {' '.join(f'for i{k} in 1..2' for k in range(10_000))}) == x",
    "many generators of a function": HEAD
    + f"f(p) := sum(p {' '.join(f'for i{k} in 1..2' for k in range(4500))})",
    "many names": f"enum E := {{{', '.join(f'n{i}' for i in range(30_000))}}}\nx in E",
    "long arguments": f"{HEAD}max({'x, ' * 40_000}) == y; sum([{'x, y + 1, ' * 20_000}]) == 3",
    "preferences": f"{HEAD}prefer {', '.join(['x min'] * 10_000)}",
    "subscripts": f"{HEAD}a := [1, 2]\na[{', '.join(['1'] * 15_000)}] == x",
    "open brackets": HEAD + "(" * 40_000 + "x" + ")" * 40_000 + " == 1",
    "negations": HEAD + "not " * 40_000 + "x == 1",
    "remainders": HEAD + "x" + " % 3" * 40_000 + " == 1",
    "summands": HEAD + "x" + " + x" * 80_000 + " == 1",
    "unknown elements": HEAD + "".join(f"w{i} in 0..1\n" for i in range(10_000)) + "q[1] == 1\n",
}  # fmt: skip


def spent(read: Callable[..., Any]) -> tuple[Exception | None, float]:
    """What reading raises, and its processor time; its memory is checked."""
    gc.collect()
    before, started = resident_bytes() or 0, time.process_time()
    error: Exception | None = None
    try:
        read()
    except Exception as caught:
        error = caught.with_traceback(None)
    taken = time.process_time() - started
    assert (resident_bytes() or 0) - before < GROWTH
    return error, taken


@pytest.mark.parametrize("kind", REFUSED)
def test_what_stands_for_very_much_is_refused_soon(kind: str) -> None:
    few = Limits(steps=50_000)
    error, seconds = spent(lambda: Model.from_text(REFUSED[kind], filename="t", limits=few, time_limit=60))
    if "lists in it" not in str(error):  # most functions take no nested list, and say so at once
        assert isinstance(error, LimitExceeded), error
    assert re.match(r"t:\d+", str(error)), error
    assert seconds < SECONDS / 5


@pytest.mark.parametrize("kind", TYPICAL)
def test_it_is_refused_soon_by_default(kind: str) -> None:
    error, seconds = spent(lambda: Model.from_text(REFUSED[kind]))
    assert isinstance(error, LimitExceeded), error
    assert error.name == "steps"
    assert seconds < SECONDS


@pytest.mark.parametrize("kind", ANSWERED)
def test_what_is_very_long_is_answered_soon(kind: str) -> None:
    _, seconds = spent(lambda: Model.from_text(ANSWERED[kind], filename="t", time_limit=60))
    assert seconds < SECONDS


@pytest.mark.parametrize("kind", ["nested a60[1] == x lists", "condition never true", "functions of nothing"])
def test_the_time_limit_holds_where_the_others_are_lifted(kind: str) -> None:
    free = Limits(nodes=None, steps=None, values=None, depth=None)
    error, seconds = spent(lambda: Model.from_text(REFUSED[kind], limits=free, time_limit=0.3))
    assert isinstance(error, LimitError)
    assert "time limit" in str(error)
    assert seconds < SECONDS


def test_steps_grow_with_the_text() -> None:
    text = HEAD + "x + y <= 3\n" * 60
    Model.from_text(text, limits=Limits(steps=1))
    with pytest.raises(LimitExceeded, match="more than 100 steps beyond one for each byte") as caught:
        Model.from_text(text + "sum(i * 2 for i in 1..5000) == x", limits=Limits(steps=100))
    assert caught.value.name == "steps"
    Model.from_text(text + "sum(i * 2 for i in 1..5000) == x", limits=Limits(steps=None))


@pytest.mark.parametrize("given", ["3", "x", "x + 1", "sum([1, 2])", "{1, 2}", "1..3", "[1]", "[x]"])
def test_what_is_no_table_is_refused_at_its_place(given: str) -> None:
    with pytest.raises(ParseError, match=r"^t:\d+"):
        Model.from_text(f"{HEAD}a := {given}\ntable([x, y], a)\nregular([x], a, 0, [1])", filename="t")


def test_nested_lists_that_are_not_taken_apart_stay_as_they_are() -> None:
    assert len(Model.from_text(LISTS).variables) == 2
    assert Model.from_text(f"{NUMBERS}len(a60) == x").solve()["x"] == 2


def bomb(levels: int, of: int, first: str = "[1, 1]") -> str:
    lines = [f"a0: &a0 {first}"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * of)}]" for i in range(1, levels)]
    return "\n".join(lines)


YAML = {
    "aliases": (bomb(60, 2), "values"),
    "many aliases": (bomb(12, 9), "values"),
    "aliases of mappings": (bomb(40, 2, "{k: 1}"), "values"),
    "wide": (f"a: &a [{', '.join(['1'] * 20_000)}]\nb: [{', '.join(['*a'] * 20_000)}]", "values"),
    "deep": ("a: " + "[" * 10_000, "depth"),
    "deep aliases": ("a0: &a0 []\n" + "\n".join(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 5000)), "depth"),
}


@pytest.mark.parametrize("kind", YAML)
def test_yaml_aliases_count_as_what_they_stand_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "d.yaml"
    text, name = YAML[kind]
    path.write_text(text)
    error, seconds = spent(lambda: read_data([path], None, Budget()))
    assert isinstance(error, LimitExceeded), error
    assert error.name in (name, "steps")
    assert f"{path}:" in error.where
    assert seconds < SECONDS / 2


def test_aliases_that_a_parameter_spreads_count_as_steps(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(f"a: &a [{', '.join(['1'] * 3_000)}]\nb: [{', '.join(['*a'] * 3_000)}]")
    error, seconds = spent(
        lambda: (
            Model.from_text("param b", data=path)
            if 0
            else Model.from_file(written(tmp_path, "param a; param b\nx in 0..1"), data=path)
        )
    )
    assert isinstance(error, LimitExceeded), error
    assert seconds < SECONDS


def written(folder: Path, text: str) -> Path:
    path = folder / "m.constrint"
    path.write_text(text)
    return path


def test_includes_of_one_file_are_found_once(tmp_path: Path) -> None:
    (tmp_path / "inc.constrint").write_text("y in 0..9\n")
    path = written(tmp_path, "x in 0..9\n" + 'include "inc.constrint"\n' * 20_000)
    error, seconds = spent(lambda: Model.from_file(path))
    assert error is None
    assert seconds < SECONDS / 2
    names = "".join(f'include "{"./" * (i % 300)}inc.constrint"\n' for i in range(3000))
    _, seconds = spent(lambda: Model.from_file(written(tmp_path, names), limits=Limits(bytes=10_000_000)))
    assert seconds < SECONDS


@pytest.mark.parametrize("name", ["text/grammar", "text/flashrnn", "flatzinc/flatzinc"])
def test_lists_of_no_grammar_are_copied_at_each_item(name: str) -> None:
    """A rule that ends with itself makes a list anew for each of its items."""
    for rule in parsers.parser_of(name, positions=False).rules:
        if rule.origin.name.startswith("_") and len(rule.expansion) > 1:
            assert rule.expansion[-1].name != rule.origin.name, rule


MANY = 300
ZINC = {
    "array of constants": "array [1..100000] of int: a = [" + ",".join(["1"] * 100_000) + "];\n"
    "var 1..9: x;\n" + "constraint array_int_element(x,a,x);\n" * 3000,
    "array of variables": "".join(f"var 0..9: x{i};\n" for i in range(9000))
    + f"array [1..9000] of var int: a = [{','.join(f'x{i}' for i in range(9000))}];\n"
    + "constraint fzn_all_different_int(a);\n" * 3000,
}


@pytest.mark.parametrize("kind", ZINC)
def test_flatzinc_arrays_count_at_each_use(kind: str) -> None:
    text = ZINC[kind] + "solve satisfy;\n"
    error, seconds = spent(
        lambda: Model.from_text(text, dialect="flatzinc", filename="t", limits=Limits(steps=50_000))
    )
    assert isinstance(error, LimitExceeded), error
    assert seconds < SECONDS
