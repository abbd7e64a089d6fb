"""The tables of the manual that the code determines: `python docs/generated_tables.py` writes them.

A table stands between the lines ``<!-- generated: NAME -->`` and ``<!-- end -->`` of its page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from constrint.frontends.constraint_names import NAMES, NONE
from constrint.propagators import REGISTRY
from constrint.propagators.handlers import Handlers

ROOT = Path(__file__).parents[1]
PLACE = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in row)}|" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(head)}", *lines[1:]])


def names() -> str:
    """The names of global constraints in other formats."""
    rows = [[f"`{constraint}`", *map(_listed, found)] for constraint, found in NAMES.items()]
    return table(["constrint", "FlatZinc", "CPMpy", "XCSP3", "CP-SAT", "python-constraint"], rows)


def _listed(signatures: str) -> str:
    return ", ".join(one if one == NONE else f"`{one.split()[0]}`" for one in signatures.split(", "))


def layers() -> dict[str, list[Handlers[Any]]]:
    """The handlers of every module that makes some, by the module's folder."""
    found: dict[str, list[Handlers[Any]]] = {}
    for path in sorted((ROOT / "constrint").rglob("*.py")):
        if re.search(r"= (Handlers|Rules)\(", path.read_text(encoding="utf-8")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            values = vars(import_module(".".join(parts))).values()
            found.setdefault(parts[1], []).extend(one for one in values if isinstance(one, Handlers))
    return found


def matrix(*folders: str) -> str:
    """What the layers in some folders do with each propagator."""
    every = layers()
    columns = [one for folder in folders for one in every[folder]]
    rows = [
        [kind.__name__, *("own" if kind in one.own else one.rest for one in columns)] for kind in REGISTRY
    ]
    return table(["propagator", *(one.layer for one in columns)], rows)


TABLES: dict[str, Callable[[], str]] = {
    "names": names,
    "search": lambda: matrix("presolve", "relaxation", "local_search", "enumeration", "search"),
    "learning": lambda: matrix("learning"),
    "formats": lambda: matrix("backends", "frontends"),
}


def current(text: str) -> str:
    """A page with its tables as the code determines them."""
    return PLACE.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[3]}", text)


def pages() -> Iterator[Path]:
    """The pages with such tables."""
    for page in sorted(Path(__file__).parent.glob("*.md")):
        if PLACE.search(page.read_text(encoding="utf-8")):
            yield page


if __name__ == "__main__":
    for page in pages():
        page.write_text(current(page.read_text(encoding="utf-8")), encoding="utf-8")
