"""The settings of Sphinx for the site. Everything that a page loads is in its folder."""

from tidegate import __version__

project = "tidegate"
author = "the authors of tidegate"
version = release = __version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"
# Anchors as the repository's own pages use them.
myst_heading_anchors = 5
# Pages that are generated begin with what a report needs, not with a first heading in order.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

# A word between single backticks is code in docstrings, as it is in pages.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 80

html_theme = "furo"
html_title = "tidegate"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options: dict[str, object] = {"top_of_page_buttons": []}
