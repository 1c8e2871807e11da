"""The page that runs scenarios has the same results as this machine, to the bit."""

import base64
import functools
import http.server
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from tools import wasm
from tools.website import play

import tidegate
from play_page import ROOT, SHORT, controlled, in_browser
from tidegate import _native
from tidegate.scenario import document, overrides

pytestmark = pytest.mark.site
in_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="no node: as root, apt-get install -y nodejs"
)
PATIENCE_S = 900.0
"""How long Firefox may take for all scenarios, on a busy machine too."""


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


IN_WORKER = """(async place => {
  const { slug, text } = tidegate.data.gallery[place];
  const engine = new tidegate.Engine();
  const document = { text, name: slug, settings: [] };
  const ended = await engine.start(document, "1", null, () => {});
  engine.end();
  return [slug, ended.refused ? ended.refused.error : ended.result.result_hash];
})"""
ALL_IN_WORKER = f"""(async () => {{
  const found = {{}};
  for (let place = 0; place < tidegate.data.gallery.length; place += 1) {{
    const [slug, hash] = await {IN_WORKER}(place);
    found[slug] = hash;
  }}
  return found;
}})()"""


@in_browser
@pytest.mark.slow
def test_chromium_has_the_same_results_to_the_bit(page, native):
    """The browser is asked once a scenario: on a busy machine all of them take minutes."""
    places = range(page.value("tidegate.data.gallery.length"))
    assert dict(page.value(f"{IN_WORKER}({place})") for place in places) == native


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


in_firefox = pytest.mark.skipif(
    FIREFOX is None, reason="no Firefox: as root, apt-get install -y firefox-esr"
)


def found_by_firefox(site: Path, scripts: tuple[str, ...], script: str) -> object:
    """What a page of a site finds: the value of a promise, which it posts, or its fault."""
    posts = "fetch('/found', { method: 'POST', body: JSON.stringify(found) })"
    loads = "".join(f"<script src='_static/play/{name}.js'></script>" for name in scripts)
    (site / "found.html").write_text(
        f"<!doctype html><meta charset='utf-8'><body>{loads}<script>{script}"
        f".catch((fault) => String(fault)).then((found) => {posts});</script>",
        encoding="utf-8",
    )
    profile = site / "profile"
    profile.mkdir()
    handler = functools.partial(
        type("Here", (Told,), {"heard": (heard := queue.Queue())}), directory=str(site)
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}/found.html"
        command = [FIREFOX, "--headless", "--no-remote", "--profile", str(profile), place]
        with subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                return json.loads(heard.get(timeout=PATIENCE_S))
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                server.shutdown()


@in_firefox
@pytest.mark.slow
def test_firefox_has_the_same_results_to_the_bit(module, native, tmp_path):
    """A page runs all ready scenarios, and posts their digests or its fault."""
    play.write(ROOT, module, tmp_path)
    assert found_by_firefox(tmp_path, ("data", "engine"), ALL_IN_WORKER) == native


IN_FRAME = """(async () => {
  const frame = document.createElement("iframe");
  frame.src = "play/index.html#LINK";
  frame.style = "width: 1200px; height: 900px";
  document.body.append(frame);
  const until = async (what) => {
    for (let tries = 0; tries < 3000; tries += 1) {
      if (what()) return;
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error(`not so: ${what}`);
  };
  await until(() => frame.contentDocument?.body?.dataset.ready === "yes");
  const { lab } = frame.contentWindow.tidegate;
  const experiment = lab.experiment();
  await lab.start();
  const { place } = lab.report;
  place.querySelector("summary").click();
  await until(() => place.dataset.drawn || place.textContent.includes("cannot be drawn"));
  const posts = frame.contentWindow.fetch("/found", { method: "POST" });
  const sends = await posts.catch(() => "refused");
  return { experiment, hashes: lab.hashes, drawn: place.dataset.drawn, sends };
})()"""


@in_firefox
@pytest.mark.slow
def test_the_page_works_in_firefox(module, tmp_path):
    """A link is opened, two controls run beside each other, and the report is drawn."""
    play.write(ROOT, module, tmp_path)
    given = {"text": SHORT, "second": "queue:codel"}
    found = found_by_firefox(tmp_path, (), IN_FRAME.replace("LINK", play.fragment(given)))
    digests = [controlled(SHORT, name).summary["result_hash"] for name in ("", "queue:codel")]
    assert found == {"experiment": given, "hashes": digests, "drawn": "4", "sends": "refused"}
