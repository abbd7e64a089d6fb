"""Pictures of solution sets: values, pairs of values, and the width of the diagram.

All numbers come from the diagram, so 10**40 solutions are drawn as quickly as ten. The pictures are SVG from
a template, with bars and squares whose counts are tooltips; no plotting library is needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from constrint.errors import ModelError
from constrint.pictures.facts import Facts, facts_of
from constrint.pictures.gantt import Gantt as Gantt
from constrint.pictures.gantt import gantt as gantt
from constrint.pictures.gantt import write_gantt as write_gantt
from constrint.pictures.layout import Drawing, drawing
from constrint.support.placing import placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constrint.pictures.facts import Pictured

SHOWN_IN_NOTEBOOK = 200_000
"""The most edges for which a notebook shows a picture without being asked."""


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


def write_picture(solutions: Pictured, path: str | Path, variables: Sequence[str] | None = None) -> None:
    """Write a picture of a set as `.svg`, or as a self-contained page, `.html`."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".html", ".htm"):
        raise ModelError(f"{path}: a picture ends in .svg or .html")
    facts = facts_of(solutions, variables)
    text = svg(facts) if suffix == ".svg" else page(facts)
    with placed(path) as aside:
        aside.write_text(text, encoding="utf-8")


def svg(facts: Facts) -> str:
    """The picture as SVG."""
    return _rendered(drawing(facts), facts)


def page(facts: Facts) -> str:
    """The picture as a self-contained HTML page, with the counts as tables."""
    return _ENVIRONMENT.get_template("page.html.j2").render(facts=facts, picture=svg(facts))


def notebook(solutions: Pictured) -> str:
    """The HTML that a notebook shows for a set: its size and, if that is quick, its values."""
    if not solutions.size or solutions.edges > SHOWN_IN_NOTEBOOK:
        return _ENVIRONMENT.get_template("line.html.j2").render(text=repr(solutions))
    facts = facts_of(solutions, pairs=False)
    return _rendered(drawing(facts, diagram=False), facts)


def _rendered(picture: Drawing, facts: Facts) -> str:
    return _ENVIRONMENT.get_template("picture.svg.j2").render(picture=picture, facts=facts)
