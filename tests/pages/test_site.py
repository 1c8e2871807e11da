"""The site of the documentation: its pages and gallery are there, and work offline.

It is built once from a copy of docs/, with one scenario run for its gallery;
the others have their pages without results. The build itself refuses dead links
and what is loaded from elsewhere; tests with faulty pages show that it does.
"""

import base64
import functools
import html
import http.server
import json
import re
import shutil
import subprocess
import threading
import zlib
from pathlib import Path

import pytest
from tools import generate
from tools.browser import Browser
from tools.pages import lessons
from tools.website import __main__ as website
from tools.website import conf, gallery, offline

import tidegate
from tidegate import _native
from tidegate.scenario import document, overrides

ROOT = Path(__file__).parents[2]
RUN = "captured-traffic"
pytestmark = pytest.mark.site
for library in ("sphinx", "furo", "myst_nb"):
    pytest.importorskip(library, reason="what builds the site is not installed: make site")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
in_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium to open pages in: as root, apt-get install -y chromium"
)


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    checkout = tmp_path_factory.mktemp("checkout")
    for path in ROOT.iterdir():
        if path.name == "docs":
            shutil.copytree(path, checkout / "docs", ignore=shutil.ignore_patterns("gallery"))
            for made in generate.OF_THE_SITE:  # they may be here from a build of the site
                (checkout / made).unlink(missing_ok=True)
        elif not path.name.startswith("."):
            (checkout / path.name).symlink_to(path)
    out = tmp_path_factory.mktemp("site")
    assert website.built(checkout, out, [RUN]) == []
    return out


@pytest.fixture(scope="module")
def site(out) -> Path:
    return out / "html"


def text_of(page: Path) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


