# ruff: noqa: E501 - an instance stands beside its definition
"""XCSP3-core: instances as models, each constraint against its definition by brute force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from constrint import Model, ModelError, ParseError, Status
from constrint.cli.main import app
from constrint.frontends.xcsp3 import read_xcsp3

LOW, HIGH = -1, 3
XS = '<array id="x" size="[4]"> -1..3 </array>'


def instance(constraints: str, variables: str = XS, objectives: str = "") -> str:
    return (
        f'<instance format="XCSP3" type="CSP"><variables>{variables}</variables>\n'
        f"<constraints>\n{constraints}\n</constraints>{objectives}</instance>"
    )


def trunc(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def cycle(x: Any) -> Any:
    on = [i for i in range(4) if x[i] != i]
    if len(on) < 2 or not all(0 <= v < 4 for v in x):
        return False
    seen, node = [], on[0]
    while node not in seen:
        seen.append(node)
        node = x[node]
    return node == on[0] and len(seen) == len(on)


def apart(starts: Any, lengths: Any, keep_zero: Any) -> bool:
    return all(
        a + u <= b or b + v <= a or (not keep_zero and 0 in (u, v))
        for i, (a, u) in enumerate(zip(starts, lengths, strict=True))
        for b, v in list(zip(starts, lengths, strict=True))[:i]
    )


def usage(starts: Any, lengths: Any, heights: Any) -> Any:
    tasks = list(zip(starts, lengths, heights, strict=True))
    return max(sum(h for s, d, h in tasks if s <= t < s + d) for t in range(-1, 8))


def word(x: Any) -> bool:
    state = "a"
    for v in x:
        state = {("a", 0): "a", ("a", 1): "b", ("b", 0): "a", ("b", 2): "c", ("c", 0): "c"}.get((state, v))  # type: ignore[assignment]
    return state in ("a", "c")


CASES = {
    "intension": ("<intension> or(eq(x[0],add(x[1],x[2])),gt(dist(x[1],x[3]),2)) </intension>",
                  lambda a, b, c, d: a == b + c or abs(b - d) > 2),
    "division": ("<intension> and(ne(x[1],0),eq(div(x[0],if(eq(x[1],0),1,x[1])),mod(x[2],3))) </intension>",
                 lambda a, b, c, d: b != 0 and trunc(a, b) == c - 3 * trunc(c, 3)),
    "membership": ("<intension> in(x[0],set(1,3)) </intension>", lambda a, b, c, d: a in (1, 3)),
    "supports": ("<extension><list> x[0] x[2] </list><supports> (1,2)(0,*)(*,3) </supports></extension>",
                 lambda a, b, c, d: (a, c) == (1, 2) or a == 0 or c == 3),
    "conflicts": ("<extension><list> x[0..1] </list><conflicts> (1,2)(3,-1) </conflicts></extension>",
                  lambda a, b, c, d: (a, b) not in ((1, 2), (3, -1))),
    "unary": ("<extension><list> x[1] </list><supports> -1 2..3 </supports></extension>",
              lambda a, b, c, d: b in (-1, 2, 3)),
    "different": ("<allDifferent> x[] </allDifferent>", lambda *x: len(set(x)) == 4),
    "except": ("<allDifferent><list> x[] </list><except> 0 1 </except></allDifferent>",
               lambda *x: all(x.count(v) <= 1 for v in x if v not in (0, 1))),
    "lists differ": ("<allDifferent><list> x[0] x[1] </list><list> x[2] x[3] </list></allDifferent>",
                     lambda a, b, c, d: (a, b) != (c, d)),
    "equal": ("<allEqual> x[0..2] </allEqual>", lambda a, b, c, d: a == b == c),
    "ordered": ("<ordered><list> x[] </list><operator> lt </operator></ordered>",
                lambda *x: all(a < b for a, b in pairwise(x))),
    "lengths": ("<ordered><list> x[0..2] </list><lengths> 1 0 </lengths><operator> le </operator></ordered>",
                lambda a, b, c, d: a + 1 <= b <= c),
    "lex": ("<lex><list> x[0] x[1] </list><list> x[2] x[3] </list><operator> gt </operator></lex>",
            lambda a, b, c, d: (a, b) > (c, d)),
    "sum": ("<sum><list> x[] </list><coeffs> 1 -2 1x2 </coeffs><condition> (in,1..2) </condition></sum>",
            lambda a, b, c, d: a - 2 * b + c + d in (1, 2)),
    "sum of variables": ("<sum><list> x[0] x[1] </list><coeffs> x[2] 2 </coeffs><condition> (eq,x[3]) </condition></sum>",
                         lambda a, b, c, d: a * c + 2 * b == d),
    "count": ("<count><list> x[0..2] </list><values> 1 2 </values><condition> (ge,x[3]) </condition></count>",
              lambda a, b, c, d: sum(v in (1, 2) for v in (a, b, c)) >= d),
    "values": ("<nValues><list> x[0..2] </list><condition> (eq,x[3]) </condition></nValues>",
               lambda a, b, c, d: len({a, b, c}) == d),
    "values but": ("<nValues><list> x[0..2] </list><except> 0 </except><condition> (eq,x[3]) </condition></nValues>",
                   lambda a, b, c, d: len({a, b, c} - {0}) == d),
    "cardinality": ('<cardinality><list> x[0..2] </list><values closed="true"> 0 1 2 </values><occurs> 0..1 x[3] 1 </occurs>'
                    "</cardinality>",
                    lambda a, b, c, d: {a, b, c} <= {0, 1, 2} and [a, b, c].count(0) <= 1
                    and [a, b, c].count(1) == d and [a, b, c].count(2) == 1),
    "maximum": ("<maximum><list> x[0..2] </list><condition> (lt,x[3]) </condition></maximum>",
                lambda a, b, c, d: max(a, b, c) < d),
    "element": ('<element><list startIndex="1"> x[0..2] </list><index> x[3] </index><value> 2 </value></element>',
                lambda *x: 1 <= x[3] <= 3 and x[x[3] - 1] == 2),
    "element of constants": ("<element><list> 3 1 2 </list><index> x[0] </index><value> x[1] </value></element>",
                             lambda a, b, c, d: 0 <= a < 3 and (3, 1, 2)[a] == b),
    "matrix": ("<element><matrix> (1,2)(3,0) </matrix><index> x[0] x[1] </index><value> x[2] </value></element>",
               lambda a, b, c, d: {a, b} <= {0, 1} and ((1, 2), (3, 0))[a][b] == c),
    "channel": ("<channel> x[0..2] </channel>", lambda *x: all(0 <= v < 3 and x[x[i]] == i for i, v in enumerate(x[:3]))),
    "two channels": ("<channel><list> x[0..1] </list><list> x[2..3] </list></channel>",
                     lambda *x: all(0 <= v < 2 and x[2 + v] == i for i, v in enumerate(x[:2]))),
    "no overlap": ("<noOverlap><origins> x[0..2] </origins><lengths> 1 2 0 </lengths></noOverlap>",
                   lambda a, b, c, d: apart((a, b, c), (1, 2, 0), False)),
    "boxes": ("<noOverlap><origins> (x[0],x[1])(x[2],x[3]) </origins><lengths> (1,2)(2,1) </lengths></noOverlap>",
              lambda a, b, c, d: a + 1 <= c or c + 2 <= a or b + 2 <= d or d + 1 <= b),
    "cumulative": ("<cumulative><origins> x[0..2] </origins><lengths> 2 1 3 </lengths><heights> 1 2 1 </heights>"
                   "<condition> (le,2) </condition></cumulative>",
                   lambda a, b, c, d: usage((a, b, c), (2, 1, 3), (1, 2, 1)) <= 2),
    "packing": ("<binPacking><list> x[0..2] </list><sizes> 2 1 2 </sizes><condition> (le,3) </condition></binPacking>",
                lambda a, b, c, d: all(sum(s for v, s in zip((a, b, c), (2, 1, 2), strict=True) if v == i) <= 3
                                       for i in range(-1, 4))),
    "knapsack": ("<knapsack><list> x[0..1] </list><weights> 3 2 </weights><profits> 1 4 </profits>"
                 "<condition> (le,6) </condition><condition> (ge,x[3]) </condition></knapsack>",
                 lambda a, b, c, d: 3 * a + 2 * b <= 6 and a + 4 * b >= d),
    "circuit": ("<circuit> x[] </circuit>", lambda *x: cycle(x)),
    "circuit of three": ("<circuit><list> x[] </list><size> 3 </size></circuit>",
                         lambda *x: cycle(x) and sum(v != i for i, v in enumerate(x)) == 3),
    "instantiation": ("<instantiation><list> x[0..1] </list><values> 2 -1 </values></instantiation>",
                      lambda a, b, c, d: (a, b) == (2, -1)),
    "regular": ("<regular><list> x[] </list><transitions> (a,0,a)(a,1,b)(b,0,a)(b,2,c)(c,0,c) </transitions>"
                "<start> a </start><final> a c </final></regular>", lambda *x: word(x)),
    "mdd": ("<mdd><list> x[0..1] </list><transitions> (r,0,n1)(r,1,n2)(n1,2,t)(n2,2,t)(n2,0,t) </transitions></mdd>",
            lambda a, b, c, d: (a, b) in ((0, 2), (1, 2), (1, 0))),
    "precedence": ("<precedence><list> x[] </list><values> 1 0 </values></precedence>",
                   lambda *x: 0 not in x or (1 in x and x.index(1) < x.index(0))),
    "group": ("<group><intension> lt(%0,%1) </intension><args> x[0] x[1] </args><args> x[2..3] </args></group>",
              lambda a, b, c, d: a < b and c < d),
    "group of lists": ("<group><sum><list> %... </list><condition> (gt,%0) </condition></sum><args> 2 x[0] x[1] </args></group>",
                       lambda a, b, c, d: a + b > 2),
    "slide": ("<slide><list> x[] </list><intension> ne(%0,%1) </intension></slide>",
              lambda *x: all(a != b for a, b in pairwise(x))),
    "block": ("<block><allEqual> x[0..1] </allEqual><block><allEqual> x[2..3] </allEqual></block></block>",
              lambda a, b, c, d: a == b and c == d),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_constraint(name: str) -> None:
    text, holds = CASES[name]
    expected = sum(bool(holds(*x)) for x in product(range(LOW, HIGH + 1), repeat=4))  # type: ignore[no-untyped-call]
    assert Model.of(read_xcsp3(instance(text))).count() == expected
    assert 0 < expected < 5**4


def test_a_circuit_is_quadratic_in_its_places() -> None:
    places = '<array id="x" size="[150]"> 0..149 </array>'
    model = Model.of(read_xcsp3(instance("<circuit> x[] </circuit>", places)))
    assert len(model.variables) == 150


def test_variables_of_all_kinds() -> None:
    variables = """
      <var id="a"> 1 3..5 </var> <var id="b" as="a"/>
      <array id="m" size="[2][3]"> <domain for="m[0][]"> 0 1 </domain> <domain for="m[1][0..1]"> 2..3 </domain>
        <domain for="others"> 7 </domain> </array>
    """
    matrix = "<lex><matrix> m[][] </matrix><operator> le </operator></lex>"
    model = Model.of(read_xcsp3(instance(matrix, variables)))
    assert [str(v.domain.size) for v in model.variables.values()] == list("44222221")
    rows = [
        (a, b)
        for a in product((0, 1), repeat=3)
        for b in product((2, 3), (2, 3), (7,))
        if a <= b and all(p <= q for p, q in pairwise(zip(a, b, strict=True)))
    ]
    assert model.count() == 16 * len(rows)


def test_objectives() -> None:
    goal = '<objectives><maximize type="sum"><list> x[] </list><coeffs> 1 1 1 -1 </coeffs></maximize></objectives>'
    result = Model.of(read_xcsp3(instance("<allDifferent> x[] </allDifferent>", objectives=goal))).solve()
    assert result.status is Status.OPTIMAL
    assert result.objective == 7
    spread = "<objectives><minimize> sub(max(x[0],x[1]),x[2]) </minimize></objectives>"
    assert (
        Model.of(read_xcsp3(instance("<allDifferent> x[] </allDifferent>", objectives=spread)))
        .solve()
        .objective
        == -3
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<instance><variables>", "not XML"),
        ("<model/>", "not an XCSP3 instance"),
        (instance("<stretch> x[] </stretch>"), "<stretch> x[]: the constraint <stretch> is not supported"),
        (instance("<intension> eq(x[0],q) </intension>"), "no variable is named 'q'"),
        (instance("<intension> eq(x[0], </intension>"), "ends too early"),
        (instance("<sum><list> x[] </list><condition> (about,3) </condition></sum>"), "'about'"),
        (instance("<allDifferent> y[] </allDifferent>"), "y[]"),
        (
            instance("<extension><list> x[0..1] </list><supports> (1,2,3) </supports></extension>"),
            "3 entries for 2",
        ),
    ],
)
def test_mistakes_have_a_place(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_xcsp3(text)
    assert message in str(caught.value)


def test_files_are_known_by_their_ending(tmp_path: Path) -> None:
    xml, fzn = tmp_path / "a.xml", tmp_path / "b.fzn"
    xml.write_text(instance("<allDifferent> x[] </allDifferent>"))
    fzn.write_text("var 1..3: a; constraint int_lt(a,2); solve satisfy;")
    assert Model.from_file(xml).count() == 120
    assert Model.from_file(fzn).solve().values == {"a": 1}
    answer = CliRunner().invoke(app, ["solve", "--count", str(xml)])
    assert (answer.exit_code, answer.stdout.strip()) == (0, "120")
    with pytest.raises(ModelError, match="takes no constants"):
        Model.from_file(xml, constants={"n": 3})
    with pytest.raises(ModelError, match="'xcsp3'"):
        Model.from_text("x in 1..3", dialect="xcsp")


def free(values: dict[str, int], allowed: Any) -> Any:
    return [v for v in values if v not in allowed]


@pytest.mark.parametrize(
    ("constraint", "holds"),
    [
        (
            "<allDifferent><matrix>(x[0],x[1])(x[2],x[3])</matrix><except>0</except></allDifferent>",
            lambda a, b, c, d: all(p != q or p == 0 for p, q in ((a, b), (c, d), (a, c), (b, d))),
        ),
        (
            "<allDifferent><list>x[0] x[1]</list><list>x[2] x[3]</list><except>(0,0)(1,2)</except></allDifferent>",
            lambda a, b, c, d: (a, b) != (c, d) or (a, b) in ((0, 0), (1, 2)),
        ),
        (
            "<allEqual><list>x[]</list><except>0 3</except></allEqual>",
            lambda *v: len(set(free(v, (0, 3)))) <= 1,
        ),
        (
            "<instantiation><list>x[]</list><values>1 * 0x1 *</values></instantiation>",
            lambda a, b, c, d: (a, c) == (1, 0),
        ),
        ('<intension reifiedBy="b">eq(x[0],x[1])</intension>', lambda a, b, c, d, t: (a == b) == t),
        ('<intension hreifiedFrom="b">eq(x[0],x[1])</intension>', lambda a, b, c, d, t: a == b or not t),
        ('<intension hreifiedTo="b">eq(x[0],x[1])</intension>', lambda a, b, c, d, t: a != b or t),
    ],
)
def test_exceptions_and_truth_values(constraint: str, holds: Callable[..., Any]) -> None:
    truth = "reified" in constraint
    variables = XS + ('<var id="b"> 0 1 </var>' if truth else "")
    columns = [range(-1, 4)] * 4 + [range(2)] * truth
    found = {
        tuple(r.values.values())
        for r in Model.of(read_xcsp3(instance(constraint, variables))).iter_solutions()
    }
    assert found == {row for row in product(*columns) if holds(*row)}


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ('<allEqual type="soft" cost="2">x[]</allEqual>', "soft"),
        ("<sum><list>x[0]</list><list>x[1]</list><condition>(eq,1)</condition></sum>", "several lists"),
    ],
)
def test_what_would_be_left_out_is_refused(constraint: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_xcsp3(instance(constraint))
