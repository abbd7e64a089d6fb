"""Sphinx configuration: `make docs` builds the pages into docs/_build/html."""

from importlib.metadata import version as installed

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

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

html_theme = "furo"
html_title = "ConstrINT and kerneltune"
html_static_path = ["_static"]
html_css_files = ["manual.css"]

# The copy button leaves out prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The text language has no highlighting of its own.
lexers["constrint"] = TextLexer()
