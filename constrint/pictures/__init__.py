"""Pictures of solution sets: values, pairs of values, and the width of the diagram.

All numbers come from the diagram, so 10**40 solutions are drawn as quickly as ten. An SVG is made from a
template, with bars and squares whose counts are tooltips; no plotting library is needed. An HTML page holds
the diagram itself (`embedding`), and counts under the conditions that its reader sets. In `templates/page/`,
`core.js` has the counting, `space.js` the set and its conditions, the other scripts what is seen.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from constrint.errors import ModelError
from constrint.pictures.drawing import Drawing, drawing
from constrint.pictures.embedding import as_script_text, embedded
from constrint.pictures.facts import Facts, facts_of
from constrint.pictures.gantt import Gantt as Gantt
from constrint.pictures.gantt import gantt as gantt
from constrint.pictures.gantt import write_gantt as write_gantt
from constrint.support.arguments import integer
from constrint.support.placing import placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constrint.pictures.facts import Pictured

SHOWN_IN_NOTEBOOK = 200_000
"""The most edges for which a notebook shows a picture without being asked."""
MOST_EMBEDDED = 1_000_000
"""The most edges of a diagram that a page holds if no other number is given."""


def _printable(value: object) -> object:
    """Text without the characters that SVG cannot hold; markup, which is made here, is left unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in value)


_ENVIRONMENT = Environment(
    loader=PackageLoader("constrint.pictures", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_printable,
    trim_blocks=True,
    lstrip_blocks=True,
)


def write_picture(
    solutions: Pictured,
    path: str | Path,
    variables: Sequence[str] | None = None,
    most_edges: int = MOST_EMBEDDED,
) -> None:
    """Write a picture of a set as `.svg`, or as a self-contained page, `.html`.

    Args:
        solutions: The set.
        path: The file.
        variables: The variables whose pairs are shown.
        most_edges: The most edges of a diagram that a page holds; beyond them the page is a static picture.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".html", ".htm"):
        raise ModelError(f"{path}: a picture ends in .svg or .html")
    if integer(most_edges, "the most edges that a page holds") < 0:
        raise ModelError(f"the most edges that a page holds cannot be negative, as {most_edges} is")
    if suffix == ".svg":
        text = svg(facts_of(solutions, variables))
    else:
        text = page(solutions, variables, most_edges)
    with placed(path) as aside:
        aside.write_text(text, encoding="utf-8")


def svg(facts: Facts) -> str:
    """The picture as SVG."""
    return _rendered(drawing(facts), facts)


def page(solutions: Pictured, variables: Sequence[str] | None = None, most_edges: int = MOST_EMBEDDED) -> str:
    """The picture as a self-contained HTML page: explorable, or static if the diagram is too large."""
    facts = facts_of(solutions, variables, pairs=False)
    document = embedded(solutions, [histogram.name for histogram in facts.paired], most_edges)
    if document is None:
        facts = facts_of(solutions, variables)
        return _ENVIRONMENT.get_template("page.html.j2").render(
            facts=facts, picture=svg(facts), edges=solutions.edges, most_edges=most_edges
        )
    return _ENVIRONMENT.get_template("explorer.html.j2").render(
        facts=facts, document=Markup(as_script_text(document))
    )


def notebook(solutions: Pictured) -> str:
    """The HTML that a notebook shows for a set: its size and, if that is quick, its values."""
    if not solutions.size or solutions.edges > SHOWN_IN_NOTEBOOK:
        return _ENVIRONMENT.get_template("line.html.j2").render(text=repr(solutions))
    facts = facts_of(solutions, pairs=False)
    return _rendered(drawing(facts, diagram=False), facts)


def _rendered(picture: Drawing, facts: Facts) -> str:
    return _ENVIRONMENT.get_template("picture.svg.j2").render(picture=picture, facts=facts)
