"""The documentation as a site: ``make docs``. Pages are Markdown, the reference comes from docstrings; nothing is loaded from elsewhere."""

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

import consilience

project, author = "consilience", "the authors of consilience"
release = version = consilience.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
html_theme = "furo"
html_static_path, html_css_files = ["_static"], ["pages.css"]
html_title = f"consilience {release}"
html_copy_source = html_show_sourcelink = False
html_show_copyright = False
autodoc_typehints = "none"  # signatures have them
autodoc_member_order = "groupwise"
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_use_ivar = True
nitpicky = False
lexers["mermaid"] = TextLexer()  # drawn where Markdown is shown; here it is read
