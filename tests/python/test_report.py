"""The page of `tidegate report`: one file, which a browser opens without a network.

What the page does by itself is tried in headless Chromium: a script at its end
uses the controls as a reader does, and writes down what it then finds.
"""

import json
import re
import shutil
import subprocess
from html import escape
from pathlib import Path

import polars as pl
import pytest

import tidegate as laboratory
from tidegate.grid.load import load as loaded
from tidegate.show.page import motion, origin

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


def in_browser(test):
    """Mark a test that opens a page in Chromium."""
    reason = "no Chromium to open pages in: as root, apt-get install -y chromium"
    return pytest.mark.site(pytest.mark.skipif(BROWSER is None, reason=reason)(test))


pytest.importorskip("vl_convert", reason="not installed: pip install vl-convert-python")

ASKED = """\
<script>
(async () => {
  const told = {};
  try {
    await tidegate.everything();
    told.drawn = document.body.dataset.drawn;
    await (async () => { %s })();
  } catch (error) { told.failed = String(error); }
  told.faults = document.body.dataset.faults || "";
  const place = document.createElement("pre");
  place.id = "told";
  place.textContent = JSON.stringify(told);
  document.body.append(place);
})();
</script>
"""
ITEMS = """
const items = (view) => {
  const found = [];
  const look = (node) => {
    if (!node) return;
    if (node.datum && node.tooltip !== undefined) found.push(node);
    (node.items || []).forEach(look);
  };
  look(view.scenegraph().root);
  return found;
};
const view = (title) => {
  const heading = [...document.querySelectorAll("h3")].find((h) => h.textContent === title);
  let place = heading;
  while (!place.classList.contains("chart")) place = place.nextElementSibling;
  return tidegate.views.get(place);
};
// what lies around the nearest point holds the datum of that point
const control = (item) => (item.datum.datum || item.datum).control;
const controls = (title) => [...new Set(items(view(title)).map(control))].sort();
"""


