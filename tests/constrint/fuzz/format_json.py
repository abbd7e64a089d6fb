"""Models as JSON."""

from __future__ import annotations

import json
from typing import Any

from constrint import Model
from constrint.expr import FUNCTIONS
from constrint.frontends.json.nodes import READERS
from constrint.support.limits import decoded
from fuzz.harness import NAME, Format
from fuzz.using import use_model

WORDS = (
    *(f'"{name}"' for name in READERS), '"integer"', '"shared"', '["shared", 0]', '["integer", "0xff"]',
    "null", "true", "false", "NaN", "Infinity", "-Infinity", "1e400", "-0", "1.0", '"x"', '"y"',
    '"\\ud800"', '"\\u0000"', '""', "{}", "[]", '{"lo": 0, "hi": null}', '{"lo": 0, "hi": 9, "step": 3}',
    '{"lo": 0, "hi": 9, "step": 0}', '"bool"', '"name"', '"expr"', '"domain"', '"position"', '"format"',
    '"version": 2,', '"max"', '"min"', "[[", "]]", "[1, 2, 3]", "\ufeff", '["**", 2, 1000000000]',
    '["**", "x", 1000000000]', '["sum", 1, "x"]', '"definitions"', '"x": 1, "x": 2,',
)  # fmt: skip


def read(data: bytes) -> Model:
    """A model."""
    return Model.from_json(decoded(data, NAME), filename=NAME)


def grammar() -> Any:
    """Documents that are nearly right: in one of three something odd stands in place of a part."""
    from hypothesis import strategies as st

    integers, conditions = st.deferred(lambda: whole), st.deferred(lambda: truth)

    def node(operator: str, *parts: Any) -> Any:
        return st.tuples(st.just(operator), *parts).map(list)

    def several(operators: list[str], parts: Any, least: int) -> Any:
        lists = st.lists(parts, min_size=least, max_size=4)
        return st.builds(lambda op, args: [op, *args], st.sampled_from(operators), lists)

    small = st.integers(-3, 20)
    numbers = st.lists(small, min_size=1, max_size=5)
    rows = st.lists(st.tuples(small, small).map(list), max_size=4)
    exprs = st.lists(integers, min_size=1, max_size=4)
    whole = st.one_of(
        st.sampled_from(["x", "y", "x", "y", "d"]),
        st.sampled_from(["x", "y", "b"]),
        small,
        several(["*"], integers, 2),
        several(["min", "max", "gcd", "lcm", "nvalue"], integers, 1).map(
            lambda e: ["nvalue", e[1:]] if e[0] == "nvalue" else e
        ),
        *[node(op, integers, integers) for op in ("//", "%", "**")],
        node("abs", integers),
        node("if", conditions, integers, integers),
        *[
            several([f.symbol or f.name], integers, f.fewest).map(
                lambda e, most=f.most: e if most is None else e[: most + 1]
            )
            for f in FUNCTIONS.values()
            if not (f.infix or f.conditions)
        ],
        node("element", numbers, integers),
        node("selection", exprs, integers),
        st.builds(lambda c, a, x: ["sum", c, [a, x]], small, small, integers),
        st.just(["shared", 0]),
        conditions,
    )
    truth = st.one_of(
        st.booleans(),
        st.just("b"),
        *[node(op, integers, integers) for op in ("==", "!=", "<", "<=", "divides")],
        several(["and", "or"], conditions, 0),
        *[node(op, conditions, conditions) for op in ("->", "<->")],
        node("not", conditions),
        node("in", integers, numbers | st.just({"lo": 2, "hi": None})),
        node("table", st.tuples(integers, integers).map(list), rows),
        node("all_different", exprs),
        node("increasing", exprs),
        node("lex_less", st.just(["x", "b"]), st.tuples(integers, integers).map(list)),
    )
    return _documents(integers, conditions)


def _documents(integers: Any, conditions: Any) -> Any:
    """Models with these expressions, in one of three with something odd in place of a part."""
    from hypothesis import strategies as st

    odd: Any = st.sampled_from(
        [None, 1.5, "", {}, [], "x", -1, 10**30, True, "0x1f", "\ud800", [[]], {"lo": 1}]
    )
    usual = [
        {"name": "x", "domain": {"lo": 0, "hi": 9}},
        {"name": "y", "domain": [1, 5, 7]},
        {"name": "b", "domain": "bool"},
    ]
    domains = st.one_of(
        st.just("bool"),
        st.lists(st.integers(-9, 99), max_size=5),
        st.fixed_dictionaries(
            {"lo": st.integers(-9, 9) | st.none(), "hi": st.integers(0, 10**20) | st.none()},
            optional={"step": st.integers(0, 5)},
        ),
    )
    more = st.lists(
        st.fixed_dictionaries({"name": st.sampled_from(["u", "v"]), "domain": domains}), max_size=2
    )
    document = st.fixed_dictionaries(
        {
            "format": st.just("constrint"),
            "version": st.just(1),
            "variables": more.map(lambda v: usual + v),
            "constraints": st.lists(st.fixed_dictionaries({"expr": conditions}), max_size=3),
            "definitions": integers.map(lambda e: [{"name": "d", "expr": "x" if "d" in str(e) else e}]),
            "shared": conditions.map(lambda e: [True if "shared" in str(e) else e]),
        },
        optional={
            "goals": st.lists(
                st.fixed_dictionaries({"expr": integers, "direction": st.sampled_from(["max", "min"])}),
                max_size=2,
            ),
            "name": st.just("model"),
        },
    )
    changes = st.one_of(st.none(), st.none(), st.tuples(st.integers(0, 10**6), odd))
    return st.tuples(document, changes).map(lambda drawn: json.dumps(_changed(*drawn)))


def _changed(document: Any, change: tuple[int, Any] | None) -> Any:
    """The document with something else in one of its places."""
    if change is None:
        return document
    document = json.loads(json.dumps(document))
    places: list[tuple[Any, Any]] = []
    stack = [document]
    while stack:
        part = stack.pop()
        keys = range(len(part)) if isinstance(part, list) else list(part)
        places += [(part, key) for key in keys]
        stack += [part[key] for key in keys if isinstance(part[key], list | dict)]
    part, key = places[change[0] % len(places)]
    part[key] = change[1]
    return document


FORMAT = Format("json", read, use_model, grammar, WORDS, path_like=True)
