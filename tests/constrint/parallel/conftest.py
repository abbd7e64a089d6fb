"""Searches that are shared nearly at once, and processes that are counted."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from constrint.parallel import processes, workers
from constrint.settings import DEFAULT, using


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Nearly everything is done in shares; gives a list with a place for each."""
    handed_out: list[int] = []
    submit = workers.Workers.submit

    def counted(self: Any, common: Any, text: str) -> Any:
        handed_out.append(len(text))
        return submit(self, common, text)

    monkeypatch.setattr(workers.Workers, "submit", counted)
    with using(DEFAULT.with_fields(search={"work_alone": 100, "work_of_share": 150})):
        yield handed_out


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The processes that are started."""
    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def noted(*args: Any, **kwargs: Any) -> Any:
        process = popen(*args, **kwargs)
        if "constrint.parallel.processes" in str(args):  # others compile in the background
            started.append(process)
        return process

    monkeypatch.setattr(processes.subprocess, "Popen", noted)  # type: ignore[attr-defined]
    return started
