"""Enumeration and set variables: their operations are those of Python's values and sets."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

import constrint as ci
from constrint.modelling.symbols import SetExpr

SEEDS = range(60)
COLORS = [["red", "green", "blue"], ["blue", "red"], ["red", "green", "blue"]]


def built(draw: Random) -> tuple[ci.Model, dict[str, Any], list[list[Any]]]:
    """A model with two enumerations, two sets and an integer, and the values of each."""
    m = ci.Model()
    names: dict[str, Any] = {}
    values: list[list[Any]] = []
    for name in ("c", "d"):
        colors = draw.choice(COLORS)
        names[name] = m.enum_var(name, colors)
        values.append(list(colors))
    for name in ("s", "t"):
        members = draw.sample([1, 2, 3, "red"], draw.randint(1, 3))
        least, most = draw.choice([0, 0, 1]), draw.choice([1, 2, 3])
        names[name] = m.set_var(name, members, min_size=least, max_size=most)
        sets = [set(one) for n in range(len(members) + 1) for one in itertools.combinations(members, n)]
        values.append([frozenset(one) for one in sets if least <= len(one) <= most])
    names["x"] = m.int_var("x", 0, 3)
    values.append([0, 1, 2, 3])
    return m, names, values


def drawn_set(draw: Random, depth: int = 2) -> Any:
    kind = draw.choice(["s", "t", "constant"] if depth == 0 else ["s", "t", "constant", "|", "&", "-", "^"])
    if kind == "constant":
        return ("constant", frozenset(draw.sample([1, 2, 3, 4, "red"], draw.randint(0, 3))))
    if kind in ("s", "t"):
        return (kind,)
    return (kind, drawn_set(draw, depth - 1), drawn_set(draw, depth - 1))


def drawn_condition(draw: Random) -> Any:
    kind = draw.choice(["set", "set", "set", "contains", "size", "disjoint", "color", "colors", "in", "map"])
    if kind == "set":
        return (kind, draw.choice(["==", "!=", "<=", ">=", "<", ">"]), drawn_set(draw), drawn_set(draw))
    if kind == "contains":
        return (kind, drawn_set(draw), draw.choice([1, 4, "red", "blue", ("c",), ("x",)]))
    if kind == "size":
        return (kind, drawn_set(draw), draw.randint(0, 3))
    if kind == "disjoint":
        return (kind, drawn_set(draw), drawn_set(draw))
    return (kind, draw.choice(["==", "!="]), draw.choice(["red", "blue"]))


def evaluated(tree: Any, names: dict[str, Any]) -> Any:
    """A set; the same code for Python's sets and for set variables."""
    if tree[0] == "constant":
        return tree[1]
    if tree[0] in ("s", "t"):
        return names[tree[0]]
    left, right = (evaluated(part, names) for part in tree[1:])
    return {
        "|": lambda: left | right,
        "&": lambda: left & right,
        "-": lambda: left - right,
        "^": lambda: left ^ right,
    }[tree[0]]()


def compared(operator: str, left: Any, right: Any) -> Any:
    return {
        "==": lambda: left == right,
        "!=": lambda: left != right,
        "<=": lambda: left <= right,
        ">=": lambda: left >= right,
        "<": lambda: left < right,
        ">": lambda: left > right,
    }[operator]()


def condition(tree: Any, names: dict[str, Any], is_model: bool) -> Any:
    """A condition on the model's variables, or its truth for values."""
    kind, *rest = tree
    if kind == "set":
        return compared(rest[0], evaluated(rest[1], names), evaluated(rest[2], names))
    if kind == "contains":
        members = evaluated(rest[0], names)
        value = names[rest[1][0]] if isinstance(rest[1], tuple) else rest[1]
        return members.contains(value) if hasattr(members, "contains") else is_in(value, members, is_model)
    if kind == "size":
        members = evaluated(rest[0], names)
        return (members.cardinality if hasattr(members, "cardinality") else len(members)) == rest[1]
    if kind == "disjoint":
        left, right = evaluated(rest[0], names), evaluated(rest[1], names)
        if hasattr(left, "disjoint"):
            return left.disjoint(right)
        return right.disjoint(left) if hasattr(right, "disjoint") else not (left & right)
    operator, color = rest
    if kind == "color":
        return compared(operator, names["c"], color)
    if kind == "colors":
        return compared(operator, names["c"], names["d"])
    if kind == "in":
        return names["c"].is_in([color]) if is_model else names["c"] == color
    numbers = {"red": 5, "green": 1, "blue": 2}
    number = names["c"].map(numbers) if is_model else numbers[names["c"]]
    return compared(operator, number, numbers[color])


