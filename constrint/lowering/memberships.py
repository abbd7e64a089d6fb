"""Membership of values, or of tuples of values, in sets of constants."""

from __future__ import annotations

from constrint.expr.domain import Domain
from constrint.lowering.literals import Conditions
from constrint.lowering.problem import FALSE, TRUE, Infeasible, Linear
from constrint.propagators import Member, Table
from constrint.propagators.member import intervals_of
from constrint.support.deadline import sliced

MOST_LISTED = 64  # most values of a range with a stride that are listed


class Memberships(Conditions):
    """Literals and constraints of one problem, sets and tables included."""

    # Membership

    def _parts(self, linear: Linear, domain: Domain) -> list[int]:
        """Literals whose conjunction means that a sum lies in a plain range."""
        parts = []
        if domain.lo is not None:
            parts.append(self.at_most(Linear({}, domain.lo).plus(linear, -1), None))
        if domain.hi is not None:
            parts.append(self.at_most(linear.plus(Linear({}, -domain.hi)), None))
        anchor = domain.lo if domain.lo is not None else (domain.hi or 0)
        parts.append(self.divides(Linear({}, domain.step), linear.plus(Linear({}, -anchor)), None))
        return parts

    def member(self, linear: Linear, domain: Domain, target: int | None) -> int:
        """The literal of "the sum lies in the domain"."""
        if domain.is_empty:
            return FALSE
        values = domain.values
        if values is None and domain.step > 1 and domain.size is not None and domain.size <= MOST_LISTED:
            # A residue class between bounds has holes, which its bounds do not express.
            values = tuple(domain)
        if values is None:
            negated = [part ^ 1 for part in self._parts(linear, domain)]
            return self.any_of(negated, None if target is None else target ^ 1) ^ 1
        linear = self._simplified(linear)
        if not linear.terms:
            return TRUE if linear.constant in values else FALSE
        v = self.problem.of_linear(linear)
        intervals = intervals_of(values)
        literal, is_new = self._new(("member", v, intervals), target)
        if is_new:
            self._note(literal, [(v, 0)])
            self.problem.propagators.append(Member(literal, v, intervals))
        return literal

    def require_member(self, linear: Linear, domain: Domain) -> None:
        """Post that the sum lies in the domain."""
        linear = self._simplified(linear)
        if domain.is_empty:
            raise Infeasible
        if domain.values is None:
            if domain.lo is not None:
                self.require_at_most(Linear({}, domain.lo).plus(linear, -1))
            if domain.hi is not None:
                self.require_at_most(linear.plus(Linear({}, -domain.hi)))
            anchor = domain.lo if domain.lo is not None else (domain.hi or 0)
            self.require_divides(Linear({}, domain.step), linear.plus(Linear({}, -anchor)))
        else:
            self.problem.keep_values(self.problem.of_linear(linear), domain.values)

    # Tables

    def table_parts(
        self, sums: list[Linear], rows: frozenset[tuple[int, ...]]
    ) -> tuple[list[int], frozenset[tuple[int, ...]]]:
        """The open variables, each once, and the rows that are left for them."""
        columns: dict[int, int] = {}
        fixed: list[tuple[int, int]] = []
        repeated: list[tuple[int, int]] = []
        for i, total in enumerate(map(self._simplified, sums)):
            if not total.terms:
                fixed.append((i, total.constant))
                continue
            v = self.problem.of_linear(total)
            if v in columns:
                repeated.append((i, columns[v]))
            else:
                columns[v] = i
        if not fixed and not repeated:
            return list(columns), rows
        places, kept = list(columns.values()), set[tuple[int, ...]]()
        for part in sliced(rows):
            kept.update(
                tuple([row[i] for i in places])
                for row in part
                if all(row[i] == value for i, value in fixed) and all(row[i] == row[j] for i, j in repeated)
            )
        return list(columns), frozenset(kept)

    def table(self, variables: list[int], rows: frozenset[tuple[int, ...]], target: int | None) -> int:
        """The literal of "the variables take one of the rows"."""
        if not rows or not variables:
            return TRUE if rows else FALSE
        if len(variables) == 1:
            domain = Domain.of_values([row[0] for row in rows])
            return self.member(Linear({variables[0]: 1}, 0), domain, target)
        literal, is_new = self._new(("table", tuple(variables), rows), target)
        if is_new:
            self._note(literal, [(v, 0) for v in variables])
            self.problem.propagators.append(Table(literal, tuple(variables), tuple(sorted(rows))))
        return literal

    def require_table(self, variables: list[int], rows: frozenset[tuple[int, ...]]) -> None:
        """Post that the variables take one of the rows."""
        if not rows:
            raise Infeasible
        for i, v in enumerate(variables):
            values: set[int] = set()
            for part in sliced(rows):
                values.update([row[i] for row in part])
            self.problem.keep_values(v, sorted(values))
        if len(variables) > 1:
            self.problem.propagators.append(Table(TRUE, tuple(variables), tuple(sorted(rows))))