def pages() -> list[Path]:
    """The pages of docs/, those that the build writes left out."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    found = [path for path in found if path.parent.name != "gallery"]
    kept = [path.relative_to(ROOT / "docs") for path in found]
    return [path for path in kept if f"docs/{path}" not in generate.OF_THE_SITE]


def test_every_page_of_the_documentation_is_there(site):
    assert len(pages()) > 25
    for page in pages():
        source = conf.INCLUDED.get(str(page.with_suffix("")), f"docs/{page}")
        title = (ROOT / source).read_text(encoding="utf-8").splitlines()[0]
        shown = text_of(site / page.with_suffix(".html"))
        assert title.lstrip("# ").replace("`", "") in shown, page


def test_every_page_but_parts_of_reports_is_in_the_navigation(site):
    start = (site / "search.html").read_text(encoding="utf-8")
    named = [page for page in pages() if len(page.parts) == 1 or page.stem == "REPORT"]
    assert len(named) > 20
    assert [str(page) for page in named if f'href="{page.with_suffix(".html")}"' not in start] == []


def test_the_pages_that_only_the_site_has_are_there_and_links_to_their_data_lead_to_them(site):
    assert len(generate.OF_THE_SITE) > 5
    for name, page in generate.OF_THE_SITE.items():
        place = site / Path(name).relative_to("docs").with_suffix(".html")
        title = page.text().splitlines()[0].lstrip("# ")
        assert title in text_of(place)
        # what it shows is kept here, and the page is not
        assert (ROOT / page.data).is_file()
        tracked = ["git", "ls-files", name, page.data]
        listed = subprocess.run(tracked, cwd=ROOT, capture_output=True, text=True, check=True)
        assert listed.stdout.split() == [page.data]
    for page, link in {
        "scenario": 'href="scenario-keys.html#queue"',
        "validation": 'href="validation-tables.html#tables-of-the-comparison"',
        "papers/session/REPORT": 'href="claims.html#claims"',
    }.items():
        assert link in (site / f"{page}.html").read_text(encoding="utf-8"), page


def test_a_link_to_a_folder_leads_to_a_list_of_its_files(site):
    report = (site / "papers" / "session" / "REPORT.html").read_text(encoding="utf-8")
    folder = "files/python/tidegate/papers/session/scenarios"
    assert f'href="../../{folder}/index.html"' in report
    listing = (site / folder / "index.html").read_text(encoding="utf-8")
    [first, *_] = sorted((ROOT / folder.removeprefix("files/")).glob("*.toml"))
    assert f'<a href="{first.name}">' in listing
    assert (site / folder / first.name).read_bytes() == first.read_bytes()


def test_every_ready_scenario_is_in_the_gallery(site):
    index = (site / "gallery" / "index.html").read_text(encoding="utf-8")
    files = sorted((ROOT / "scenarios").rglob("*.toml"))
    assert len(files) > 15
    for file in files:
        name = file.relative_to(ROOT / "scenarios").as_posix()
        page = name.removesuffix(".toml").replace("/", "-") + ".html"
        assert f'href="{page}"' in index
        said = text_of(site / "gallery" / page)
        assert f"scenarios/{name}" in said
        for line in file.read_text(encoding="utf-8").splitlines():
            assert line in said


def test_what_a_scenario_shows_is_what_its_command_gave(out, site):
    page = (site / "gallery" / f"{RUN}.html").read_text(encoding="utf-8")
    said = text_of(site / "gallery" / f"{RUN}.html")
    assert f"--seeds {gallery.SEEDS}" in said
    assert "Shortened" in said
    table = tidegate.load(out / "gallery" / f"{RUN}-1").averages
    for row in table:
        assert f"{row['completed_share']['mean'] * 100:.0f} ± " in said
    drawn = re.findall(r'<img alt="([^"]+)"', page)
    assert drawn == list(gallery.TITLES.values())


def test_what_has_been_run_is_not_run_again(out, monkeypatch):
    [card] = [card for card in gallery.cards(ROOT) if card.name == f"{RUN}.toml"]
    asked = []
    monkeypatch.setattr(gallery, "_run", lambda command, *_: asked.append(command) or "anew")
    kept = gallery.results(card, ROOT, out / "gallery")
    assert asked == []
    assert "served" in kept[0].table
    monkeypatch.setattr(gallery, "SEEDS", 3)
    assert gallery.results(card, ROOT, out / "gallery")[0].table == "anew"


def test_a_command_is_the_one_that_the_scenario_names():
    cards = {card.name: card for card in gallery.cards(ROOT)}
    assert cards["tandem.toml"].commands == ("tidegate compare scenarios/tandem.toml --port link1",)
    # over two lines of the comment
    assert cards["overloaded-access-link.toml"].commands == (
        "tidegate compare scenarios/overloaded-access-link.toml"
        " --gate none,fixed-rate:100,gss-ga,close-probe --seeds 5",
    )
    assert len(cards["tide.toml"].commands) == 2


def test_every_name_of_the_package_is_in_its_reference(site):
    page = (site / "api.html").read_text(encoding="utf-8")
    names = set(tidegate.__all__) - {"__version__"}
    assert [name for name in sorted(names) if f'id="tidegate.{name}"' not in page] == []
    for member in ("Comparison.flows", "Result.save", "View.queue_bytes", "Law.update"):
        assert f'id="tidegate.{member}"' in page
    shown = text_of(site / "api.html")
    assert "Parameters:" in shown
    assert "Return type:" in shown


FAULTS = {
    '<script src="https://example.org/x.js"></script>': "loads from elsewhere",
    '<img src="//example.org/x.png">': "loads from elsewhere",
    '<link rel="stylesheet" href="http://example.org/x.css">': "loads from elsewhere",
    "<style>@import 'https://example.org/x.css';</style>": "loads from elsewhere",
    '<p style="background: url(https://example.org/x.png)">': "loads from elsewhere",
    '<img src="lost.png">': "loads what is not there",
    '<a href="lost.html">': "dead link",
    '<a href="#lost">': "dead link",
    '<a href="other.html#lost">': "dead link",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_page_with_a_fault_is_named(tmp_path, fault):
    (tmp_path / "other.html").write_text('<p id="there">', encoding="utf-8")
    right = '<a href="other.html#there"><a href="https://example.org">elsewhere</a>'
    (tmp_path / "page.html").write_text(right, encoding="utf-8")
    assert list(offline.problems(tmp_path)) == []
    (tmp_path / "page.html").write_text(right + fault, encoding="utf-8")
    [found] = offline.problems(tmp_path)
    assert found.startswith(f"page.html: {FAULTS[fault]}")


def test_a_style_sheet_that_loads_from_elsewhere_is_named(tmp_path):
    (tmp_path / "x.css").write_text("b { src: url('https://example.org/f.woff') }", "utf-8")
    assert len(list(offline.problems(tmp_path))) == 1


BROKEN = (
    "[c](nowhere.md)",
    "[c](#nowhere)",
    "[c](other.md#nowhere)",
    "[c](../nowhere.toml)",
    "```{eval-rst}\n.. py:function:: tidegate.f(x: int) -> tidegate.lost.Type\n```",
)


def test_a_broken_link_and_no_other_fails_the_build(tmp_path, capfd):
    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "there.toml").touch()
    (source / "other.md").write_text("# Other\n\n## Part\n", "utf-8")
    links = "[a](#here) [b](other.md#part) [d](../there.toml)"
    (source / "index.md").write_text(f"# Start\n\n## Here\n\n{links}\n", "utf-8")
    assert website.rendered(source, tmp_path / "html")
    for number, part in enumerate(BROKEN):
        (source / f"broken{number}.md").write_text(f"# Page\n\n{part}\n", "utf-8")
    capfd.readouterr()
    assert not website.rendered(source, tmp_path / "html")
    # every line names its page: of each that is broken there is one, and none of the sound pages
    told = re.findall(r"/source/(\w+)\.md:\d+: ", capfd.readouterr().err)
    assert sorted(told) == [f"broken{number}" for number in range(len(BROKEN))]


def test_a_site_that_runs_nothing_says_how_to_get_what_runs(tmp_path):
    """Once on a page, in place of its runs."""
    source = tmp_path / "source"
    source.mkdir()
    offer = '```{run-here} Run it\n{"text": ""}\n```\n'
    (source / "index.md").write_text(f"# Start\n\n{offer}\n{offer}", "utf-8")
    assert website.rendered(source, tmp_path / "html", runs=False)
    shown = text_of(tmp_path / "html" / "index.html")
    assert shown.count("rustup target add wasm32-unknown-unknown") == 1
    assert "make site" in shown


class Alone(http.server.SimpleHTTPRequestHandler):
    """A server that lets pages load from itself alone; a browser says what else they try."""

    def end_headers(self) -> None:
        policy = "default-src 'self'; script-src 'self' 'unsafe-inline'; img-src 'self' data:;"
        self.send_header("Content-Security-Policy", policy + " style-src 'self' 'unsafe-inline'")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def served(site):
    handler = functools.partial(Alone, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def opened(address: str, folder: Path) -> tuple[str, list[str]]:
    """Open a page; return what stands in it then, and what the console says."""
    done = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *("--enable-logging=stderr", f"--user-data-dir={folder / 'browser'}"),
            *("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",),
            *("--virtual-time-budget=20000", address),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@in_browser
@pytest.mark.parametrize("page", ["index", "gallery/index", "api", "papers/lgc/REPORT"])
def test_no_request_leaves_the_machine(served, tmp_path, page):
    shown, said = opened(f"{served}/{page}.html", tmp_path)
    assert "</h1>" in shown
    assert said == []


@in_browser
def test_search_finds_a_page_and_from_the_files_alone_too(served, site, tmp_path):
    for place in (served, site.as_uri()):
        shown, _ = opened(f"{place}/search.html?q=token-bucket", tmp_path)
        [results] = re.findall(r'<div id="search-results">.*?</ul>', shown, re.DOTALL)
        assert "scenario-keys.html" in results


@pytest.fixture(scope="module")
def runs(site) -> Path:
    if not (site / "play" / "index.html").is_file():
        pytest.skip("no wasm32-unknown-unknown here: rustup target add wasm32-unknown-unknown")
    return site


def offered(page: Path) -> list[dict[str, str]]:
    """The experiments that a page offers to run, as their links hold them."""
    links = re.findall(r'<p class="run-here"><a[^>]*href="[^"#]*/index.html#1([^"]+)"', read(page))
    packed = [base64.urlsafe_b64decode(link + "=" * (-len(link) % 4)) for link in links]
    return [json.loads(zlib.decompress(each, wbits=-15)) for each in packed]


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_a_whole_scenario_on_a_page_can_be_run_there_and_a_part_cannot(runs):
    [found] = offered(runs / "gallery" / "tide.html")
    written = (ROOT / "scenarios" / "tide.toml").read_text("utf-8")
    assert found["text"] == f"{written.rstrip()}\n"
    # a scenario of another program, and one whose stack a page does not have
    assert offered(runs / "gallery" / "testbed-experiment-2.html") == []
    assert offered(runs / "gallery" / "stacks-half-quic.html") == []
    blocks = read(ROOT / "docs" / "scenario.md").count("```toml")
    assert 0 < len(offered(runs / "scenario.html")) < blocks
    for page in ("getting-started", "people"):
        assert offered(runs / f"{page}.html"), page


def test_every_whole_scenario_of_a_page_can_be_run_there_unless_it_takes_other_code(runs):
    """A whole scenario has a duration and a topology; `crate` asks for a control out of a crate."""
    found = 0
    for page in pages():
        source = conf.INCLUDED.get(str(page.with_suffix("")), f"docs/{page}")
        blocks = re.findall(r"^```toml\n(.*?)^```", read(ROOT / source), re.S | re.M)
        whole = [each for each in blocks if re.search("^duration *=", each, re.M)]
        whole = [f"{each.rstrip()}\n" for each in whole if "[topology" in each]
        runnable = [each for each in whole if "crate = {" not in each]
        there = [each["text"] for each in offered(runs / page.with_suffix(".html"))]
        if page.parent.name != "lessons":
            assert there == runnable, page
        found += len(runnable)
    assert found >= 6


def test_each_lesson_has_a_page_that_runs_it(runs):
    assert len(lessons.live()) == len(list((ROOT / "docs" / "lessons").glob("*.ipynb"))) == 7
    for name in lessons.live():
        page = runs / "lessons" / f"{name}-live.html"
        assert offered(page) == [experiment for _, experiment in lessons.experiments(name)]
        shown = text_of(page)
        question, *_, ending = lessons.texts(name)
        assert question.splitlines()[0].lstrip("# ") in shown
        assert "What to see" in shown
        assert "What to see" in ending
        for run in lessons.live()[name]["run"]:
            assert " ".join(run["answer"].replace("`", "").split()[:4]) in shown


TCP_CONTROLS = {
    each["const"] for each in json.loads(_native.schema())["$defs"]["TcpControl"]["oneOf"]
}


def test_the_runs_of_the_lessons_name_controls_that_are_there():
    """Their scenarios load, and so does each variant that a run names."""
    for name in lessons.live():
        text = document.read(lessons.scenario(name))
        there = {cell.label: cell for cell in overrides.variant_cells(text)}
        for words, experiment in lessons.experiments(name):
            for chosen in (experiment["first"], experiment.get("second", "")):
                kind, _, label = chosen.partition(":")
                if kind == "variant":
                    text.having(*there[label].settings).load()
                elif kind in {"queue", "gate"}:
                    port = overrides.default_port(text.load())
                    [cell] = overrides.law_cells(kind, [label], [port], text)
                    text.having(*cell.settings).load()
                else:
                    assert kind in {"", "tcp"}, words
                    assert not kind or label in TCP_CONTROLS, words


@in_browser
def test_a_scenario_runs_in_place(runs):
    with Browser() as page:
        page.size(1400, 1000)
        page.open((runs / "gallery" / "captured-traffic.html").as_uri())
        page.value("document.querySelector('.run-here a').click()")
        page.wait("window.tidegate?.lab?.hashes")
        found = page.value("tidegate.lab.hashes")
        assert (
            page.value("document.querySelector('section.lab').getBoundingClientRect().height") > 0
        )
        assert page.said == []
    run = tidegate.run(ROOT / "scenarios" / "captured-traffic.toml", seed=1)
    assert found == [run.summary["result_hash"]]


@in_browser
def test_a_lesson_runs_in_place_and_shows_what_its_text_says(runs):
    """Bufferbloat: with a queue for each flow 95 % of the packets of the call wait below 30 ms."""
    with Browser() as page:
        page.size(1400, 1000)
        page.open((runs / "lessons" / "bufferbloat-live.html").as_uri())
        page.value("document.querySelectorAll('.run-here a')[1].click()")
        page.wait("window.tidegate?.lab?.summaries")
        bloated, fair = page.value("tidegate.lab.summaries")
    call = [
        next(each for each in one["classes"] if each["name"] == "call") for one in (bloated, fair)
    ]
    assert call[0]["delay_p50_s"] > 0.5
    assert call[1]["delay_p95_s"] < 0.03
