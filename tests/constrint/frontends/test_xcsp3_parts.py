"""XCSP3: places of extremes with ranks, and no part or attribute is dropped."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from constrint import Model, ParseError
from constrint.frontends.xcsp3 import read_xcsp3
from constrint.frontends.xcsp3.accepted import PARTS
from constrint.frontends.xcsp3.core_constraints import _RULES

VALUES = range(3)
TWO_GOALS = '<minimize id="o">x[0]</minimize><maximize>x[1]</maximize>'


def instance(
    constraints: str,
    objectives: str = "",
    variables: str = '<array id="x" size="[3]"> 0..2 </array>',
    more: str = "",
) -> str:
    return (
        '<instance format="XCSP3" type="CSP">'
        f'<variables>{variables}<var id="i"> -1..4 </var></variables>\n'
        f"<constraints>\n{constraints}\n</constraints>{objectives}{more}</instance>"
    )


def count(constraint: str) -> int:
    return Model.of(read_xcsp3(instance(constraint))).count()


def ranked(places: list[int], rank: str) -> list[int]:
    return {"any": places, "first": places[:1], "last": places[-1:]}[rank]


ROWS = [(x, i) for x in product(VALUES, repeat=3) for i in range(-1, 5)]


@pytest.mark.parametrize("rank", ["", "any", "first", "last"])
@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize(("kind", "extreme"), [("maximum", max), ("minimum", min)])
class TestExtremes:
    def test_arg(self, kind: str, extreme: Callable[..., Any], start: int, rank: Any) -> None:
        given = f' rank="{rank}"' if rank else ""
        for condition, holds in {
            "(eq,i)": lambda place, i: place == i,
            "(ge,2)": lambda place, i: place >= 2,
            "(in,{0,2})": lambda place, i: place in (0, 2),
            "(lt,i)": lambda place, i: place < i,
        }.items():
            text = (
                f'<{kind}Arg{given}><list startIndex="{start}">x[]</list>'
                f"<condition>{condition}</condition></{kind}Arg>"
            )
            expected = 0
            for x, i in ROWS:
                places = [p + start for p, v in enumerate(x) if v == extreme(x)]
                expected += any(holds(place, i) for place in ranked(places, rank or "any"))  # type: ignore[no-untyped-call]
            assert count(text) == expected, text

    def test_index(self, kind: str, extreme: Any, start: int, rank: Any) -> None:
        given = f' rank="{rank}"' if rank else ""
        for condition, holds in {
            "<condition>(ge,1)</condition>": lambda v: v >= 1,
            "": lambda v: True,
        }.items():
            text = f'<{kind}><list startIndex="{start}">x[]</list><index{given}>i</index>{condition}</{kind}>'
            expected = 0
            for x, i in ROWS:
                places = [p + start for p, v in enumerate(x) if v == extreme(x)]
                expected += holds(extreme(x)) and i in ranked(places, rank or "any")  # type: ignore[no-untyped-call]
            assert count(text) == expected, text

    def test_reified(self, kind: str, extreme: Callable[..., Any], start: int, rank: str) -> None:
        given = f' rank="{rank}"' if rank else ""
        text = f'<{kind}Arg{given} reifiedBy="b"><list>x[]</list><condition>(eq,i)</condition></{kind}Arg>'
        variables = '<array id="x" size="[3]"> 0..2 </array><var id="b"> 0 1 </var>'
        model = Model.of(read_xcsp3(instance(text, variables=variables)))
        assert model.count() == len(ROWS)
        assert start in (0, 1)
        assert extreme in (max, min)


@pytest.mark.parametrize("rank", ["any", "first", "last"])
@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize(
    ("wanted", "holds"),
    [("<value>1</value>", lambda v: v == 1), ("<condition>(ge,1)</condition>", lambda v: v >= 1)],
)
def test_entries_with_ranks(wanted: str, holds: Callable[..., Any], start: int, rank: str) -> None:
    text = f'<element><list startIndex="{start}">x[]</list><index rank="{rank}">i</index>{wanted}</element>'
    expected = sum(i in ranked([p + start for p, v in enumerate(x) if holds(v)], rank) for x, i in ROWS)
    assert count(text) == expected


def test_every_constraint_says_what_it_reads() -> None:
    elements = {one.partition("@")[0] for one in PARTS}
    assert elements >= set(_RULES)


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ('<allDifferent covered="true">x[]</allDifferent>', "attribute covered of <allDifferent>"),
        ('<sum><list startIndex="1">x[]</list><condition>(le,2)</condition></sum>', "startIndex of <list>"),
        ("<sum><list>x[]</list><condition>(le,2)</condition><condition>(ge,1)</condition></sum>", "several"),
        ("<sum>x[]<list>x[0]</list><condition>(le,2)</condition></sum>", "stands beside the parts"),
        ("<sum><list>x[]</list> x[0] <condition>(le,2)</condition></sum>", "stands behind a part"),
        ("<element><list>x[]</list><index>i</index><value>1</value><condition>(eq,1)</condition></element>",
         "only one of them"),
        ("<extension><list>x[0]</list><supports>1</supports><conflicts>2</conflicts></extension>", "only"),
        ('<maximumArg rank="second"><list>x[]</list><condition>(eq,i)</condition></maximumArg>', "rank"),
        ('<element><matrix>(x[0],x[1])</matrix><index rank="last">0 i</index><value>1</value></element>',
         "rank"),
        ("<maximum><list>x[]</list></maximum>", "needs a condition"),
        ('<allEqual type="strange">x[]</allEqual>', "type 'strange'"),
        ('<group strict="true"><allEqual>%...</allEqual><args>x[]</args></group>', "attribute strict"),
        ('<slide><list window="2">x[]</list><intension>ne(%0,%1)</intension></slide>', "attribute window"),
    ],
)  # fmt: skip
def test_what_would_be_left_out_is_refused(constraint: str, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        read_xcsp3(instance(constraint))
    assert ":2:1:" in str(caught.value) or ":3:1:" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (instance("", variables='<var id="y" type="real"> 0..2 </var>'), "type 'real'"),
        (instance("", variables='<array id="y" size="[2]" startIndex="1"> 0..2 </array>'), "begin with 0"),
        (instance("", variables='<var id="y" scale="2"> 0..2 </var>'), "attribute scale"),
        (instance("").replace('type="CSP"', 'type="WCSP"'), "type 'WCSP'"),
        (instance("").replace('type="CSP"', 'type="CSP" measure="sum"'), "attribute measure"),
        (instance("", more="<relations></relations>"), "<relations> in <instance>"),
        (
            instance("", f"<objectives>{TWO_GOALS}</objectives>"),
            "lexicographic",
        ),
        (
            instance("", f'<objectives combination="pareto">{TWO_GOALS}</objectives>'),
            "lexicographic",
        ),
        (instance("", '<objectives><minimize weight="2">i</minimize></objectives>'), "attribute weight"),
        (
            instance("", "<objectives><minimize><list>i</list><except>0</except></minimize></objectives>"),
            "<except> in <minimize>",
        ),
    ],
)  # fmt: skip
def test_other_parts_of_an_instance_are_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_xcsp3(text)


def test_what_only_describes_is_ignored() -> None:
    text = instance(
        '<block class="k" note="n"><allDifferent id="c" class="k" note="n">x[]</allDifferent></block>',
        f'<objectives combination="lexico">{TWO_GOALS}</objectives>',
        more="<annotations><decision>x[]</decision></annotations>",
    )
    model = Model.of(read_xcsp3(text))
    assert model.count() == 6 * 6
    assert model.solve().objective == (0, 2)
