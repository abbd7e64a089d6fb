"""Parsers made by lark, with tables cached between processes: making them takes longer than most parses.

The tables are cached as JSON in the user's cache folder, together with their grammar; if anything about them
is unexpected they are made anew. Without a writable folder everything works, 30 ms later.
"""

from __future__ import annotations

import json
import os
import pkgutil
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lark import Lark, Tree
    from lark.lark import PostLex


@cache
def parser_of(
    name: str,
    postlex: type[PostLex] | None = None,
    positions: bool = True,
    nodes: type[Tree[Any]] | None = None,
) -> Lark:
    """The LALR parser of the grammar `<name>.lark`, made once per process.

    Args:
        name: The grammar: a frontend's folder and the file's name, as in "text/grammar".
        postlex: A filter on the stream of tokens before parsing.
        positions: Whether lark records the positions of trees; tokens always have theirs.
        nodes: The class of trees, if not lark's own.
    """
    raw = pkgutil.get_data("constrint.frontends", f"{name}.lark")  # lighter than importlib.resources
    if raw is None:
        raise FileNotFoundError(f"{name}.lark")
    grammar = raw.decode("utf-8")
    stage = None if postlex is None else postlex()
    place = _place(name.replace("/", "-"))
    options: dict[str, Any] = {"postlex": stage, "propagate_positions": positions}
    if nodes is not None:
        options["tree_class"] = nodes
    parser = _kept(place, grammar, options)
    if parser is None:
        parser = _made(grammar, options)
        _keep(place, grammar, parser)
    return parser


def _made(grammar: str, options: dict[str, Any]) -> Lark:
    from lark import Lark

    return Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False, **options)


def _place(name: str) -> Path:
    import lark
    import platformdirs

    return Path(platformdirs.user_cache_dir("constrint")) / f"{name}-lark-{lark.__version__}.json"


def _kept(place: Path, grammar: str, options: dict[str, Any]) -> Lark | None:
    """The cached parser of this grammar, if there is one."""
    from lark import Lark
    from lark.exceptions import LarkError

    try:
        kept = json.loads(place.read_bytes(), object_pairs_hook=_with_numbers)
        if kept["grammar"] != grammar:
            return None
        # lark's stand-alone parsers are loaded by this call, too.
        parser: Lark = Lark._load_from_dict(kept["data"], kept["memo"], **options)  # type: ignore[no-untyped-call]
        return parser
    except (OSError, ValueError, TypeError, LookupError, AttributeError, AssertionError, LarkError):
        return None  # missing, untrusted or unknown: making it anew is always right


def _with_numbers(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
    """JSON has string keys where lark's tables have numbers."""
    return {int(key) if key.isdigit() else key: value for key, value in pairs}


def _keep(place: Path, grammar: str, parser: Lark) -> None:
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    aside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        data, memo = parser.memo_serialize([TerminalDef, Rule])
        # A copy: the parser itself uses the original.
        data["options"] = {**data["options"], "postlex": None, "tree_class": None}
        text = json.dumps({"grammar": grammar, "data": data, "memo": memo})
        place.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(text, encoding="utf-8")
        aside.replace(place)
    except (OSError, TypeError, ValueError, LookupError, AttributeError):
        with suppress(OSError):
            aside.unlink(missing_ok=True)
