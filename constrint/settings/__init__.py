"""Settings: the numbers that decide when a member, rule, cut or replacement takes part.

`Settings` has a record for each part of the solver. A model's attribute `settings` is `DEFAULT` unless a
test, or an experiment, sets another one, or makes the model within `using`. Settings change what is tried and
for how long, never what an answer means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self

from constrint.settings.diagrams import BuildingSettings, DiagramSettings
from constrint.settings.enumeration import EnumerationSettings
from constrint.settings.learning import LearningSettings
from constrint.settings.local_search import LocalSearchSettings
from constrint.settings.neighbourhoods import NeighbourhoodSettings
from constrint.settings.portfolio import PortfolioSettings
from constrint.settings.presolve import PresolveSettings
from constrint.settings.reading import ReadingSettings
from constrint.settings.record import Record
from constrint.settings.relaxation import RelaxationSettings
from constrint.settings.search import SearchSettings

__all__ = [
    "DEFAULT",
    "BuildingSettings",
    "DiagramSettings",
    "EnumerationSettings",
    "LearningSettings",
    "LocalSearchSettings",
    "NeighbourhoodSettings",
    "PortfolioSettings",
    "PresolveSettings",
    "ReadingSettings",
    "Record",
    "RelaxationSettings",
    "SearchSettings",
    "Settings",
    "of_new_models",
    "using",
]


class Settings(Record):
    """The settings of a solver.

    Attributes:
        presolve: Of reasoning at the root.
        learning: Of the learning search.
        relaxation: Of linear relaxations.
        search: Of short searches, and of slices.
        portfolio: Of the portfolio of searches.
        neighbourhoods: Of large-neighbourhood search.
        local_search: Of the local search for a first solution.
        diagrams: Of diagrams beside a search.
        building: Of building diagrams, and of listing their solutions.
        enumeration: Of optima by enumeration in tables of rows.
        reading: Of reading texts.
    """

    presolve: PresolveSettings = PresolveSettings()
    learning: LearningSettings = LearningSettings()
    relaxation: RelaxationSettings = RelaxationSettings()
    search: SearchSettings = SearchSettings()
    portfolio: PortfolioSettings = PortfolioSettings()
    neighbourhoods: NeighbourhoodSettings = NeighbourhoodSettings()
    local_search: LocalSearchSettings = LocalSearchSettings()
    diagrams: DiagramSettings = DiagramSettings()
    building: BuildingSettings = BuildingSettings()
    enumeration: EnumerationSettings = EnumerationSettings()
    reading: ReadingSettings = ReadingSettings()

    def with_fields(self, **records: Mapping[str, object]) -> Self:
        """Settings with other values in some records: ``with_fields(presolve={"rounds": 1})``."""
        return self.changed(**{name: getattr(self, name).changed(**given) for name, given in records.items()})


DEFAULT = Settings()

_present: ContextVar[Settings] = ContextVar("settings of new models", default=DEFAULT)


def of_new_models() -> Settings:
    """The settings of models that are made now."""
    return _present.get()


@contextmanager
def using(settings: Settings) -> Iterator[None]:
    """Give models that are made in a `with` block, by this thread, other settings."""
    token = _present.set(settings)
    try:
        yield
    finally:
        _present.reset(token)
