"""The user's cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache(package: str = "constrint") -> Path:
    """The folder of a package's cache, which may not exist; a temporary one where there is no home.

    On Linux it is found without platformdirs, whose import takes longer than reading what is cached.
    """
    if not sys.platform.startswith("linux"):
        import platformdirs

        return platformdirs.user_cache_path(package)
    given = os.environ.get("XDG_CACHE_HOME", "")
    for folder in (given, os.path.expanduser("~/.cache")):  # which is not expanded for a user without a home
        if os.path.isabs(folder):  # else it would be one of the current folder
            return Path(folder) / package
    from constrint.support.own_files import temporary_folder

    return temporary_folder(package)
