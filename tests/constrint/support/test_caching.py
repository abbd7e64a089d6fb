"""The user's cache folder is where platformdirs has it."""

from __future__ import annotations

import sys

import platformdirs
import pytest

from constrint.support.caching import user_cache


@pytest.mark.parametrize("given", [None, "", "  ", "/elsewhere/cache"])
def test_the_folder_is_that_of_platformdirs(monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    if given is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert user_cache() == platformdirs.user_cache_path("constrint")


def test_other_systems_ask_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_cache() == platformdirs.user_cache_path("constrint")
