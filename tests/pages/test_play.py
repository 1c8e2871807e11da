"""The page that runs scenarios: the same results as natively, and what a user may do with it.

Each test opens the page as a file, in a browser that reaches no other machine.
"""

import base64
import functools
import http.server
import json
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from tools import axe, wasm
from tools.browser import BROWSER, Browser
from tools.website import play

import tidegate
from tidegate import _native
from tidegate.scenario import document, overrides

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
pytestmark = pytest.mark.site
in_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium to open pages in: as root, apt-get install -y chromium"
)
with_axe = pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: make test-tools")
in_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="no node: as root, apt-get install -y nodejs"
)
SHORT = """
name     = "short"
duration = "3s"

[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "5Mbit", delay = "20ms", buffer = "50packets" }

[traffic.web]
arrivals  = { poisson = "20/s" }
size      = "20kB"
transport = { tcp = { profile = "linux" } }
"""
PATIENCE_S = 900.0
"""How long Firefox may take for all scenarios, on a busy machine too."""
LONG = SHORT.replace('"3s"', '"20000s"')


@pytest.fixture(scope="module")
def module():
    try:
        return wasm.built()
    except wasm.LackingError as lacking:
        pytest.skip(str(lacking))


@pytest.fixture(scope="module")
def ready():
    found = play.ready(ROOT)
    assert len(found) > 25
    return found


@pytest.fixture(scope="module")
def native(ready):
    """The digest of each ready scenario, by the simulator of this machine."""

    def digest(each):
        text = document.Document(f"{each.card.document}\n", "scenario", each.card.path.parent)
        run = _native.Simulation(text.load(), 1)
        while not run.advance(1000.0):
            pass
        return run.results()["result_hash"]

    return {each.card.slug: digest(each) for each in ready}


@pytest.fixture(scope="module")
def address(module, tmp_path_factory) -> str:
    site = tmp_path_factory.mktemp("site")
    play.write(ROOT, module, site)
    return (site / "play" / "index.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    with Browser() as found:
        yield found


@pytest.fixture
def page(browser, address):
    browser.size(1400, 1000)
    opened(browser, f"{address}#{play.fragment({'text': SHORT})}")
    yield browser
    assert browser.said == []  # a fault, or something that could not be loaded


def opened(page, address):
    page.open(address)
    page.wait("document.body.dataset.ready === 'yes'")


def status(page):
    return page.value("document.querySelector('.lab-status').textContent")


def write(page, text):
    """Put a text into the editor, as if it were pasted, and wait until it has been checked."""
    page.value(
        "(async () => { const { editor } = tidegate.lab; editor.field.select();"
        f" editor.insert({json.dumps(text)}); }})()"
    )
    time.sleep(0.4)  # it is checked when nobody types
    page.value("tidegate.lab.engines[0].ask({ do: 'columns' }).then(() => true)")
    time.sleep(0.2)


def test_the_module_has_at_most_a_megabyte(module):
    assert len(wasm.packed(module)) <= 1_000_000


@in_node
@pytest.mark.slow
def test_node_has_the_same_results_to_the_bit(module, ready, native):
    given = [
        {
            "slug": each.card.slug,
            "text": f"{each.card.document}\n",
            "files": {
                name: base64.b64encode(content).decode() for name, content in each.files.items()
            },
        }
        for each in ready
    ]
    script = ROOT / "tools" / "website" / "play" / "module.js"
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("run_in_node.js")), str(script), str(module)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == native


IN_WORKER = """(async () => {
  const engine = new tidegate.Engine(), found = {};
  for (const { slug, text } of tidegate.data.gallery) {
    const document = { text, name: slug, settings: [] };
    const ended = await engine.start(document, "1", null, () => {});
    found[slug] = ended.refused ? ended.refused.error : ended.result.result_hash;
  }
  engine.end();
  return found;
})()"""


@in_browser
@pytest.mark.slow
def test_chromium_has_the_same_results_to_the_bit(page, native):
    assert page.value(IN_WORKER) == native


SETTINGS = """(async () => {
  const engine = new tidegate.Engine(), found = {};
  for (const { slug, text } of tidegate.data.gallery) {
    const check = await engine.ask({ do: "check", document: { text, name: slug } });
    const port = tidegate.defaultPort(check);
    const controls = tidegate.controls(tidegate.data.schema, check, port);
    found[slug] = { port, controls: controls.map(({ id, settings }) => [id, settings]) };
  }
  engine.end();
  return found;
})()"""


