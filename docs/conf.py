"""Sphinx configuration: `make docs` builds the pages into docs/_build/html."""

import re
import sys
from importlib.metadata import version as installed
from pathlib import Path

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

sys.path.insert(0, str(Path(__file__).parent))
from gallery_pictures import draw_all

project = "ConstrINT and kerneltune"
author = "the ConstrINT developers"
project_copyright = "2026, the ConstrINT developers"
release = version = installed("constrint")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository that are no pages
exclude_patterns = ["_build"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_mock_imports = ["torch", "pycuda"]
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
default_role = "py:obj"  # names in backticks of docstrings are links where the reference has them

html_theme = "furo"
html_title = "ConstrINT and kerneltune"
html_static_path = ["_static"]
html_css_files = ["manual.css"]

# The copy button leaves out prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The text language has no highlighting of its own.
lexers["constrint"] = TextLexer()


def drop_module_docstring(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Module docstrings are for readers of the code; pages of the reference have their own text."""
    if what == "module":
        lines.clear()


AS_WRITTEN: dict[str, list[str]] = {}  # docstrings of attributes, while they are processed


def keep_attribute_docstring(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Keep the docstring of an attribute, since napoleon takes the text before a colon for a type."""
    if what in ("attribute", "data", "property"):
        AS_WRITTEN[name] = list(lines)


def restore_attribute_docstring(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Restore it after napoleon."""
    lines[:] = AS_WRITTEN.pop(name, lines)


def link_short_name(app, env, node, contnode):  # type: ignore[no-untyped-def]
    """Link `Brancher` to `constrint.preparing.branching.Brancher` where only one object has that name."""
    if node.get("refdomain") != "py":
        return None
    domain = env.get_domain("py")
    full = [name for name in domain.objects if name.endswith(f".{node['reftarget']}")]
    if len(full) != 1:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", full[0], node, contnode)


NUMBER = re.compile(r"[-−–<>≤≥~±]? ?\d[\d,. %×/–-]*( ?[A-Za-zµ]{1,5})?")
UNIT = re.compile(r"(?<=\d) (?=(s|ms|µs|min|h|KB|MB|GB|GiB|MiB|%)\b)")


def keep_numbers_whole(app, doctree, docname):  # type: ignore[no-untyped-def]
    """Let no line of a table end within a number, or between a number and its unit."""
    for entry in doctree.findall(nodes.entry):
        if NUMBER.fullmatch(entry.astext().strip()):
            entry["classes"].append("number")
        for text in list(entry.findall(nodes.Text)):
            joined = UNIT.sub("\u00a0", text.astext())
            if joined != text.astext() and not isinstance(text.parent, nodes.literal):
                text.parent.replace(text, nodes.Text(joined))


def draw_gallery(app):  # type: ignore[no-untyped-def]
    """Run the programs of the gallery and draw what they find, before the pages are read."""
    draw_all(Path(app.srcdir) / "gallery")


def setup(app):  # type: ignore[no-untyped-def]
    """Connect the functions above."""
    app.connect("builder-inited", draw_gallery)
    app.connect("autodoc-process-docstring", drop_module_docstring)
    app.connect("autodoc-process-docstring", keep_attribute_docstring, priority=400)  # napoleon's is 500
    app.connect("autodoc-process-docstring", restore_attribute_docstring, priority=600)
    app.connect("missing-reference", link_short_name)
    app.connect("doctree-resolved", keep_numbers_whole)
