"""Links that hold an experiment, and files of one's own, in the page that runs scenarios."""

import http.server
import json
import random
import shlex
import shutil
import threading
import time

import pytest
from tools.website import play

import tidegate
from play_page import SCENARIOS, SHORT, chosen_file, in_browser, opened, status, write

pytestmark = pytest.mark.site


@in_browser
def test_a_seed_of_a_link_is_no_command_of_the_shell(page, address):
    """Whoever copies the command gets the seed as one word, whatever it holds."""
    given = {"text": SHORT, "seed": "1; touch 'here'"}
    opened(page, f"{address}#{play.fragment(given)}")
    command = page.value("tidegate.lab.command.textContent").replace("\\\n", " ")
    assert shlex.split(command) == ["tidegate", "run", "scenario.toml", "--seed", given["seed"]]


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


@in_browser
def test_why_a_file_is_refused_stays_on_the_page(page, tmp_path):
    (tmp_path / "own.parquet").write_bytes(b"PAR1")
    chosen_file(page, tmp_path / "own.parquet")
    time.sleep(1.0)
    assert "own.parquet is a Parquet file" in page.value("tidegate.lab.problems.textContent")


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
def test_a_scenario_of_a_megabyte_is_in_its_link(page, address):
    """Of letters drawn at random, so that compressing them gains little."""
    drawn = random.Random(1)
    letters = [chr(drawn.randrange(0x4E00, 0x9FA5)) for _ in range(400_000)]
    text = SHORT + "".join(
        f"\n# {''.join(letters[at : at + 100])}" for at in range(0, 400_000, 100)
    )
    link = play.fragment({"text": text})
    assert len(link) > 1_000_000
    opened(page, f"{address}#{link}")
    assert page.value("tidegate.lab.editor.text") == text
    page.value("tidegate.lab.start()")
    expected = tidegate.run(SHORT, seed=1).summary["result_hash"]
    assert page.value("tidegate.lab.hashes") == [expected]


@in_browser
def test_a_short_link_that_unpacks_to_more_than_a_page_has_room_for_is_refused(page, address):
    link = play.fragment({"text": SHORT + " " * 200_000_000})
    assert len(link) < 400_000
    opened(page, f"{address}#{link}")
    assert page.value("!document.getElementById('broken').hidden")


@in_browser
def test_a_scenario_too_large_for_a_link_runs_and_says_so(page):
    large = SHORT + "\n#" + " " * 5_000_000
    page.value(f"tidegate.lab.open({{ text: {json.dumps(SHORT)} + '\\n#' + ' '.repeat(5e6) }})")
    page.value("tidegate.lab.start()")
    assert page.value("tidegate.lab.hashes.length") == 1
    assert page.value("location.hash") == ""
    page.value("tidegate.lab.link.click()")
    page.wait("tidegate.lab.status.textContent.startsWith('The scenario is too large for a link')")
    assert page.value("tidegate.lab.editor.text.length") == len(large)


class Heard(http.server.BaseHTTPRequestHandler):
    """Notes whatever reaches it."""

    said: list[str]

    def do_GET(self) -> None:
        self.said.append(self.path)
        self.send_response(204)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


SENDS = """(async () => {
  const to = "http://127.0.0.1:PORT/", said = [];
  const inside = `fetch("${to}worker").catch(() => 0).then(() => postMessage(0))`;
  await fetch(to + "fetch", { method: "POST", body: "a file", mode: "no-cors" }).catch(() => 0);
  navigator.sendBeacon(to + "beacon", "a file");
  const image = new Image();
  await new Promise((done) => { image.onload = image.onerror = done; image.src = to + "image"; });
  const script = document.createElement("script");
  await new Promise((done) => {
    script.onload = script.onerror = done; script.src = to + "script"; document.head.append(script);
  });
  const worker = new Worker(URL.createObjectURL(new Blob([inside])));
  await new Promise((done) => { worker.onmessage = done; });
})()"""


@in_browser
def test_a_page_can_send_nothing_anywhere(page, tmp_path):
    """Whatever a page has been handed stays in it: the browser refuses every way out."""
    said = []
    handler = type("Here", (Heard,), {"said": said})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sends = SENDS.replace("PORT", str(server.server_port))
        page.value(sends)
        time.sleep(0.5)
        assert said == []
        assert len(page.said) >= 3  # each refusal is an error in the console
        page.said.clear()
        (tmp_path / "open.html").write_text("<!doctype html>")
        page.open((tmp_path / "open.html").as_uri())
        page.value(sends)  # where nothing forbids it, this way of asking reaches the server
        page.said.clear()
        server.shutdown()
    assert {"/fetch", "/image", "/worker"} <= set(said)


@in_browser
def test_a_file_that_is_dropped_is_read_and_the_page_stays(page):
    """On the editor and beside it; a browser would leave the page for the file."""
    own = SCENARIOS / "captures" / "narrow-link.pcap"
    text = (SCENARIOS / "captured-traffic.toml").read_text("utf-8")
    write(page, text.replace("captures/", "mine/"))
    assert page.value("tidegate.lab.run.disabled")
    data = {"items": [], "files": [str(own)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        page.call("Input.dispatchDragEvent", type=kind, x=900, y=30, data=data)
    page.wait("!tidegate.lab.run.disabled", 30)
    page.value("tidegate.lab.start()")
    run = tidegate.run(SCENARIOS / "captured-traffic.toml", seed=1)
    assert page.value("tidegate.lab.hashes") == [run.summary["result_hash"]]


CAPTURE = (SCENARIOS / "captures" / "narrow-link.pcap").read_bytes()
DAMAGED = {
    "empty": b"",
    "a head alone": CAPTURE[:24],
    "random behind the head": CAPTURE[:24] + random.Random(2).randbytes(20_000),
    "random": random.Random(3).randbytes(20_000),
    "no columns": b"\n\n\n",
    "no numbers": b"start_s,size_bytes\nsoon,much\n",
    "no number at the end": b"start_s,size_bytes\n1.0,1000\n2.0,nan\n",
    "parquet": b"PAR1" + bytes(100) + b"PAR1",
}


@in_browser
@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_file_is_told_of_and_the_page_goes_on(page, tmp_path, what):
    (tmp_path / "own.csv").write_bytes(DAMAGED[what])
    text = (SCENARIOS / "captured-traffic.toml").read_text("utf-8")
    write(page, text.replace("captures/narrow-link.pcap", "own.csv"))
    chosen_file(page, tmp_path / "own.csv")
    told = "tidegate.lab.problems.textContent"
    before = "The scenario names own.csv. Choose this file below the text."
    page.wait(f"{told} && {told} !== {json.dumps(before)}")
    assert page.value("tidegate.lab.run.disabled")
    assert "own.csv" in page.value(told).replace(before, "")
    write(page, SHORT)
    page.value("tidegate.lab.start()")
    expected = tidegate.run(SHORT, seed=1).summary["result_hash"]
    assert page.value("tidegate.lab.hashes") == [expected], status(page)