@in_browser
def test_controls_change_the_settings_that_they_change_on_the_command_line(page, ready):
    """Variants, queues and gates of all ready scenarios, by the rule of `overrides`."""

    def read(settings):
        return [
            (key, overrides.tomllib.loads(f"value = {value}")["value"]) for key, value in settings
        ]

    compared = 0
    found = page.value(SETTINGS)
    for each in ready:
        text = document.Document(f"{each.card.document}\n", "scenario", each.card.path.parent)
        port = found[each.card.slug]["port"]
        try:
            assert port == overrides.default_port(text.load())
        except tidegate.TidegateError:
            assert port is None
        for name, settings in found[each.card.slug]["controls"]:
            kind, _, law = name.partition(":")
            if kind == "variant":
                [cell] = overrides.chosen_variants(text, [law])
            elif kind in {"queue", "gate"}:
                [cell] = overrides.law_cells(kind, [law], [port], text)
            else:
                continue
            assert read(settings) == read(cell.settings), (each.card.slug, name)
            compared += 1
    assert compared > 300


MEASURED = ("captured-traffic", "cellular", "home-link", "tide", "two-ways", "live-overload")


@in_browser
@pytest.mark.parametrize("slug", MEASURED)
def test_the_measures_are_those_of_the_command_line(page, ready, slug):
    [each] = [each for each in ready if each.card.slug == slug]
    port = {"two-ways": "short", "home-link": "uplink"}.get(slug, "bottleneck")
    page.value(f"tidegate.lab.open({json.dumps({'text': each.card.document, 'port': port})})")
    page.value("tidegate.lab.start()")
    [shown] = page.value("tidegate.lab.summaries")
    summary = tidegate.run(each.card.path, seed=1).summary
    classes = {one["name"]: one for one in summary["classes"]}
    assert [one["name"] for one in shown["classes"]] == list(classes)
    [there] = [one for one in summary["ports"] if one["name"] == port]
    for found, expected in [
        (shown["port"], there),
        *((one, classes[one["name"]]) for one in shown["classes"]),
    ]:
        for measure, value in found.items():
            same = expected[measure]
            if isinstance(same, float):
                same = pytest.approx(same, rel=1e-9)
            assert value == same, measure


@in_browser
def test_a_mistake_is_shown_at_its_line_and_goes_with_it(page):
    write(page, SHORT.replace("5Mbit", "5Mbyte"))
    line = SHORT.split("\n").index(
        'bottleneck = { rate = "5Mbit", delay = "20ms", buffer = "50packets" }'
    )
    assert (
        page.value("document.querySelector('.lab-problem button').textContent")
        == f"Line {line + 1}"
    )
    faulty = "[...document.querySelectorAll('.lab-gutter .faulty')].map((each) => each.textContent)"
    assert page.value(faulty) == [f"▸ {line + 1}"]
    assert page.value("tidegate.lab.run.disabled")
    assert page.value("tidegate.lab.editor.field.getAttribute('aria-invalid')") == "true"
    page.value("document.querySelector('.lab-problem button').click()")
    marked = (
        "(() => { const { field } = tidegate.lab.editor;"
        " return field.value.slice(field.selectionStart, field.selectionEnd); })()"
    )
    assert "5Mbyte" in page.value(marked)
    write(page, SHORT)
    assert page.value("document.querySelectorAll('.lab-problem, .lab-gutter .faulty').length") == 0
    assert not page.value("tidegate.lab.run.disabled")


@in_browser
def test_a_run_moves_and_can_be_stopped(page):
    write(page, LONG)
    page.value("void tidegate.lab.start()")
    page.wait("tidegate.lab.runs[0]?.seen.length > 3")
    early = page.value("tidegate.lab.runs[0].seen.at(-1)")
    assert early["ports"][0]["departed_bytes"] > 0
    page.wait(f"tidegate.lab.runs[0].now > {early['now_s']} + 10")
    page.value("tidegate.lab.stop.click()")
    page.wait("tidegate.lab.summaries")
    assert re.match(r"Stopped at [0-9.]+ s", status(page))
    now = page.value("tidegate.lab.runs[0].now")
    assert 0 < now < 20000
    # its tables go as far as it came: the mean rate of arrivals is 20 a second
    rows = page.value("tidegate.lab.engines[0].ask({ do: 'table', name: 'flows' })")
    assert max(rows["start_s"]) <= now
    assert len(rows["start_s"]) == pytest.approx(20 * now, rel=0.5)


