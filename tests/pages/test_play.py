"""The page that runs scenarios: what a user may do with it."""

import json
import re
import shutil
import time

import pytest

import tidegate
from play_page import LONG, ROOT, SHORT, choose_control, controlled, in_browser, status, write

pytestmark = pytest.mark.site


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
    choose_control(page, "second", "queue:codel")
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


@in_browser
def test_a_variant_may_change_the_duration_the_warm_up_and_the_hosts(page):
    """Each control is measured over its own time, at its own port, and drawn with the same axis."""
    more = '[variant.more]\nduration = "5s"\nwarmup = "2s"\ntopology.dumbbell.pairs = 9\n'
    page.value(f"tidegate.lab.open({json.dumps({'text': SHORT + more, 'second': 'variant:more'})})")
    page.value("tidegate.lab.start()")
    shown = page.value("tidegate.lab.summaries")
    for found, control in zip(shown, ("", "variant:more"), strict=True):
        summary = controlled(SHORT + more, control).summary
        [there] = [one for one in summary["ports"] if one["name"] == "bottleneck"]
        [web] = summary["classes"]
        for each, expected in ((found["port"], there), (found["classes"][0], web)):
            for measure, value in each.items():
                same = expected[measure]
                assert value == (pytest.approx(same, rel=1e-9) if type(same) is float else same)
    ends = page.value("tidegate.lab.runs.map((run) => run.seen.at(-1).now_s)")
    assert ends == [3, 5]
    assert page.value("tidegate.lab.pictures.queue.end") == 5
    drawn = page.value("tidegate.lab.pictures.rate.lines.map((line) => line.points.length)")
    assert min(drawn) > 300


@in_browser
def test_a_run_that_is_stopped_and_started_ten_times_takes_no_more_memory(page):
    """Each run gives back what the last one took: memory of the module, which never shrinks."""
    write(page, LONG)
    taken = []
    for _ in range(10):
        page.value("tidegate.lab.runs = []; void tidegate.lab.start()")
        page.wait("tidegate.lab.runs[0]?.now > 200")
        page.value("tidegate.lab.stop.click()")
        page.wait("tidegate.lab.summaries")
        now, memory = page.value("[tidegate.lab.runs[0].now, tidegate.lab.runs[0].memory]")
        taken.append((now, memory))
    # A run tells of its memory when it stops. What its tables then take as texts, the next one
    # tells of: 11 MB after a run that had come to 1242 s.
    times, memory = zip(*taken, strict=True)
    most = max(memory[:6])
    # 20 flows a second, of 650 bytes and a row of the tables each: four runs kept would take 10 MB
    further = max(times[5:]) - max(times[:5])
    more = max(further, 0) * 20 * 2000
    assert max(memory[6:]) <= most + more + 8_000_000, taken


@in_browser
def test_a_stop_before_the_run_has_begun_is_heard(page):
    """The text is checked again first: a press on Stop meanwhile is for the run behind it."""
    write(page, LONG)
    page.value("void tidegate.lab.start(); tidegate.lab.stop.click()")
    page.wait("!tidegate.lab.going")
    assert page.value("tidegate.lab.runs") == []
    page.value("void tidegate.lab.start()")
    page.wait("tidegate.lab.runs[0]?.seen.length > 3")
    page.value("tidegate.lab.stop.click()")
    page.wait("tidegate.lab.summaries")
