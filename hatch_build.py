"""Bytecode for checkouts that are installed with `pip install -e`.

pip compiles what it installs to bytecode, but not a checkout that it only points to. Where
PYTHONDONTWRITEBYTECODE is set, as in many containers, every start would compile 200 modules anew, 0.2 s.
"""

from __future__ import annotations

import compileall
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("constrint", "kerneltune")


class BytecodeHook(BuildHookInterface):
    """Compiles the packages of an editable install; files that cannot be written are left out."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel is built; `version` names the kind of wheel."""
        if version == "editable":
            for package in PACKAGES:
                compileall.compile_dir(Path(self.root, package), quiet=2)