@in_browser
@pytest.mark.parametrize("duration", ["0.1s", "0.3s", "2.4s"])
def test_a_run_ends_whose_marks_are_no_whole_picoseconds(page, duration):
    """Binary fractions of these durations lie above the picosecond that the clock stands at."""
    write(page, SHORT.replace('"3s"', f'"{duration}"'))
    page.value("void tidegate.lab.start()")
    page.wait("tidegate.lab.summaries", 30)
    assert page.value("tidegate.lab.runs[0].now") == float(duration[:-1])


@in_browser
def test_a_seed_of_a_link_is_no_command_of_the_shell(page, address):
    """Whoever copies the command gets the seed as one word, whatever it holds."""
    given = {"text": SHORT, "seed": "1; touch 'here'"}
    opened(page, f"{address}#{play.fragment(given)}")
    command = page.value("tidegate.lab.command.textContent").replace("\\\n", " ")
    assert shlex.split(command) == ["tidegate", "run", "scenario.toml", "--seed", given["seed"]]


@in_browser
def test_a_run_in_real_time_takes_as_long_as_it_lasts(page):
    page.value("tidegate.lab.pace.value = '1'")
    begun = time.monotonic()
    page.value("tidegate.lab.start()")
    assert time.monotonic() - begun > 2.9
    assert page.value("tidegate.lab.runs[0].now") == 3


@in_browser
def test_a_scenario_that_is_too_large_is_refused_with_the_command(page):
    write(page, SHORT.replace('"20/s"', '"900000/s"'))
    said = status(page)
    assert said.startswith("Too large for a page")
    assert "tidegate run scenario.toml" in said
    assert page.value("tidegate.lab.run.disabled")


@in_browser
def test_two_controls_meet_the_same_flows(page):
    page.value("tidegate.lab.second.value = 'queue:codel'")
    page.value("tidegate.lab.start()")
    first, second = page.value("tidegate.lab.hashes")
    settings = {"port.bottleneck.queue": {"law": "codel"}}
    assert first == tidegate.run(SHORT, seed=1).summary["result_hash"]
    assert second == tidegate.run(SHORT, settings=settings, seed=1).summary["result_hash"]
    starts = [
        page.value(f"tidegate.lab.engines[{each}].ask({{ do: 'table', name: 'flows' }})")["start_s"]
        for each in (0, 1)
    ]
    assert starts[0] == starts[1]


@in_browser
def test_a_slider_is_a_setting_and_the_command_has_it(page):
    page.value(
        "(() => { const [slide] = document.querySelectorAll('.lab-sliders input');"
        " slide.value = tidegate.STEPS; slide.dispatchEvent(new Event('input')); })()"
    )
    time.sleep(0.5)
    page.value("tidegate.lab.start()")
    # a whole scale up: ten times the rate that the text has
    run = tidegate.run(SHORT, settings={"topology.dumbbell.bottleneck.rate": "50Mbit"}, seed=1)
    assert page.value("tidegate.lab.hashes") == [run.summary["result_hash"]]
    command = page.value("tidegate.lab.command.textContent")
    assert "--set 'topology.dumbbell.bottleneck.rate=\"50Mbit\"'" in command


@in_browser
def test_the_link_holds_the_whole_experiment(page, address):
    given = {
        "text": SHORT.replace("short", "größer"),
        "steps": {"topology.dumbbell.bottleneck.rate": 40},
        "first": "queue:pie",
        "second": "tcp:bbr",
        "seed": "7",
        "pace": "10",
    }
    opened(page, f"{address}#{play.fragment(given)}")
    assert page.value("tidegate.lab.experiment()") == given
    # as the page itself writes it, and reads it again
    again = page.value("tidegate.toFragment(tidegate.lab.experiment())")
    opened(page, f"{address}#{again}")
    assert page.value("tidegate.lab.experiment()") == given
    assert page.value("location.hash.slice(1)") == again


@in_browser
def test_a_file_of_ones_own_is_read_in_the_page(page, tmp_path):
    """A capture under another name than any that the page has, as `flows` of a scenario."""
    own = tmp_path / "own.pcap"
    shutil.copyfile(SCENARIOS / "captures" / "narrow-link.pcap", own)
    text = (SCENARIOS / "captured-traffic.toml").read_text("utf-8")
    text = text.replace("captures/narrow-link.pcap", "own.pcap")
    write(page, text)
    assert "own.pcap" in page.value("document.querySelector('.lab-problem').textContent")
    chosen_file(page, own)
    page.wait("!tidegate.lab.run.disabled")
    page.value("tidegate.lab.start()")
    run = tidegate.run(SCENARIOS / "captured-traffic.toml", seed=1)
    assert page.value("tidegate.lab.hashes") == [run.summary["result_hash"]]


