"""Which rules of presolve leave a problem out because it is beyond their limits, for people."""

from __future__ import annotations

from constrint.presolve.equations import core_terms
from constrint.presolve.joint import connected, rows_of
from constrint.presolve.root import Root
from constrint.propagators import LinearEq, LinearLe, LinearLeIf, LinearNe


def left_out(root: Root) -> list[str]:
    """A line for each rule of presolve that does not look at this root, with the number and the limit."""
    if root.postponed:
        return []
    rules, box = root.settings.presolve, root.box
    lines: list[str] = []

    def beyond(rule: str, count: int, what: str, field: str) -> None:
        limit = getattr(rules, field)
        if count > limit:
            lines.append(f"{rule}: takes no part: {count:,} {what}, more than {limit:,} (presolve.{field})")

    nodes = root.propagators
    pairs = sum([isinstance(node, LinearNe) and node.bound == 0 and len(node.terms) == 2 for node in nodes])
    beyond("cliques", pairs, "disequalities of two variables", "most_pairs_of_cliques")
    orders = sum([isinstance(node, LinearLe | LinearLeIf) for node in nodes])
    beyond("machines", orders, "sums that may order tasks", "most_orders")
    rows = sum([isinstance(node, LinearLe | LinearEq) for node in nodes])
    beyond("dominated rows", rows, "sums", "most_rows_of_dominated")
    terms = core_terms(box, nodes)
    beyond("equations", terms, "terms in equations", "most_terms_of_equations")
    wide = {v for v, (low, high) in enumerate(zip(box.lo, box.hi, strict=True)) if high - low >= rules.wide}
    if wide:
        joint = connected(rows_of(nodes, box.lo, box.hi), wide)
        beyond("joint bounds", len(joint), "sums of wide variables", "most_rows_of_joint")
        if len(joint) <= rules.most_rows_of_joint:
            inner = len({v for row, _, _ in joint for _, v in row})
            beyond("joint bounds", inner, "variables in sums of wide ones", "most_variables_of_joint")
    return lines
