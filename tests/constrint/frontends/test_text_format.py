"""The formatter: one spacing, comments kept, nothing else changed."""

from __future__ import annotations

from random import Random

import pytest
from fuzz.format_text import grammar
from hypothesis import HealthCheck, given, settings
from random_models import draw_model

from constrint import Model, ParseError
from constrint.errors import ConstrintError
from constrint.frontends.text.format import format_text
from constrint.frontends.text.syntax import Source, tokens

UGLY = """

#heading
bm   in 16 .. 256   step 16;bn in{16,32 , 64,}


k in 1..   #  no upper bound
k2 in ..-5
big   bool;
 accumulators :bm*bn<=- 16384 ; ; bm==16
name:=bm+ (bn -
   - k  # why
     * k2
) * [3,4] [1]
bm == \\
  bn + 1
not(big)->big<->big
prefer  bm max ,- bn min
# end"""

PRETTY = """# heading
bm in 16..256 step 16; bn in {16, 32, 64,}

k in 1..  #  no upper bound
k2 in ..-5
big bool
accumulators: bm * bn <= -16384; bm == 16
name := bm + (bn -
    -k  # why
    * k2
) * [3, 4][1]
bm == \\
    bn + 1
not (big) -> big <-> big
prefer bm max, -bn min
# end
"""


def test_layout() -> None:
    assert format_text(UGLY) == PRETTY


@pytest.mark.parametrize("text", [PRETTY, "", "# only a comment\n", "x in .. ; x in 1.. step 2; x in ..5\n"])
def test_formatting_twice_changes_nothing(text: str) -> None:
    once = format_text(text)
    assert format_text(once) == once


def test_invalid_text_is_not_formatted() -> None:
    with pytest.raises(ParseError, match="2:3"):
        format_text("x in 1..4\nx = 3")


def significant(text: str) -> list[str]:
    kept = [token.value.strip() for token in tokens(Source(text)) if token.type not in ("BLANK", "_SEP")]
    return [value if not value.startswith("#") else value[1:].strip() for value in kept]


def mangled(text: str, random: Random) -> str:
    """The same model with other blanks, separators and some comments."""
    lines = []
    for line in text.splitlines():
        for blank in (" ", "  ", "\t"):
            line = random.choice([line, line.replace(" ", blank)])
        line = line.replace(", ", random.choice([",", ", ", " , ", ", "]))
        line += random.choice(["", "", " ", ";", "#c", "   # comment", "\n\n\n", "\n# between"])
        lines.append(line)
    return "\n".join(lines)


def test_random_models_keep_their_tokens_and_their_meaning() -> None:
    random = Random(7)
    for seed in range(200):
        text = mangled(draw_model(seed, max_assignments=20).text(), random)
        formatted = format_text(text)
        assert format_text(formatted) == formatted
        assert significant(formatted) == significant(text)
        assert Model.from_text(formatted).to_text() == Model.from_text(text).to_text()


def test_written_models_are_formatted_already() -> None:
    for seed in range(100):
        text = Model.from_text(draw_model(seed, max_assignments=20).text()).to_text()
        assert format_text(text) == text


ARRAYS_UGLY = """include   "parts.constrint"
param   n,m in 1..9:=3 # how many
enum colour:={red , blue}
x [ 1 .. n , colour ] in 1 .. n
b[i in 1..n]   bool
f( a , b ):=a*b
rows :forall( x [ i , red ] <= 2  for   i in 1..n if i!=2 )
s := [ x[i,..] for i in ..5 if (i>1) ]
t := 1..; u := ..
sum( a*b for a,b in [ [1,2] ] )==-1
"""

ARRAYS_PRETTY = """include "parts.constrint"
param n, m in 1..9 := 3  # how many
enum colour := {red, blue}
x[1..n, colour] in 1..n
b[i in 1..n] bool
f(a, b) := a * b
rows: forall(x[i, red] <= 2 for i in 1..n if i != 2)
s := [x[i, ..] for i in ..5 if (i > 1)]
t := 1..; u := ..
sum(a * b for a, b in [[1, 2]]) == -1
"""


def test_layout_of_arrays_and_comprehensions() -> None:
    assert format_text(ARRAYS_UGLY) == ARRAYS_PRETTY
    assert format_text(ARRAYS_PRETTY) == ARRAYS_PRETTY


def meaning(text: str) -> object:
    """What a text says, without its places."""
    try:
        model = Model.from_text(text)
    except ConstrintError:
        return None
    return model.to_text()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(grammar())
def test_formatted_texts_mean_the_same(text: str) -> None:
    try:
        formatted = format_text(text)
    except ConstrintError:
        return
    assert format_text(formatted) == formatted
    assert meaning(formatted) == meaning(text)
