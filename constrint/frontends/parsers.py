"""Parsers made by lark, with tables cached between processes: making them takes longer than most parses.

The tables are cached as JSON in the user's cache folder, together with their grammar; if anything about them
is unexpected they are made anew. Without a writable folder everything works, 30 ms later. Texts without
mistakes are parsed by `Tables`; lark is imported for what is wrong with the others, and for the formatter.
"""

from __future__ import annotations

import json
import pkgutil
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constrint.frontends.parse_tables import Tables, described
from constrint.support.caching import user_cache
from constrint.support.own_files import is_own_folder, own_folder, read_own, write_own

if TYPE_CHECKING:
    from lark import Lark, Tree
    from lark.lark import PostLex


@cache
def tables_of(name: str, postlex: type[PostLex] | None = None) -> Tables:
    """The tables of the grammar `<name>.lark`, which parse without lark; from the cache, or made by lark."""
    place, grammar = _place(f"{name.replace('/', '-')}-tables"), _grammar(name)
    with suppress(OSError, ValueError, TypeError, LookupError, AttributeError):
        kept = json.loads(place.read_bytes())
        if kept["grammar"] == grammar:
            return Tables(kept["tables"])
    tables = described(parser_of(name, postlex, positions=False))
    _write(place, json.dumps({"grammar": grammar, "tables": tables}))
    return Tables(tables)


def _grammar(name: str) -> str:
    raw = pkgutil.get_data("constrint.frontends", f"{name}.lark")  # lighter than importlib.resources
    if raw is None:
        raise FileNotFoundError(f"{name}.lark")
    return raw.decode("utf-8")


@cache
def parser_of(
    name: str,
    postlex: type[PostLex] | None = None,
    positions: bool = True,
    nodes: type[Tree[object]] | None = None,
) -> Lark:
    """The LALR parser of the grammar `<name>.lark`, made once per process.

    Args:
        name: The grammar: a frontend's folder and the file's name, as in "text/grammar".
        postlex: A filter on the stream of tokens before parsing.
        positions: Whether lark records the positions of trees; tokens always have theirs.
        nodes: The class of trees, if not lark's own.
    """
    grammar = _grammar(name)
    stage = None if postlex is None else postlex()
    place = _place(f"{name.replace('/', '-')}-lark-{_version()}")
    options: dict[str, Any] = {"postlex": stage, "propagate_positions": positions}
    if nodes is not None:
        options["tree_class"] = nodes
    parser = _kept(place, grammar, options)
    if parser is None:
        parser = _made(grammar, options)
        _keep(place, grammar, options, parser)
    return parser


def _made(grammar: str, options: dict[str, object]) -> Lark:
    from lark import Lark

    return Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False, **options)


def _version() -> str:
    import lark

    return lark.__version__


def _place(name: str) -> Path:
    return user_cache() / f"{name}.json"


def _kept(place: Path, grammar: str, options: dict[str, object]) -> Lark | None:
    """The cached parser of this grammar, if there is one."""
    from lark import Lark
    from lark.exceptions import LarkError

    try:
        found = read_own(place) if is_own_folder(place.parent) else None
        if found is None:
            return None
        kept = json.loads(found[0], object_pairs_hook=_with_numbers)
        if kept["grammar"] != grammar or kept["options"] != _named(options):
            return None
        # lark's stand-alone parsers are loaded by this call, too.
        parser: Lark = Lark._load_from_dict(kept["data"], kept["memo"], **options)  # type: ignore[no-untyped-call]
        return parser
    except (OSError, ValueError, TypeError, LookupError, AttributeError, AssertionError, LarkError):
        return None  # missing, untrusted or unknown: making it anew is always right


def _with_numbers(pairs: list[tuple[str, object]]) -> dict[object, object]:
    """JSON has string keys where lark's tables have numbers."""
    return {int(key) if key.isdigit() else key: value for key, value in pairs}


def _named(options: dict[str, Any]) -> list[str]:
    """The options by name: what a filter always accepts is part of the tables."""
    classes = (type(options["postlex"]), options.get("tree_class"))
    return [
        *(f"{kind.__module__}.{kind.__qualname__}" for kind in classes if kind),
        str(options["propagate_positions"]),
    ]


def _keep(place: Path, grammar: str, options: dict[str, object], parser: Lark) -> None:
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    with suppress(OSError, TypeError, ValueError, LookupError, AttributeError):
        data, memo = parser.memo_serialize([TerminalDef, Rule])
        # A copy: the parser itself uses the original.
        data["options"] = {**data["options"], "postlex": None, "tree_class": None}
        kept = {"grammar": grammar, "options": _named(options), "data": data, "memo": memo}
        _write(place, json.dumps(kept))


def _write(place: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    with suppress(OSError):
        write_own(own_folder(place.parent) / place.name, text.encode())
