"""Settings: the numbers that decide when a member, rule, cut or replacement takes part.

`Settings` has a record for each part of the solver. A model's attribute `settings` is `DEFAULT` unless a
test, or an experiment, sets another one. Settings change what is tried and for how long, never what an answer
means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from constrint.settings.presolve import PresolveSettings
from constrint.settings.record import Record

__all__ = ["DEFAULT", "PresolveSettings", "Record", "Settings"]


class Settings(Record):
    """The settings of a solver.

    Attributes:
        presolve: Of reasoning at the root.
    """

    presolve: PresolveSettings = PresolveSettings()

    def with_fields(self, **records: Mapping[str, Any]) -> Self:
        """Settings with other values in some records: ``with_fields(presolve={"rounds": 1})``."""
        return self.changed(**{name: getattr(self, name).changed(**given) for name, given in records.items()})


DEFAULT = Settings()
