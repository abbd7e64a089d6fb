"""XCSP3 instances."""

from __future__ import annotations

from typing import Any

from constrint import Model
from constrint.support.limits import decoded
from fuzz.harness import NAME, Format, corpus
from fuzz.using_large import use_any

TAGS = (
    "intension", "extension", "allDifferent", "allEqual", "ordered", "lex", "sum", "count", "nValues",
    "cardinality", "maximum", "minimum", "element", "channel", "noOverlap", "cumulative", "binPacking",
    "knapsack", "circuit", "instantiation", "regular", "mdd", "precedence", "clause", "group", "slide",
    "block",
)  # fmt: skip
PARTS = (
    "list", "supports", "conflicts", "matrix", "except", "operator", "lengths", "coeffs", "condition",
    "values", "occurs", "index", "value", "origins", "ends", "heights", "sizes", "limits", "loads", "weights",
    "profits", "size", "transitions", "start", "final", "args", "function",
)  # fmt: skip
TEXTS = (
    "x[]", "x[0] x[1]", "x[0..2]", "x[3..1]", "x", "y", "m[][]", "m[0][]", "1 2 3", "0..5", "2x3",
    "1x1000000",
    "0..1000000000000", "(1,2)(0,*)", "(1,2,3)", "(a,0,b)(b,1,c)", "(le,5)", "(in,1..4)", "(notin,{1,2})",
    "(eq,y)", "lt", "ge", "eq(x[0],add(x[1],2))", "or(not(x[0]),y)", "div(x[0],x[1])", "pow(x[0],y)",
    "in(x[0],set(1,2))", "pow(9,pow(9,9))", "sqr(sqr(x[0]))", "%0 %1", "eq(%0,%...)", "%...", "a", "c", "*",
    "(x[0],x[1])(y,y)", "((", "))", "-", "", "9999999999999999999999", "if(x[0],1,2)", "mod(y,0)",
)  # fmt: skip
ATTRIBUTES = (
    "", ' id="c"', ' startIndex="1"', ' startIndex="-9"', ' class="k"', ' reifiedBy="b"', ' closed="true"',
    ' circular="true"', ' offset="0"', ' collect="3"', ' rank="first"', ' type="soft"',
    ' zeroIgnored="false"',
    ' covered="true"', ' for="x[0] x[1]"', ' as="y"', ' size="[2][2]"', ' size="[1000000000]"', ' case="lt"',
)  # fmt: skip
WORDS = (
    *[f"<{tag}>" for tag in TAGS + PARTS], *[f"</{tag}>" for tag in TAGS + PARTS], *TEXTS, *ATTRIBUTES,
    "<!DOCTYPE a [<!ENTITY e 'x'>]>", "&e;", "&lt;", "&#0;", "&#55296;", "<![CDATA[", "]]>", "<?xml?>",
    "<a/>",
    '<array id="z" size="[3]"> 0..4 </array>', '<var id="w"> 0 2 5 </var>', "\ud800", "not(", "add(", "sqr(",
    '<domain for="others"> 1 2 </domain>', "<minimize> y </minimize>",
)  # fmt: skip


def read(data: bytes) -> Model:
    """A model."""
    return Model.from_text(decoded(data, NAME), filename=NAME, dialect="xcsp3")


def grammar() -> Any:
    """Instances that are nearly right."""
    from hypothesis import strategies as st

    texts, attributes = st.sampled_from(TEXTS), st.sampled_from((*[""] * 12, *ATTRIBUTES))

    def element(tags: Any, inner: Any) -> Any:
        return st.builds(lambda tag, a, text: f"<{tag}{a}> {text} </{tag}>", tags, attributes, inner)

    parts = st.lists(element(st.sampled_from(PARTS), texts), max_size=4).map(" ".join)
    plain = element(st.sampled_from(TAGS), texts | parts)
    groups = element(
        st.sampled_from(["group", "slide", "block"]),
        st.lists(plain | element(st.sampled_from(["args", "list"]), texts), max_size=4).map(" ".join),
    )
    head = (
        '<array id="x" size="[4]"> 0..3 </array><array id="m" size="[2][3]"> -1..2 </array>'
        '<var id="y"> 0..5 </var><var id="b"> 0 1 </var>'
    )
    objectives = st.sampled_from(
        ["", "", "<minimize> y </minimize>", '<maximize type="sum"> x[] </maximize>']
    )
    lines = [line for file in corpus("xcsp3") for line in file.decode().splitlines() if len(line) < 300]
    right = st.sampled_from(
        [line for line in lines if line.startswith("<") and "</" in line and "var" not in line]
    )
    return st.builds(
        lambda c, o: (
            f"<instance><variables>{head}</variables>\n<constraints>\n{c}\n</constraints>"
            f"<objectives>{o}</objectives></instance>"
        ),
        (st.lists(right, max_size=3) | st.lists(right | plain | groups, max_size=3)).map("\n".join),
        objectives,
    )


FORMAT = Format("xcsp3", read, use_any, grammar, WORDS)
