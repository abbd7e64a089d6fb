"""The parts and attributes of XCSP3 that are read; others would change the meaning, and are refused.

What only describes is ignored: `id`, `class` and `note`, but for the note of an objective that says its
divisor, and the part <annotations>, which advises solvers.
"""

from __future__ import annotations

from collections.abc import Collection
from xml.etree.ElementTree import Element

from constrint.errors import ModelError
from constrint.frontends.xcsp3.numbers import shown

DESCRIBING = frozenset(["id", "class", "note"])
_STATES = frozenset(["reifiedBy", "hreifiedFrom", "hreifiedTo", "type"])
PARTS = {
    "intension": "function",
    "extension": "list supports conflicts",
    "allDifferent": "list matrix except",
    "allEqual": "list except",
    "ordered@case": "list lengths operator",
    "lex": "list matrix operator",
    "sum": "list coeffs condition",
    "count": "list values condition",
    "nValues": "list except condition",
    "cardinality": "list values@closed occurs",
    "maximum": "list@startIndex index@rank condition",
    "minimum": "list@startIndex index@rank condition",
    "maximumArg@rank": "list@startIndex condition",
    "minimumArg@rank": "list@startIndex condition",
    "element": "list@startIndex matrix@startRowIndex@startColIndex index@rank value condition",
    "channel": "list@startIndex value",
    "noOverlap@zeroIgnored": "origins lengths",
    "cumulative": "origins lengths ends heights condition",
    "binPacking": "list sizes condition limits loads",
    "knapsack": "list weights profits condition",
    "circuit": "list@startIndex size",
    "instantiation": "list values",
    "regular": "list transitions start final",
    "mdd": "list transitions",
    "precedence": "list values@covered",
    "clause": "list",
    # What is no constraint.
    "var@as@type": "",
    "array@as@type@size@startIndex": "domain@for",
    "group": "args",
    "slide@circular": "list@collect@offset",
    "objectives@combination": "minimize@type maximize@type",
    "minimize@type": "list coeffs",
    "maximize@type": "list coeffs",
}
"""By element, with its attributes after `@`: its parts, with theirs."""


def _with_attributes(words: str) -> dict[str, list[str]]:
    return {word.partition("@")[0]: word.split("@")[1:] for word in words.split()}


_OWN = {tag: own for one in PARTS for tag, own in _with_attributes(one).items()}
_INNER = {one.partition("@")[0]: _with_attributes(parts) for one, parts in PARTS.items()}
_SEVERAL = {"allDifferent": "list", "lex": "list", "channel": "list", "knapsack": "condition"}
_ALTERNATIVES = (
    ("element", {"value", "condition"}),
    ("binPacking", {"condition", "limits", "loads"}),
    ("extension", {"supports", "conflicts"}),
)
_LISTS = frozenset(["list", "matrix", "function", "origins"])


def refuse_unread(node: Element) -> None:
    """Raise `ModelError` for a part or an attribute of a constraint that would be ignored."""
    if node.get("type") == "soft" or node.get("cost") is not None:
        raise ModelError(f"soft constraints are not supported: make <{node.tag}> hard or remove it")
    if node.get("type") not in (None, "hard"):
        raise ModelError(f"the type '{shown(node.get('type') or '')}' of <{node.tag}> is not supported")
    _refuse_attributes(node, _STATES.union(_OWN[node.tag]))
    known = _INNER[node.tag]
    tags = [part.tag for part in node]
    for part in node:
        if len(part):
            raise ModelError(f"<{shown(part[0].tag)}> in <{shown(part.tag)}> is not supported")
        if part.tag not in known:
            raise ModelError(f"<{shown(part.tag)}> in <{node.tag}> is not supported")
        if tags.count(part.tag) > 1 and _SEVERAL.get(node.tag) != part.tag:
            several = "several lists" if part.tag == "list" else f"several <{part.tag}>"
            raise ModelError(f"{several} in <{node.tag}> are not supported")
        _refuse_attributes(part, known[part.tag])
    for tag, alternatives in _ALTERNATIVES:
        given = sorted(alternatives.intersection(tags))
        if node.tag == tag and len(given) > 1:
            raise ModelError(f"<{tag}> has both <{given[0]}> and <{given[1]}>: only one of them is read")
    text = (node.text or "").strip()
    if text and not _LISTS.isdisjoint(tags):
        raise ModelError(f"the text '{shown(text)}' stands beside the parts of <{node.tag}>")


def refuse_attributes(node: Element) -> None:
    """Raise `ModelError` for an attribute, or one of a part, of what is no constraint."""
    _refuse_attributes(node, _OWN[node.tag])
    known = _INNER[node.tag]
    for part in node:
        if part.tag in known:
            _refuse_attributes(part, known[part.tag])
        elif node.tag in ("var", "array", "minimize", "maximize"):
            raise ModelError(f"<{shown(part.tag)}> in <{node.tag}> is not supported")


def _refuse_attributes(node: Element, known: Collection[str]) -> None:
    for name in node.keys():  # noqa: SIM118 - an element iterates over its parts
        if name not in known and name not in DESCRIBING:
            raise ModelError(f"the attribute {shown(name)} of <{shown(node.tag)}> is not supported")
