"""Prints what the changelog says of the version that a tag names: `python .ci/notes.py v0.1.0`."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes(changelog: str, version: str) -> str:
    """The section of a version, without its heading."""
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)
    for section in sections:
        if re.match(rf"\[?{re.escape(version)}\b(?!\.)", section):
            return section.partition("\n")[2].strip() + "\n"
    raise SystemExit(f"CHANGELOG.md has no section for {version}: run towncrier build --version {version}")


def main(tag: str) -> None:
    """Write the notes; ends with a message where the tag is not that of the version."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if tag != f"v{version}":
        raise SystemExit(f"the tag {tag} is not v{version}, the version in pyproject.toml")
    sys.stdout.write(notes((ROOT / "CHANGELOG.md").read_text("utf-8"), version))


if __name__ == "__main__":
    main(sys.argv[1])