def is_in(value: Any, members: frozenset[Any], is_model: bool) -> Any:
    """Membership in a set of constants."""
    if not is_model:
        return value in members
    if isinstance(value, ci.IntVar):
        return value.is_in([one for one in members if isinstance(one, int)])
    known = [one for one in members if one in getattr(value, "values", members)]
    return value.is_in(known) if hasattr(value, "is_in") else value in members


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_conditions_mean_what_they_mean_in_python(seed: int) -> None:
    draw = Random(seed)
    m, names, values = built(draw)
    trees = [drawn_condition(draw) for _ in range(draw.randint(1, 3))]
    for tree in trees:
        try:
            made = condition(tree, names, True)
        except ci.ModelError as error:
            if not re.search("can be (no|a) member of", str(error)):
                raise
            derived = {name: SetExpr(one.members) if name in "st" else one for name, one in names.items()}
            made = condition(tree, derived, True)
        if isinstance(made, bool):
            m.add(names["x"] >= (0 if made else 9))
        else:
            m.add(made)

    def solutions() -> Iterator[dict[str, Any]]:
        for point in itertools.product(*values):
            chosen = dict(zip(names, point, strict=True))
            if all(condition(tree, chosen, False) for tree in trees):
                yield chosen

    expected = {tuple(one.values()) for one in solutions()}
    found = [one.to_dict() for one in m.iter_solutions()]
    assert all(list(one) == list(names) for one in found)
    assert {tuple(one.values()) for one in found} == expected
    assert len(found) == len(expected) == m.count()
    assert m.count(variables=[names["s"], "c"]) == len({(one[2], one[0]) for one in expected})
    again = ci.Model.from_json(m.to_json())
    assert {tuple(one.values.values()) for one in again.iter_solutions()} == expected
    if expected:
        hint = draw.choice(list(solutions()))
        assert m.solve(hint={names[name]: value for name, value in hint.items()}).to_dict() == hint
        assert m.solve(hint=m.solve(hint=hint)).to_dict() == hint
        for options in ({"learn": True}, {"backend": "cp-sat"}):
            result = m.solve(maximize=names["s"].cardinality, **options)
            assert result.objective == max(len(one[2]) for one in expected)
            assert tuple(result.to_dict().values()) in expected
            tree = drawn_set(draw)
            known = evaluated(tree, names)
            if hasattr(known, "members"):
                assert result[known] == evaluated(tree, result.to_dict())


def test_results_have_the_values_of_the_user() -> None:
    m = ci.Model()
    color = m.enum_var("color", ["red", "green", "blue"])
    team = m.set_var("team", ["ann", "bob", "eve"], min_size=1)
    m.add(color > "red", team <= {"ann", "eve"}, color != "green")
    result = m.solve(maximize=team.cardinality)
    assert (result[color], result["team"]) == ("blue", {"ann", "eve"})
    assert "'color': 'blue'" in repr(result)
    assert list(result.to_numpy()) == ["blue", {"ann", "eve"}]
    m.block(result, [color, team])
    assert m.solve(maximize=team.cardinality)[team.cardinality] == 1
    with m.scope():
        m.enum_var("more", [1, 2])
    assert list(m.symbols) == ["color", "team"]
    front = m.pareto([(team.cardinality, "max"), (color.index, "min")])
    assert front[0]["color"] == "blue"