def chosen_file(page, path):
    found = page.call("Runtime.evaluate", expression="tidegate.lab.files")["result"]
    page.call("DOM.setFileInputFiles", files=[str(path)], objectId=found["objectId"])


@in_browser
def test_why_a_file_is_refused_stays_on_the_page(page, tmp_path):
    (tmp_path / "own.parquet").write_bytes(b"PAR1")
    chosen_file(page, tmp_path / "own.parquet")
    time.sleep(1.0)
    assert "own.parquet is a Parquet file" in page.value("tidegate.lab.problems.textContent")


@in_browser
def test_another_scenario_stops_the_run_and_has_its_own_results(page):
    """The run button waits for the end of a run, whatever is edited meanwhile."""
    write(page, LONG)
    page.value("void tidegate.lab.start()")
    page.wait("tidegate.lab.runs[0]?.seen.length > 3")
    write(page, LONG.replace("5Mbit", "6Mbit"))
    assert page.value("tidegate.lab.run.disabled")
    page.value(f"tidegate.lab.open({json.dumps({'text': SHORT})})")
    page.wait("!tidegate.lab.run.disabled", 30)
    assert page.value("[tidegate.lab.runs.length, tidegate.lab.hashes]") == [0, None]
    page.value("tidegate.lab.start()")
    expected = tidegate.run(SHORT, seed=1).summary["result_hash"]
    assert page.value("tidegate.lab.hashes") == [expected]


@in_browser
def test_after_a_break_there_is_another_engine_with_the_same_files(page):
    """A message that no handler knows breaks as a panic does: in a run, and in a question."""
    write(page, LONG)
    page.value("tidegate.lab.engines[0].file('own.csv', new TextEncoder().encode('start_s'))")
    page.value("void tidegate.lab.start()")
    page.wait("tidegate.lab.runs[0]?.seen.length > 3")
    page.value("tidegate.lab.engines[0].worker.postMessage({ do: 'nothing' })")
    page.wait("!tidegate.lab.going", 30)
    assert "not a function" in status(page)
    for _ in range(2):
        page.value(
            "(async () => { const [engine] = tidegate.lab.engines; await engine.loaded;"
            " return new Promise((told) => { engine.waiting.set(-1, told);"
            " engine.worker.postMessage({ do: 'no', id: -1 }); }); })()"
        )
    text = SHORT.replace('poisson = "20/s"', 'file = "own.csv"')
    request = json.dumps({"do": "check", "document": {"text": text}})
    assert "missing" not in page.value(f"tidegate.lab.engines[0].ask({request})")
    write(page, SHORT)
    page.value("tidegate.lab.start()")
    assert page.value("tidegate.lab.hashes.length") == 1


@in_browser
def test_a_browser_that_is_too_old_is_told_so(page):
    page.value("window.DecompressionStream = undefined")
    asked = "new tidegate.Engine().ask({ do: 'schema' })"
    assert page.value(asked)["error"].startswith("This browser is too old")


@in_browser
@pytest.mark.parametrize("more", [None, {"steps": None}, {"steps": {"a": "b"}}, {"seed": 1}])
def test_a_link_that_was_cut_or_has_other_types_says_so(page, address, more):
    whole = play.fragment({"text": SHORT} | (more or {}))
    opened(page, f"{address}#{whole if more else whole[: len(whole) // 2]}")
    assert page.value("!document.getElementById('broken').hidden")


@in_browser
def test_a_control_of_a_link_that_is_not_there_is_named(page, address):
    opened(page, f"{address}#{play.fragment({'text': SHORT, 'first': 'queue:nonsense'})}")
    assert "queue:nonsense" in page.value("tidegate.lab.problems.textContent")


@in_browser
def test_a_scenario_that_cannot_run_in_place_leads_to_the_page(browser, tmp_path):
    shutil.copyfile(ROOT / "tools" / "website" / "static" / "run-here.js", tmp_path / "run-here.js")
    (tmp_path / "index.html").write_text(
        '<script src="run-here.js"></script><p class="run-here"><a href="play/#1x">Run</a></p>'
    )
    browser.open((tmp_path / "index.html").as_uri())
    browser.value("document.querySelector('a').click()")
    browser.wait("document.querySelector('section a') !== null", 30)
    assert "could not load" in browser.value("document.body.textContent")
    assert browser.value("document.querySelector('section a').href").endswith("play/#1x")
    browser.said.clear()  # what could not be loaded


def suggested(page, before):
    script = f"tidegate.suggestions(tidegate.data.schema, {json.dumps(before)}).list"
    return {each["name"] for each in page.value(script)}


