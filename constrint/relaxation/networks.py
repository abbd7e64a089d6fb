"""The network in the rows of a relaxation: equations of what flows into nodes and out of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate


class Network:
    """The nodes and arcs that rows state.

    A node is an equation whose wide columns have factors 1 and -1. Rows are turned so that a column with 1 in
    one node has -1 in the other; a row for which that is impossible is none.

    Args:
        rows: The rows ``sum <= limit``, and whether each is an equation.
        bounds: The bounds of the columns at the root.

    Attributes:
        nodes: The number of nodes, with what is outside.
        arcs: For each arc, its column, and the nodes that it leaves and enters.
    """

    def __init__(
        self, rows: Sequence[tuple[Mapping[int, int], int, bool]], bounds: tuple[list[int], list[int]]
    ) -> None:
        low, high = bounds
        self._rows, self._signs = [-1], [1]
        self._need = [-1]
        ends: dict[int, list[tuple[int, int]]] = defaultdict(
            list
        )  # nodes of a column, with its factors there
        flows: dict[int, list[tuple[int, int]]] = {}
        holders: dict[int, list[int]] = defaultdict(list)
        for r, (terms, _, is_equation) in enumerate(rows):
            wide = [(x, a) for x, a in terms.items() if (low[x], high[x]) != (0, 1)]
            if is_equation and len(wide) > 1 and all(abs(a) == 1 and low[x] >= 0 for x, a in wide):
                flows[r] = wide
                for x, _ in wide:
                    holders[x].append(r)
        seen: set[int] = set()
        for first in flows:
            queue = [first] if first not in seen else []
            seen.add(first)
            while queue:
                r = queue.pop()
                sign = self._sign(flows[r], ends)
                if sign == 0:
                    continue
                node = len(self._rows)
                self._rows.append(r)
                self._signs.append(sign)
                limit = sign * rows[r][1]
                self._need.append((limit > 0) - (limit < 0))
                for x, a in flows[r]:
                    ends[x].append((node, sign * a))
                    fresh = [other for other in holders[x] if other not in seen]
                    seen.update(fresh)
                    queue += fresh
        self.nodes = len(self._rows)
        self.arcs: list[tuple[int, int, int]] = []
        for x, at in sorted(ends.items()):
            into = next((node for node, a in at if a > 0), 0)
            out_of = next((node for node, a in at if a < 0), 0)
            self.arcs.append((x, out_of, into))

    @staticmethod
    def _sign(flow: Sequence[tuple[int, int]], ends: Mapping[int, Sequence[tuple[int, int]]]) -> int:
        """The factor of a row that suits the nodes so far; 0 where there is none."""
        signs = {-a * at[0][1] for x, a in flow if (at := ends.get(x, ()))}
        if any(len(ends.get(x, ())) > 1 for x, _ in flow) or len(signs) > 1:
            return 0
        if signs:
            return signs.pop()
        return 1

    def fields(self) -> dict[str, list[int]]:
        """Its part of the state of a search for cuts."""
        of: list[list[int]] = [[] for _ in range(self.nodes)]
        for e, (_, out_of, into) in enumerate(self.arcs):
            of[out_of].append(e)
            of[into].append(e)
        zeros, count = [0] * self.nodes, [0] * len(self.arcs)
        return {
            "node_row": self._rows,
            "node_sign": self._signs,
            "need": self._need,
            "arc": [x for x, _, _ in self.arcs],
            "arc_tail": [out_of for _, out_of, _ in self.arcs],
            "arc_head": [into for _, _, into in self.arcs],
            "arcs_start": [0, *accumulate(map(len, of))],
            "arcs_of": [e for each in of for e in each],
            "forward": count.copy(),
            "backward": count,
            "mark": zeros.copy(),
            "reached_by": zeros.copy(),
            "queue": zeros,
        }
