"""Long texts of many simple lines in the `.constrint` language.

Each is read twice, with and without the trees of plain statements: the models, the places and the errors must
be the same.
"""

from __future__ import annotations

from random import Random
from typing import Any

from constrint import Model
from constrint.errors import ConstrintError
from constrint.frontends.text.format import format_text
from constrint.frontends.text.includes import Folders
from constrint.frontends.text.parameters import GivenNames
from constrint.frontends.text.syntax import Source, statements
from constrint.frontends.text.text import TextReader
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget, Limits, decoded
from fuzz.format_text import WORDS
from fuzz.harness import NAME, Format

SHORT = 20_000  # characters of a text that is formatted, too
LIMITS = Limits(nodes=20_000, values=20_000, variables=2_000)

_DECLARATIONS = (
    "x{i} in 0..9", "x{i}, y{i} in -{i}..{i}", "x{i} bool", "x{i} in {{1, {i}, -3}}", "x{i} in 2..{i} step 3",
    "x{i} in  - 5 .. 5", "x{i} in 0..9 # here; there", "x{i} in 0..1; y{i} in 0..2", "`x{i}` in 0..3",
)  # fmt: skip
_COMPARISONS = (
    "x{i} + 2 * x{j} <= x{k}", "x{i} != x{j}", "-x{i} * x{j} >= -{k}", "1 <= x{i} <= x{j} + 3", "x{i} <x{j}",
    "x{i} - x{j} == {k} - {j}", "3 * x{i} * 2 <= 70", "x{i} <= 1; x{j} >= 0", "x{i} <= 5 # {k}",
    "2 * {i} * x{j} - -x{k} >= 0", "x{i}\t>\f-1", "0 == 0 * x{i}", "x{i} * x{i} * x{j} != 12",
)  # fmt: skip
_OTHERS = (
    "x{i} == {k} or x{j} != 2", "d{i} := x{j} + {k}", "d{i} <= x{k}", "minimize x{i}", "c{i}: x{j} != {k}",
    "x{i} in {{1, 2,\n  {k}}}", "x{i} <= \\\n x{j}", "(x{i} +\n x{j}) % 7 == 1", "x{i} in 3..", "prefer x{i}",
    "x{i} ==", ")", "x{i} x{j}", "x{i} == 0x1F", "x{i} <-> x{j}", "# only; a comment", "# `", "`x{i}", "",
    "x{i} ** 2 <= 99", "u{i} == 1", "x{i} in 0..9",
    "x{i} == 99999999999999999999", "x{i} == 007", "x{i} == [",
    "in == 1", "x{i} := 3", "a{i} := a{j} * a{j}", "x{i}, x{i} in 0..4", "x{i} == (1,", "x{i} == \u00e9",
)  # fmt: skip
_ENDS = ("\n",) * 40 + ("\r\n", ";", " ;\n", "\n\n", "\t\n", "\v\n", "\r", "\\\n", "  # c\n", "\n\ufeff")


def read(data: bytes) -> tuple[Model, str]:
    """A model, and its text; both ways of reading agree."""
    text = decoded(data, NAME)
    found, other = _outcome(text), by_trees(text, {}, LIMITS)
    if _described(found) != _described(other):
        raise AssertionError(f"read in two ways: {_described(found)} and {_described(other)}")
    if isinstance(found, ConstrintError):
        raise found
    return found, text


def _outcome(text: str) -> Model | ConstrintError:
    try:
        return Model.from_text(text, filename=NAME, limits=LIMITS)
    except ConstrintError as error:
        return error


def by_trees(text: str, constants: dict[str, Any], limits: Limits | None) -> Declarations | ConstrintError:
    """What a text comes to if the trees of all statements are read."""
    budget = Budget(limits)
    source = Source(text.removeprefix("\ufeff"), NAME)
    try:
        budget.size(len(source.text), NAME)
        reader = TextReader(source, GivenNames(constants), budget, Folders())
        reader.given.note(text)
        budget.here = reader.statement_place
        reader.expect(found := statements(source, budget))
        for statement in found:
            reader.line = statement.line
            reader.statement(statement.tree)
        reader.check_given()
    except ConstrintError as error:
        return error
    return reader.model


def _described(outcome: Declarations | ConstrintError) -> tuple[str, ...]:
    if isinstance(outcome, ConstrintError):
        return type(outcome).__name__, str(outcome)
    places = [str(one.position) for one in (*outcome.variables.values(), *outcome.constraints)]
    return repr((outcome.constraints, outcome.goals, outcome.lets)), *places


def use(given: tuple[Model, str]) -> None:
    """It can be formatted, and what is written is read again."""
    model, text = given
    if len(text) <= SHORT:
        format_text(text, filename=NAME)
    if Model.from_json(model.to_json()).to_json() != model.to_json():
        raise AssertionError("what is written as JSON is another model")


def grammar() -> Any:
    """Texts of 10 to 1,500 lines, most of them simple, drawn from a number."""
    from hypothesis import strategies as st

    return st.builds(_drawn, st.integers(0, 2**32), st.sampled_from((10, 40, 40, 150, 150, 1_500)))


def _drawn(seed: int, lines: int) -> str:
    random = Random(seed)
    declared = max(2, lines // 3)
    odd = random.choice((0.0, 0.0, 0.0, 1 / lines, 3 / lines, 0.3))
    plain = random.sample(_DECLARATIONS, 2), random.sample(_COMPARISONS, 3)
    found = ["\ufeff"] if random.random() < 0.05 else []
    for i in range(lines):
        numbers = {name: random.randrange(declared) for name in ("j", "k")}
        if i < declared:
            form, numbers["i"] = random.choice(plain[0]), i
        else:
            form, numbers["i"] = random.choice(plain[1]), random.randrange(declared)
        if random.random() < odd:
            form = random.choice(_OTHERS)
        end = random.choice(_ENDS) if odd else "\n"
        found += [form.format(**numbers), end]
    return "".join(found)


FORMAT = Format("long_text", read, use, grammar, WORDS)