@in_browser
def test_what_may_stand_somewhere_comes_from_the_schema(page):
    assert suggested(page, "dur") == {"duration"}
    assert {"bottleneck", "pairs", "access"} <= suggested(page, "[topology.dumbbell]\n")
    assert suggested(page, "[topology.dumbbell]\nbottleneck = { ra") == {"rate"}
    laws = suggested(page, '[port.bottleneck]\nqueue = { law = "')
    assert {"codel", "fq-codel", "pie", "cake"} <= laws
    assert "bbr" in suggested(page, '[traffic.web]\ntransport = { tcp = { control = "b')
    assert "gate" in suggested(page, "[variant.mine.port.bottleneck]\nga")
    assert suggested(page, "# a comment on du") == set()
    assert {"poisson", "uniform"} <= suggested(page, "[traffic.x]\nname = 1\narrivals.")


@in_browser
def test_the_keyboard_alone_is_enough(page):
    """To the field and out of it, through what may stand there, to the button, and a run."""
    page.value("document.getElementById('gallery').focus()")
    page.key("Tab")
    assert page.value("document.activeElement === tidegate.lab.editor.field")
    page.value("tidegate.lab.editor.field.setSelectionRange(1e6, 1e6)")
    page.type("[port.bottleneck]")
    page.key("Enter", text="\r")
    page.type('queue = { law = "cod')
    page.key("Escape")
    page.key(" ", "Space", held=2)
    assert page.value("!tidegate.lab.editor.list.hidden")
    chosen = (
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))"
        ".textContent"
    )
    assert page.value(chosen).startswith("codel")
    page.key("Enter", text="\r")
    page.type('" }')
    assert page.value("tidegate.lab.editor.text").endswith('queue = { law = "codel" }')
    page.key("Escape")
    time.sleep(0.5)
    for _ in range(30):
        page.key("Tab")
        if page.value("document.activeElement === tidegate.lab.run"):
            break
    assert page.value("document.activeElement === tidegate.lab.run")
    page.key("Enter", text="\r")
    page.wait("tidegate.lab.hashes")
    settings = {"port.bottleneck.queue": {"law": "codel"}}
    expected = tidegate.run(SHORT, settings=settings, seed=1).summary["result_hash"]
    assert page.value("tidegate.lab.hashes") == [expected]


@in_browser
@with_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("wide", [375, 768, 1400])
def test_no_finding_of_axe_and_nothing_is_wider_than_the_page(page, wide, dark):
    """Before a run, with a mistake, and with pictures and tables."""
    page.size(wide, 900, dark=dark)
    assert axe.findings(page) == []
    write(page, SHORT.replace("5Mbit", "5Mbyte"))
    assert axe.findings(page) == []
    write(page, SHORT)
    page.value("tidegate.lab.second.value = 'queue:codel'")
    page.value("tidegate.lab.start()")
    page.value("tidegate.lab.editor.field.focus()")
    page.key(" ", "Space", held=2)
    assert axe.findings(page) == []
    assert page.value("document.documentElement.scrollWidth") <= wide


FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)


class Told(http.server.SimpleHTTPRequestHandler):
    """Serves a site, and keeps what a page of it posts."""

    heard: queue.Queue[bytes]

    def do_POST(self) -> None:
        self.heard.put(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.skipif(FIREFOX is None, reason="no Firefox: as root, apt-get install -y firefox-esr")
@pytest.mark.slow
def test_firefox_has_the_same_results_to_the_bit(module, native, tmp_path):
    """A page runs all ready scenarios, and posts their digests or its fault."""
    play.write(ROOT, module, tmp_path)
    posts = "fetch('/found', { method: 'POST', body: JSON.stringify(found) })"
    (tmp_path / "found.html").write_text(
        "<!doctype html><meta charset='utf-8'><script src='_static/play/data.js'></script>"
        f"<script src='_static/play/engine.js'></script><script>{IN_WORKER}"
        f".catch((fault) => String(fault)).then((found) => {posts});</script>",
        encoding="utf-8",
    )
    (tmp_path / "profile").mkdir()
    handler = functools.partial(
        type("Here", (Told,), {"heard": (heard := queue.Queue())}), directory=str(tmp_path)
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}/found.html"
        command = [FIREFOX, "--headless", "--no-remote", "--profile", str(tmp_path / "profile")]
        with subprocess.Popen(
            [*command, place],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                found = json.loads(heard.get(timeout=PATIENCE_S))
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                server.shutdown()
    assert found == native