def opened(page: Path, folder: Path, script: str = "") -> dict:
    """Open a page without a network, use it, and return what was found."""
    asked = folder / "asked.html"
    text = page.read_text(encoding="utf-8")
    at = text.rindex("</body>")
    asked.write_text(text[:at] + ASKED % (ITEMS + script) + text[at:], encoding="utf-8")
    done = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *("--enable-logging=stderr", f"--user-data-dir={folder / 'browser'}"),
            *("--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1280,1000"),
            *("--virtual-time-budget=60000", asked.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    told = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.DOTALL)
    assert told, done.stderr[-2000:]
    errors = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(told[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")) | {
        "console": errors
    }


@pytest.fixture(scope="module")
def compared(overload, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compared") / "c"
    gates = ["none", "fixed-rate:10", "close-probe"]
    laboratory.compare(overload, gates=gates, seeds=2, out=folder, plots=False)
    return folder


@pytest.fixture(scope="module")
def page(compared) -> Path:
    command = ["tidegate", "report", str(compared)]
    from tidegate.cli import app

    app(command[1:], standalone_mode=False)
    return compared / "report.html"


def test_the_page_is_one_small_file_that_loads_nothing(page):
    text = page.read_text(encoding="utf-8")
    assert len(text) < 5e6
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", own)
    assert "@import" not in own
    assert "url(" not in own


def test_the_page_says_in_words_what_the_numbers_say(page, compared):
    text = page.read_text(encoding="utf-8")
    assert f"<b>{escape(laboratory.load(compared).recommendation)}</b>" in text.replace(
        "&nbsp;", " "
    )
    averages = json.loads((compared / "summary.json").read_text(encoding="utf-8"))["table"]
    for row in averages:
        assert f"<b>{row['settings']['gate']}</b>: " in text
    assert "tidegate compare scenario.toml --gate none,fixed-rate:10,close-probe --seeds 2" in text


def test_what_differs_from_the_defaults_is_what_the_scenario_wrote(overload):
    """The scenario of these tests writes these keys, and none of them at its default."""
    effective = laboratory.run(overload, settings={"duration": "6s"}).outcome.scenario.show()
    bottleneck = ("topology", "dumbbell", "bottleneck")
    web = ("traffic", "web")
    assert origin.own(effective) == {
        ("name",),
        ("duration",),
        ("warmup",),
        ("topology", "dumbbell", "pairs"),
        *(("topology", "dumbbell", "access", key) for key in ("rate", "delay")),
        *((*bottleneck, key) for key in ("rate", "delay", "buffer")),
        *(("port", "bottleneck", "gate", key) for key in ("law", "alpha_min")),
        (*web, "arrivals", "poisson"),
        *((*web, "size", "pareto", key) for key in ("mean", "shape")),
        (*web, "transport", "tcp", "profile"),
    }


@in_browser
def test_all_charts_are_drawn_without_a_word_on_the_console(page, tmp_path):
    told = opened(page, tmp_path)
    assert "failed" not in told
    assert told["faults"] == ""
    assert told["drawn"] == "9 of 9"
    assert told["console"] == []


@in_browser
def test_a_control_is_left_out_of_charts_and_tables_and_comes_back(page, tmp_path):
    script = """
    told.before = controls("Side by side");
    const box = document.querySelector('.bar input[value="none"]');
    const settle = () => new Promise((done) => setTimeout(done, 300));
    box.click(); await settle();
    told.off = controls("Side by side");
    told.times = controls("How long sessions take (FCT)");
    told.column = document.querySelector('th[data-control="none"]').hidden;
    box.click(); await settle();
    told.after = controls("Side by side");
    """
    told = opened(page, tmp_path, script)
    every = ["close-probe", "fixed-rate:10", "none"]
    assert "failed" not in told
    assert told["before"] == told["after"] == every
    assert told["off"] == told["times"] == every[:2]
    assert told["column"] is True


@in_browser
def test_a_menu_changes_what_is_shown_and_pointing_tells_it_with_its_unit(page, compared, tmp_path):
    script = """
    const side = view("Side by side");
    const means = () => items(side).filter((item) => item.datum.value !== undefined);
    const read = () => Object.fromEntries(means().map(({ datum }) => [datum.control, datum.value]));
    told.completed = read();
    const heads = [...document.querySelectorAll("h3")];
    const heading = heads.find((h) => h.textContent === "Side by side");
    const menu = heading.nextElementSibling.nextElementSibling.querySelector("select");
    menu.value = "fct_mean_s";
    for (const kind of ["input", "change"]) menu.dispatchEvent(new Event(kind));
    await side.runAsync();
    told.field = side.signal("field"); told.fct = read();
    told.tip = items(view("Ports over time")).map((item) => item.tooltip).find((tip) => tip);
    """
    told = opened(page, tmp_path, script)
    assert "failed" not in told
    table = json.loads((compared / "summary.json").read_text(encoding="utf-8"))["table"]
    for metric, found in (("completed_per_s", "completed"), ("fct_mean_s", "fct")):
        right = {row["settings"]["gate"]: row[metric]["mean"] for row in table}
        assert told[found] == pytest.approx(right, rel=1e-4)
    assert told["field"] == "fct_mean_s"
    assert "time [s]" in json.dumps(told["tip"])


@in_browser
def test_the_queue_in_motion_shows_what_waits_at_each_instant(page, compared, tmp_path):
    """At every instant a bar is as long as what waits, in parts of the longest queue."""
    script = """
    const player = document.querySelector(".motion"), slider = player.querySelector("input");
    const names = [...player.querySelectorAll(".tank b")].map((each) => each.textContent);
    const to = (place) => { slider.value = place; slider.dispatchEvent(new Event("input")); };
    told.seen = [];
    for (let place = 0; place <= Number(slider.max); place += 1) {
      to(place);
      const time = parseFloat(player.querySelector("output").textContent);
      [...player.querySelectorAll(".tank")].forEach((tank, at) =>
        told.seen.push([names[at], time, parseFloat(tank.querySelector("i").style.width)]));
    }
    to(0);
    player.querySelector("button").click();
    told.playing = player.querySelector("button").textContent;
    await new Promise((done) => setTimeout(done, 1500));
    told.moved = Number(slider.value);
    document.querySelector('.bar input[value="none"]').click();
    told.shown = [...player.querySelectorAll(".tank")].filter((tank) => !tank.hidden).length;
    """
    told = opened(page, tmp_path, script)
    assert "failed" not in told
    waiting = {}
    subject = loaded(compared).subject
    for name, folder in ((point.label, point.folder) for point in subject.points):
        table = laboratory.load(compared / "runs" / folder / "seed-1").ports
        port = table.filter(pl.col("port").cast(pl.String) == "bottleneck")
        for time, count in port.select("time_s", "queue_packets").iter_rows():
            waiting[name, round(time, 2)] = count
    longest = max(waiting.values())
    right = {at: 100 * count / longest for at, count in waiting.items()}
    seen = {(name, time): width for name, time, width in told["seen"]}
    assert seen == pytest.approx(right, abs=0.01)
    assert told["playing"] == "Pause"
    assert told["moved"] > 0
    assert told["shown"] == 2


def test_only_ports_with_a_queue_are_in_motion():
    at = [0, 1, 2, 0, 1, 2]
    ports = {"port": {"words": ["a", "b", "c"], "at": at}, "queue_packets": [1, 7, 0, 2, 0, None]}
    shown = motion.of("part1", ["none"], {"part1-ports": ports}, None, "")
    assert re.findall(r"<option( selected)?>(\w)</option>", shown) == [
        (" selected", "b"),
        ("", "a"),
    ]
    asked = motion.of("part1", ["none"], {"part1-ports": ports}, "a", "")
    assert re.findall(r"<option selected>(\w)", asked) == ["a"]
    empty = {**ports, "queue_packets": [0.0] * 6}
    assert motion.of("part1", ["none"], {"part1-ports": empty}, None, "") == ""
    assert motion.of("part1", ["none"], {}, None, "") == ""


@in_browser
def test_a_table_sorts_by_its_columns_as_numbers(page, tmp_path):
    script = """
    const table = [...document.querySelectorAll("table.sorts")].pop();
    const heads = [...table.tHead.rows[0].cells];
    const place = heads.findIndex((head) => head.textContent.startsWith("FCT mean"));
    const value = (row) => Number(row.cells[place].dataset.value);
    const read = () => [...table.tBodies[0].rows].map(value);
    const button = table.tHead.rows[0].cells[place].querySelector("button");
    button.click(); told.up = read();
    button.click(); told.down = read();
    """
    told = opened(page, tmp_path, script)
    assert "failed" not in told
    assert len(told["up"]) == 6
    assert told["up"] == sorted(told["up"]) == told["down"][::-1]


@in_browser
def test_a_sorted_measure_stays_under_its_heading(page, tmp_path):
    """Several blocks have a line "mean [s]": without its heading nobody knows of what."""
    script = """
    const table = document.querySelector("table.sorts tr.group").closest("table");
    const read = () => {
      let title = "", found = [];
      for (const row of table.tBodies[0].rows) {
        if (row.classList.contains("group")) title = row.hidden ? "" : row.textContent;
        else found.push(`${title}: ${row.textContent}`);
      }
      return found.sort();
    };
    told.before = read();
    table.tHead.rows[0].cells[1].querySelector("button").click(); told.up = read();
    table.tHead.rows[0].cells[1].querySelector("button").click(); told.down = read();
    told.heads = [...table.tHead.querySelectorAll("button")].map((one) => one.textContent);
    """
    told = opened(page, tmp_path, script)
    assert "failed" not in told
    assert any(line.startswith("FCT of those served, from first SYN: mean") for line in told["up"])
    assert told["before"] == told["up"] == told["down"]
    assert all(told["heads"])


@in_browser
def test_a_sweep_has_lines_and_a_heat_map_over_any_two_axes(overload, tmp_path):
    axes = {
        "port.bottleneck.gate.beta": [0.3, 0.6],
        "traffic.web.arrivals.poisson": ["20/s", "40/s", "60/s"],
    }
    folder = tmp_path / "s"
    swept = laboratory.sweep(overload, axes, seeds=2, settings={"duration": "8s"}, out=folder)
    from tidegate.cli import app

    app(["report", str(folder)], standalone_mode=False)
    script = """
    const heat = view("Over two axes");
    const read = () => items(heat).map(({ datum }) => [datum.xname, datum.yname, datum.value]);
    told.heat = read();
    heat.signal("across", "axis1").signal("up", "axis0"); await heat.runAsync();
    told.turned = read();
    told.lines = [...new Set(items(view("Over an axis")).map((item) => item.datum.line))].sort();
    """
    told = opened(folder / "report.html", tmp_path, script)
    assert "failed" not in told
    assert told["faults"] == ""
    assert told["drawn"] == "2 of 2"
    right = {
        tuple(row["settings"].values()): row["completed_per_s"]["mean"] for row in swept.averages
    }
    assert {(x, y): mean for x, y, mean in told["heat"]} == pytest.approx(right, rel=1e-4)
    assert {(y, x): mean for x, y, mean in told["turned"]} == pytest.approx(right, rel=1e-4)
    assert told["lines"] == ["20/s", "40/s", "60/s"]


CLAIM = {
    "kind": "exact-number",
    "where": "Table 1",
    "metric": "goodput",
    "unit": "Mbit/s",
    "reason": "as printed",
}


@pytest.fixture
def paper(tmp_path) -> Path:
    folder = tmp_path / "paper"
    folder.mkdir()
    claims = [
        CLAIM | {"id": "p.1", "paper": 2.0, "measured": 2.1, "verdict": "met"},
        CLAIM | {"id": "p.2", "paper": 2.0, "measured": 5.0, "verdict": "not met"},
        CLAIM | {"id": "p.3", "paper": "a < b", "measured": None, "verdict": "unresolved"},
    ]
    found = {
        "paper": "p",
        "settings": {"seeds": 5},
        "claims": claims,
        "counts": {"met": 1, "unresolved": 1, "not met": 1},
    }
    (folder / "claims.json").write_text(json.dumps(found), encoding="utf-8")
    manifest = {"tidegate": "0", "command": "paper", "paper": "p"}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


@in_browser
def test_claims_filter_by_verdict_and_by_words(paper, tmp_path):
    from tidegate.cli import app

    app(["report", str(paper)], standalone_mode=False)
    script = """
    const rows = [...document.querySelectorAll("table tbody tr")];
    const shown = () => rows.filter((row) => !row.hidden).map((row) => row.cells[0].textContent);
    told.all = shown();
    document.querySelector('button[data-verdict="not met"]').click(); told.not_met = shown();
    document.querySelector('button[data-verdict=""]').click();
    const words = document.querySelector(".filters input");
    words.value = "A < B"; words.dispatchEvent(new Event("input")); told.words = shown();
    told.ratios = items(view("Measured compared with the paper")).map((item) => item.datum.ratio);
    """
    told = opened(paper / "report.html", tmp_path, script)
    assert "failed" not in told
    assert told["all"] == ["p.1", "p.2", "p.3"]
    assert told["not_met"] == ["p.2"]
    assert told["words"] == ["p.3"]
    assert sorted(told["ratios"]) == [1.05, 2.5]


def test_several_folders_make_one_page_and_a_run_is_one_too(tidegate, overload, paper, tmp_path):
    laboratory.run(overload, settings={"duration": "8s"}).save(tmp_path / "r")
    done = tidegate("report", tmp_path / "r", paper, "--out", "both.html")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "small overload: one run" in text
    assert "p: claims" in text
    assert "tidegate run scenario.toml --seed 1" in text


def test_what_holds_no_results_is_said(tidegate, tmp_path):
    (tmp_path / "empty").mkdir()
    done = tidegate("report", "empty")
    assert done.returncode == 2
    assert "There are no results of tidegate in empty" in done.stderr
