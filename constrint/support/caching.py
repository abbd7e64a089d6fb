"""The user's cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """The folder of this package's cache, which may not exist.

    On Linux it is found without platformdirs, whose import takes longer than reading what is cached.
    """
    if not sys.platform.startswith("linux"):
        import platformdirs

        return platformdirs.user_cache_path("constrint")
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given if given.strip() else os.path.expanduser("~/.cache")) / "constrint"
