"""The settings of Sphinx for the site. Everything that a page loads is in its folder."""

import json
import re
import shutil
from html import escape
from os.path import normpath, relpath
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tidegate import __version__
from tools import rust_targets, wasm
from tools.generate import OF_THE_SITE
from tools.website import play

ROOT = Path(__file__).parents[2]

project = "tidegate"
author = "the authors of tidegate"
version = release = __version__
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["pictures"]
# Notebooks are shown as they are kept, with what their cells show.
nb_execution_mode = "off"
nb_render_markdown_format = "myst"
# Anchors as the repository's own pages use them.
myst_heading_anchors = 5
# Pages that are generated do not begin with a heading of the first level; pages that belong
# to a report are linked there, and are not in the navigation.
# ref.python: a property called `bytes` in two classes makes the type of that name ambiguous
suppress_warnings = ["myst.header", "misc.highlighting_failure", "toc.not_included", "ref.python"]
# Types of other packages, and those behind the public interface, have no page here.
nitpick_ignore_regex = [("py:.*", r"(?!tidegate\.).*"), ("py:.*", r"tidegate\.(grid|results)\..*")]

# A word between single backticks is code in docstrings, as it is in pages.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "both"
autodoc_preserve_defaults = True
maximum_signature_line_length = 80

html_theme = "furo"
html_title = "tidegate"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["run-here.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options: dict[str, object] = {"top_of_page_buttons": []}

INCLUDED = {
    "index": "README.md",
    "architecture": "ARCHITECTURE.md",
    "contributing": "CONTRIBUTING.md",
    "changelog": "CHANGELOG.md",
}
"""Pages that include one from the root of the repository."""


RUNS = "play/index.html"
"""The page that runs scenarios."""
LACKING = (
    "This site was built without the page that runs scenarios."
    f" To run them here: `{rust_targets.command(wasm.TARGET)}`, then `make site`."
)
"""What stands in place of the first run of a page where the site has no such page."""
MADE_OF = {page.data: name for name, page in OF_THE_SITE.items()}
"""The page that the site makes of a file of data."""


def lead_to_made(_: Sphinx, page: str, source: list[str]) -> None:
    """Turn links to a place in a file of data to that place in the page made of it."""
    here = f"docs/{page}.md"

    def turned(found: re.Match[str]) -> str:
        made = MADE_OF.get(normpath(Path(here).parent / found["path"]))
        return f"]({relpath(made, Path(here).parent)}#" if made else found[0]

    source[0] = re.sub(r"\]\((?P<path>[^)\s#:]+)#", turned, source[0])


def lead_out(app: Sphinx, doctree: nodes.document) -> None:
    """Redirect links out of docs/ to a page, a file or a listing of the site."""
    root = Path(app.srcdir).parent
    page = app.env.docname
    pages = {path: name for name, path in INCLUDED.items()} | {"scenarios": "gallery/index"}
    here = (root / INCLUDED.get(page, f"docs/{page}.md")).parent
    links = (*doctree.findall(addnodes.download_reference), *doctree.findall(addnodes.pending_xref))
    for link in links:
        path, _, anchor = link["reftarget"].partition("#")
        if link.get("reftype") != "myst" or not path or path in app.env.found_docs:
            continue
        # MyST drops the suffix of a page, and makes its path absolute.
        path = f"{path}.md" if link.get("refdomain") else path
        target = relpath(here / path, root)
        name = pages.get(target, target.removeprefix("docs/").removesuffix(".md"))
        new: nodes.Element
        if target == f"docs/{RUNS}":  # it is written after Sphinx, if at all
            there = app.config.tidegate_runs
            new = (
                nodes.reference(refuri=relpath(RUNS, Path(page).parent))
                if there
                else nodes.inline()
            )
        elif name in app.env.found_docs:
            new = addnodes.pending_xref(
                refdomain="doc",
                reftarget=name,
                reftargetid=anchor or link.get("reftargetid"),
                refdoc=page,
                reftype="myst",
                refexplicit=True,
            )
        elif (root / target).is_file():
            new = addnodes.download_reference(reftarget=f"/../{target}", refdoc=page)
        elif (root / target).is_dir():
            listed = copied(root, target, Path(app.outdir))
            new = nodes.reference(refuri=relpath(listed, Path(app.outdir, page).parent))
        else:
            continue  # Sphinx warns of it
        new += link.children
        link.replace_self(new)


def copied(root: Path, folder: str, out: Path) -> Path:
    """Copy a folder of the repository into the site, and return the page that lists it."""
    target = out / "files" / folder
    shutil.copytree(root / folder, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__*"))
    rows = "".join(
        f'<li><a href="{name}">{name}</a>'
        for path in sorted(target.rglob("*"))
        if path.is_file() and (name := path.relative_to(target).as_posix()) != "index.html"
    )
    page = target / "index.html"
    page.write_text(f"<!doctype html><title>{folder}</title><h1>{folder}</h1><ul>{rows}</ul>\n")
    return page


def offer_runs(app: Sphinx, doctree: nodes.document) -> None:
    """Offer to run the scenarios of a page in place."""
    if not app.config.tidegate_runs:
        return
    here = app.env.docname
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") != "toml" or not is_scenario(block.astext()):
            continue
        experiment = {"text": block.astext().rstrip() + "\n"}
        offer = run_here(here, experiment, "Run it here")
        block.parent.insert(block.parent.index(block) + 1, offer)


class RunHere(SphinxDirective):
    """An experiment, as a link holds it, to run in place; without such a page, how to get it."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the link, which run-here.js makes a laboratory of."""
        if not self.config.tidegate_runs:
            # once on a page
            told = self.env.temp_data.setdefault("tidegate_told", False)
            self.env.temp_data["tidegate_told"] = True
            return [] if told else self.parse_text_to_nodes(LACKING)
        experiment = json.loads("\n".join(self.content))
        return [run_here(self.env.docname, experiment, self.arguments[0])]


def run_here(page: str, experiment: dict[str, Any], words: str) -> nodes.raw:
    """Return a link of a page to the page that runs an experiment."""
    target = f"{relpath(RUNS, Path(page).parent)}#{play.fragment(experiment)}"
    link = f'<a class="reference internal" href="{target}">{escape(words)}</a>'
    return nodes.raw("", f'<p class="run-here">{link}</p>', format="html")


def keep_in(_: Sphinx, page: str, __: str, context: dict[str, Any], ___: object) -> None:
    """Forbid a page to send anything anywhere; the search reads the pages of its own site."""
    policy = play.POLICY
    if page == "search":
        policy = policy.replace("connect-src 'none'", "connect-src 'self'")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    context["metatags"] = meta + context.get("metatags", "")


def is_scenario(text: str) -> bool:
    """Tell whether a block of a page is a whole scenario that a page can run."""
    whole = re.search(r"^duration *=", text, re.MULTILINE) and "[topology" in text
    return bool(whole) and play.runs(text + "\n", ROOT / "scenarios") is not None


def setup(app: Sphinx) -> None:
    """Lead links out before Sphinx collects the files that pages offer."""
    app.add_config_value("tidegate_runs", default=0, rebuild="html")
    app.connect("source-read", lead_to_made)
    app.add_directive("run-here", RunHere)
    app.connect("doctree-read", offer_runs)
    app.connect("html-page-context", keep_in)
    app.connect("doctree-read", lead_out, priority=400)