def test_what_is_no_value_or_member_says_why() -> None:
    m = ci.Model()
    color = m.enum_var("color", ["red", "green"])
    other = m.enum_var("other", ["green", "red"])
    team = m.set_var("team", [1, 2, 3])
    odd = m.enum_var("odd", [(1, 2), (3, 4)])
    for wrong, message in (
        (lambda: color == "blue", "'color' has no value 'blue'; it has: 'red', 'green'"),
        (lambda: color.is_in(["blue"]), "no value 'blue'"),
        (lambda: color < other, "their order differs"),
        (lambda: color.map({"red": 1}), "has the value 'green', for which no number is given"),
        (lambda: m.enum_var("color", ["a"]), "declared twice"),
        (lambda: m.set_var("color", ["a"]), "declared twice"),
        (lambda: m.int_var("team", 0, 1), "declared twice"),
        (lambda: m.enum_var("e", []), "has no values"),
        (lambda: m.enum_var("e", ["a", "a"]), "'a' twice"),
        (lambda: m.enum_var("e", "abc"), "must be a list"),
        (lambda: m.set_var("e", [[1]]), "are constants"),  # type: ignore[type-var]
        (lambda: m.set_var("e", [1, 2], min_size=3), "at least 3 and at most 2"),
        (lambda: 1 in team, "s.contains"),
        (lambda: len(team), "s.cardinality"),
        (lambda: team <= 3, "is not a set"),  # type: ignore[operator]
        (lambda: m.hint({color: "blue"}), "no value 'blue'"),
        (lambda: m.hint({team: [4]}), "4 can be no member of 'team'"),
        (lambda: m.to_json(), "has no form in JSON"),
        (lambda: bool(color == "red"), "no truth value"),
    ):
        with pytest.raises(ci.ModelError, match=message):
            wrong()
    assert m.solve(hint={odd: (3, 4)})[odd] == (3, 4)


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ('[{"name": "x"}]', r"symbols\[0\]: give the values"),
        ('[{"name": "x", "enum": [1.5]}]', r"1.5"),
        ('[{"name": "x", "enum": ["a", "b"]}]', r"symbols\[0\]: 'x' needs a variable .* 0..1"),
        ('[{"name": "s", "set": ["a"]}]', r"symbols\[0\]: 's' needs a Boolean variable"),
        ('[{"name": "x", "enum": ["a", "a"]}]', r"symbols\[0\]: .* 'a' twice"),
        ('[{"name": "x", "enum": [null]}]', r"symbols\[0\]\.enum\[0\]: None is neither"),
    ],
)
def test_mistakes_in_json_have_their_place(symbols: str, message: str) -> None:
    m = ci.Model()
    m.int_var("x", 0, 5)
    text = m.to_json().removesuffix("}") + f', "symbols": {symbols}}}'
    with pytest.raises(ci.ModelError, match=message):
        ci.Model.from_json(text)


@pytest.mark.parametrize(
    "ask",
    [
        lambda s, c: s.contains("zz"),
        lambda s, c: s.contains([1]),
        lambda s, c: s == {"u", "zz"},
        lambda s, c: s != {"zz"},
        lambda s, c: s >= {"zz"},
        lambda s, c: s > {"zz"},
        lambda s, c: s.contains(c),
    ],
)
def test_what_can_be_no_member_is_named(ask: Callable[..., Any]) -> None:
    m = ci.Model()
    s, c = m.set_var("s", ["u", "v"]), m.enum_var("c", ["x", "y"])
    with pytest.raises(ci.ModelError, match=r"member of 's'.*'u', 'v'"):
        ask(s, c)


def test_larger_sets_of_constants_have_a_meaning() -> None:
    m = ci.Model()
    s = m.set_var("s", ["u", "v"])
    m.add(s <= {"u", "zz"}, (s & {"u", "zz"}) == {"u"}, s.disjoint({"zz"}), (s | {"zz"}).contains("zz"))
    assert [result["s"] for result in m.iter_solutions()] == [frozenset({"u"})]
