"""Linear models as files in the LP and MPS formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from constrint.frontends.linear.linear_model import LinearModel, LinearRow
from constrint.frontends.unique_names import each_once
from constrint.modelling.declarations import Declarations
from constrint.support.deadline import watched

LONGEST_NAME = 255
_LP_KEYWORDS = re.compile(
    "free|subject|such|st|s[.]t[.]|bounds?|gen|generals?|int|integers?|bin|binary|binaries|end|min|max|"
    "minimi[sz]e|maximi[sz]e|minimum|maximum|semis?|sos[12]?|lazy|user",
    re.IGNORECASE,
)
_LP_FORBIDDEN = re.compile(r"[^A-Za-z0-9!\"#$%&(),.;?@_'`{}~]")
_LP_START = re.compile(r"[A-Za-z!\"#%&(),;?@_'`{}~]")
_PER_LINE = 8


def write_lp(model: Declarations) -> str:
    """A linear model in the LP format.

    Brackets in names become ( and ), other signs that the format forbids become _.

    Raises:
        ModelError: Something in the model is not linear; names the constraint.
    """
    program = LinearModel(model, "the LP format", has_indicators=True)
    names = _unique(program.names, _lp_name)
    lines = [f"\\ {_comment(model.name)}", "Maximize" if program.direction == "max" else "Minimize"]
    goal = program.goal
    # All columns, in their order, because readers number them by first mention.
    factors = {v: goal.terms.get(v, 0) if goal else 0 for v in range(len(names))}
    objective = [f"{_signed(program.coefficient(a))} {names[v]}" for v, a in factors.items()]
    if goal is not None and goal.constant:
        objective.append(_signed(program.coefficient(goal.constant)))
    lines += _wrapped(" obj:", objective)
    lines.append("Subject To")
    used = _unique([row.name or "" for row in program.rows], _lp_name, [*names, "obj"])
    for row, name in watched(zip(program.rows, used, strict=True)):
        lines += _lp_row(row, name, names)
    lines.append("Bounds")
    for name, (lo, hi) in watched(zip(names, program.bounds, strict=True)):
        low = "-inf" if lo is None else str(lo)
        lines.append(
            f" {name} = {lo}" if lo is not None and lo == hi else f" {low} <= {name} <= {_upper(hi)}"
        )
    lines.append("General")
    lines += [f" {name}" for name in names]
    return "\n".join([*lines, "End", ""])


def _upper(hi: int | None) -> str:
    return "+inf" if hi is None else str(hi)


def _lp_row(row: LinearRow, name: str, names: list[str]) -> list[str]:
    terms = [f"{_signed(row.decimal(a))} {names[v]}" for v, a in row.terms.items() if a]
    terms = terms or ([f"0 {names[0]}"] if names else ["0"])
    if row.under is not None:
        column, value = row.under
        terms = [f"{names[column]} = {value} ->", *terms]
    if row.lo is not None and row.lo == row.hi:
        return _wrapped(f" {name}:", [*terms, f"= {row.decimal(row.lo)}"])
    sides = [(">=", row.lo, ""), ("<=", row.hi, "")]
    if row.lo is not None and row.hi is not None:
        sides = [(">=", row.lo, "_lo"), ("<=", row.hi, "_hi")]
    return [
        line
        for sense, side, ending in sides
        if side is not None
        for line in _wrapped(f" {name}{ending}:", [*terms, f"{sense} {row.decimal(side)}"])
    ]


def _signed(number: str) -> str:
    return f"- {number[1:]}" if number.startswith("-") else f"+ {number}"


def _wrapped(head: str, parts: list[str]) -> list[str]:
    groups = [parts[i : i + _PER_LINE] for i in range(0, len(parts), _PER_LINE)] or [[]]
    return [" ".join([head if i == 0 else "  ", *group]) for i, group in enumerate(groups)]


def _comment(text: str) -> str:
    return "".join([c if c.isprintable() else "?" for c in text])


def _lp_name(name: str) -> str:
    written = _LP_FORBIDDEN.sub("_", name.replace("[", "(").replace("]", ")"))[:LONGEST_NAME]
    if not _LP_START.match(written) or _LP_KEYWORDS.fullmatch(written):
        written = "_" + written
    # e5 could be the exponent of a number before it; inf1 is read as infinity.
    return "_" + written if re.match(r"[eE][0-9]|inf", written, re.IGNORECASE) else written


def _mps_name(name: str) -> str:
    written = "".join([c if c.isprintable() and not c.isspace() else "_" for c in name])[:LONGEST_NAME]
    return "_" + written if not written or written[0] in "*$'" else written


def _unique(names: list[str], legal: Callable[[str], str], taken: Collection[str] = ()) -> list[str]:
    """Names that a format can hold, each once; a nameless one gets a number. A range makes two rows."""
    wanted = [legal(name) if name else f"c{i + 1}" for i, name in enumerate(names)]
    return each_once(wanted, taken, ("", "_lo", "_hi"))


def write_mps(model: Declarations) -> str:
    """A linear model in the free MPS format; blanks in names become _.

    Raises:
        ModelError: Something in the model is not linear; names the constraint.
    """
    program = LinearModel(model, "the MPS format")
    names = _unique(program.names, _mps_name)
    rows = _unique([row.name or "" for row in program.rows], _mps_name, ["obj"])
    lines = [f"NAME {_mps_name(model.name)}"]
    lines += ["OBJSENSE", "    MAX"] if program.direction == "max" else []
    lines += [
        "ROWS",
        " N obj",
        *[f" {_kind(row)} {name}" for row, name in zip(program.rows, rows, strict=True)],
    ]
    entries: list[list[str]] = [[] for _ in names]
    if program.goal is not None:
        for v, a in program.goal.terms.items():
            entries[v].append(f"obj {program.coefficient(a)}")
    for row, name in zip(program.rows, rows, strict=True):
        for v, a in row.terms.items():
            if a:
                entries[v].append(f"{name} {row.decimal(a)}")
    lines += ["COLUMNS", "    MARKER 'MARKER' 'INTORG'"]
    for name, column in zip(names, entries, strict=True):
        lines += [f"    {name} {entry}" for entry in column or ["obj 0"]]
    lines += ["    MARKER 'MARKER' 'INTEND'", "RHS"]
    if program.goal is not None and program.goal.constant:
        lines.append(f"    RHS obj {program.coefficient(-program.goal.constant)}")
    ranges = []
    for row, name in zip(program.rows, rows, strict=True):
        side = row.hi if row.hi is not None else row.lo
        if side:
            lines.append(f"    RHS {name} {row.decimal(side)}")
        if row.lo is not None and row.hi is not None and row.lo != row.hi:
            ranges.append(f"    RANGES {name} {row.decimal(row.hi - row.lo)}")
    lines += ["RANGES", *ranges] if ranges else []
    lines += [
        "BOUNDS",
        *[line for name, both in zip(names, program.bounds, strict=True) for line in _bound(name, both)],
    ]
    return "\n".join([*lines, "ENDATA", ""])


def _kind(row: LinearRow) -> str:
    if row.lo is not None and row.lo == row.hi:
        return "E"
    return "L" if row.hi is not None else "G" if row.lo is not None else "N"


def _bound(name: str, both: tuple[int | None, int | None]) -> list[str]:
    lo, hi = both
    if lo is not None and lo == hi:
        return [f" FX BND {name} {lo}"]
    lines = [f" MI BND {name}" if lo is None else f" LO BND {name} {lo}"]
    return [*lines, f" PL BND {name}" if hi is None else f" UP BND {name} {hi}"]
