"""Hardware counters of a configuration, by the command `ncu`."""

from __future__ import annotations

from collections.abc import Sequence

from kerneltune.measuring.counters import check_counters


class NCUObserver:
    """Asks for counters, which become values of each configuration by their names.

    Args:
        metrics: The counters, as `ncu --query-metrics` names them.
        device: Not used: the first GPU is.

    Raises:
        InputError: A name cannot be a counter's.
    """

    def __init__(self, metrics: Sequence[str] | None = None, device: int = 0) -> None:
        self.counters = list(metrics or ())
        check_counters(self.counters)
