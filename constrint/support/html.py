"""Tables in HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST_ACROSS = 40  # rows and columns of a grid that are shown


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a head."""
    return f"<table>{_row('th', head)}{''.join([_row('td', row) for row in rows])}</table>"


def grid_html(rows: Sequence[Sequence[str]]) -> str:
    """A table without a head; the first rows and columns of a large one."""
    shown = [_across(row) for row in rows[:MOST_ACROSS]]
    if len(rows) > MOST_ACROSS:
        shown.append(["…"])
    return f"<table>{''.join([_row('td', row) for row in shown])}</table>"


def _across(row: Sequence[str]) -> Sequence[str]:
    return row if len(row) <= MOST_ACROSS else [*row[:MOST_ACROSS], "…"]


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join([f'<{tag}>{escape(cell)}</{tag}>' for cell in cells])}</tr>"
