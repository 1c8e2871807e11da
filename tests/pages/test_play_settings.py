"""The page that runs scenarios: results are of the settings that they stand under, or say so."""

import json

import pytest
from tools.website import play

from play_page import LONG, SHORT, change, choose_control, in_browser, opened, status, write

pytestmark = pytest.mark.site
WARM = LONG.replace('"20000s"', '"20000s"\nwarmup = "10000s"')
RATE = "topology.dumbbell.bottleneck.rate"
NOTE = "tidegate.lab.earlier.textContent"
PROBLEMS = "tidegate.lab.problems.textContent"
SLIDER = "document.querySelector('.lab-sliders input')"
GALLERY = "document.getElementById('gallery')"
VARIANT = f'\n[variant.slow]\n"{RATE}" = "2Mbit"\n'


def stopped(page, after_s):
    page.value("void tidegate.lab.start()")
    runs = "tidegate.lab.runs"
    page.wait(f"{runs}.length && {runs}.every((run) => run.now > {after_s})", 60)
    page.value("tidegate.lab.stop.click()")
    page.wait("tidegate.lab.summaries", 60)


def words(page):
    return page.value("tidegate.lab.table.textContent")


@in_browser
def test_a_run_that_is_stopped_in_its_warm_up_has_no_measures(page):
    """There is no time over which to divide: no figure stands there, and the page says why."""
    write(page, WARM)
    stopped(page, 1)
    said = status(page)
    assert said.endswith("There is nothing to measure: the warm-up lasts until 10000 s.")
    assert "bit/s" not in words(page)
    assert "link used" not in words(page)
    [found] = page.value("tidegate.lab.summaries")
    assert found == {"classes": [{"name": "web"}], "port": {"name": "bottleneck"}}
    # and the tables that are saved count nothing after the warm-up, by the meaning of the column
    flows = page.value("tidegate.lab.engines[0].ask({ do: 'table', name: 'flows' })")
    counted = page.value("tidegate.lab.engines[0].ask({ do: 'table', name: 'flow_window' })")
    assert sum(flows["delivered_bytes"]) > 0
    assert sum(counted["window_bytes"]) == 0


@in_browser
def test_of_two_runs_only_the_one_that_came_to_its_window_is_measured(page):
    write(page, WARM + '\n[variant.cold]\nwarmup = "0s"\n')
    choose_control(page, "second", "variant:cold")
    stopped(page, 1)
    assert "nothing to measure of as written: the warm-up lasts until 10000 s." in status(page)
    assert "The measures of variant cold are from 0 s to" in status(page)
    rows = "[...document.querySelectorAll('.lab-results tbody tr')]"
    cells = "(row) => [...row.children].slice(1).map((cell) => cell.textContent)"
    shown = {name: values for name, *values in page.value(f"{rows}.map({cells})")}
    without, measured = shown["data delivered"]
    assert without == ""
    assert measured.endswith("bit/s")


@in_browser
def test_a_run_that_is_stopped_after_its_warm_up_says_what_is_measured(page):
    """What was delivered after the warm-up, over the time from there to the stop."""
    write(page, LONG.replace('"20000s"', '"20000s"\nwarmup = "2s"'))
    stopped(page, 5)
    now = page.value("tidegate.lab.runs[0].now")
    assert "The measures are from 2 s to " in status(page)
    counted = page.value("tidegate.lab.engines[0].ask({ do: 'table', name: 'flow_window' })")
    [measures] = page.value("tidegate.lab.summaries[0].classes")
    expected = sum(counted["window_bytes"]) * 8 / (now - 2)
    assert measures["throughput_bps"] == pytest.approx(expected)


@in_browser
def test_a_run_with_a_pace_names_no_other_speed(page):
    change(page, "tidegate.lab.pace", "10")
    page.value("tidegate.lab.start()")
    assert status(page) == "Done at 3 s."


CHANGES = {
    "seed": lambda page: change(page, "tidegate.lab.seed", "2"),
    "slider": lambda page: change(page, SLIDER, "-20", "input"),
    "control": lambda page: change(page, "tidegate.lab.first", "queue:codel"),
    "another beside": lambda page: change(page, "tidegate.lab.second", "queue:codel"),
    "text": lambda page: write(page, SHORT.replace("20kB", "10kB")),
    "a text that cannot run": lambda page: write(page, SHORT.replace("20kB", "20kilo")),
    "a file": lambda page: page.value(
        "(() => { const { files } = tidegate.lab, given = new DataTransfer();"
        " given.items.add(new File(['start_s'], 'own.csv')); files.files = given.files;"
        " files.dispatchEvent(new Event('change')); })()"
    ),
}


@in_browser
@pytest.mark.parametrize("what", CHANGES)
def test_results_of_earlier_settings_are_marked_until_the_next_run(page, what):
    """To the eye, and to a screen reader: what stands beside results are not their settings."""
    group = "tidegate.lab.results.getAttribute('aria-label')"
    picture = "tidegate.lab.pictures.queue.canvas.getAttribute('aria-label')"
    page.value("tidegate.lab.start()")
    assert page.value(NOTE) == ""
    assert page.value(group) == "Results"
    CHANGES[what](page)
    page.wait(f"{NOTE} !== ''", 30)
    assert page.value("tidegate.lab.earlier.getAttribute('role')") == "status"
    assert page.value("tidegate.lab.results.classList.contains('lab-old')")
    assert page.value(group) == "Results of earlier settings"
    assert "of earlier settings" in page.value(picture)
    assert page.value("tidegate.lab.progress.value") == 0
    if what == "a text that cannot run":
        return
    page.wait("!tidegate.lab.run.disabled", 30)
    page.value("tidegate.lab.start()")
    assert page.value(NOTE) == ""
    assert page.value(group) == "Results"
    assert "of earlier settings" not in page.value(picture)


@in_browser
def test_results_are_not_marked_where_the_settings_are_theirs_again(page):
    page.value("tidegate.lab.start()")
    change(page, "tidegate.lab.pace", "10")  # which changes no result
    assert page.value(NOTE) == ""
    change(page, "tidegate.lab.seed", "2")
    page.wait(f"{NOTE} !== ''", 30)
    change(page, "tidegate.lab.seed", "1")
    page.wait(f"{NOTE} === ''", 30)
    assert page.value("tidegate.lab.progress.value") == 1


@in_browser
def test_what_is_changed_during_a_run_marks_it_too(page):
    write(page, LONG)
    page.value("void tidegate.lab.start()")
    page.wait("tidegate.lab.runs[0]?.seen.length > 3")
    change(page, "tidegate.lab.seed", "2")
    page.wait(f"{NOTE} !== ''", 30)
    assert page.value("tidegate.lab.progress.value") > 0
    page.value("tidegate.lab.stop.click()")
    page.wait("tidegate.lab.summaries")
    assert page.value(NOTE) != ""


@in_browser
def test_the_table_names_its_seed_and_what_sliders_changed(page, address):
    given = {"text": SHORT + VARIANT, "second": "variant:slow", "seed": "7", "steps": {RATE: 40}}
    opened(page, f"{address}#{play.fragment(given)}")
    page.value("tidegate.lab.start()")
    caption = page.value("document.querySelector('.lab-results caption').textContent")
    assert caption == "Seed 7. Rate of the bottleneck: 50Mbit, not for variant slow."
    labels = page.value("tidegate.lab.runs.map((run) => run.label)")
    assert labels == ["as written, sliders moved", "variant slow"]


@in_browser
def test_a_slider_whose_key_a_control_sets_is_said_to_have_no_effect(page, address):
    given = {"text": SHORT + VARIANT, "first": "variant:slow", "steps": {RATE: 20}}
    opened(page, f"{address}#{play.fragment(given)}")
    assert f"The variant slow sets {RATE} itself" in page.value(PROBLEMS)
    change(page, SLIDER, "0", "input")
    page.wait(f"!{PROBLEMS}.includes('itself')", 30)


@in_browser
def test_what_a_link_asks_for_and_the_page_does_not_have_is_named(page, address):
    given = {"text": SHORT, "steps": {"nosuch.key": 4}, "pace": "5", "third": "x"}
    opened(page, f"{address}#{play.fragment(given)}")
    said = page.value(PROBLEMS)
    assert "A change of nosuch.key" in said
    assert "the pace 5, which this page does not offer" in said
    assert "The link holds third, which this page does not know." in said
    assert page.value("[tidegate.lab.pace.selectedIndex, tidegate.lab.pace.value]") == [0, ""]
    page.value("document.querySelector('.lab-warning button').click()")
    page.wait(f"!{PROBLEMS}.includes('nosuch')", 30)
    assert page.value("'steps' in tidegate.lab.experiment()") is False


@in_browser
@pytest.mark.parametrize(
    ("asked", "step", "value"), [(80, 40, "50Mbit"), (-1e308, -40, "0.5Mbit"), (0.4, 0, "5Mbit")]
)
def test_a_step_of_a_link_is_brought_to_where_the_slider_can_stand(
    page, address, asked, step, value
):
    """The slider and the command agree; it goes from a tenth to ten times, in whole steps."""
    opened(page, f"{address}#{play.fragment({'text': SHORT, 'steps': {RATE: asked}})}")
    assert f"it is at {step}, {value}." in page.value(PROBLEMS)
    assert page.value(f"{SLIDER}.value") == str(step)
    assert page.value("document.querySelector('.lab-sliders output').textContent") == value
    command = page.value("tidegate.lab.command.textContent")
    assert (f'{RATE}="{value}"' in command) == (step != 0)


@in_browser
def test_another_experiment_of_the_same_text_has_its_own_sliders(page):
    page.value(f"tidegate.lab.open({json.dumps({'text': SHORT, 'steps': {RATE: 20}})})")
    assert page.value(f"{SLIDER}.value") == "20"
    page.value(f"tidegate.lab.open({json.dumps({'text': SHORT})})")
    assert page.value(f"{SLIDER}.value") == "0"


@in_browser
def test_a_slider_and_a_control_that_the_text_loses_are_named(page):
    write(page, SHORT + VARIANT)
    choose_control(page, "first", "variant:slow")
    arrivals = "[...document.querySelectorAll('.lab-sliders input')].at(-1)"
    change(page, arrivals, "10", "input")
    write(page, SHORT.replace("traffic.web", "traffic.other"))
    page.wait(f"{PROBLEMS}.includes('A change of traffic.web.arrivals.poisson')", 30)
    assert "variant:slow was chosen as a control" in page.value(PROBLEMS)
    # the text has them again
    write(page, SHORT + VARIANT)
    page.wait(f"!{PROBLEMS}.includes('traffic.web')", 30)
    assert page.value(f"{arrivals}.value") == "10"
    assert "was chosen" not in page.value(PROBLEMS)
    assert page.value("tidegate.lab.first.value") == "variant:slow"


@in_browser
def test_of_several_ports_the_one_that_is_offered_most_stands_first(page):
    """Of two ways: 2.4 of what `short` can send is offered, and 0.24 of what `uplink` can."""
    text = page.value("tidegate.data.gallery.find(({ slug }) => slug === 'two-ways').text")
    page.value(f"tidegate.lab.open({json.dumps({'text': text})})")
    offered = page.value("tidegate.lab.checked.offered")
    assert max(offered, key=lambda each: each["share"])["port"] == "short"
    assert page.value("tidegate.lab.port.value") == "short"


@in_browser
def test_a_port_that_the_text_loses_is_named_and_chosen_again(page):
    """Until then the port that stands first is shown."""
    text = page.value("tidegate.data.gallery.find(({ slug }) => slug === 'two-ways').text")
    page.value(f"tidegate.lab.open({json.dumps({'text': text})})")
    change(page, "tidegate.lab.port", "uplink")
    write(page, text.replace("uplink", "upward"))
    page.wait(f"{PROBLEMS}.includes('uplink was chosen as the port')", 30)
    assert page.value("tidegate.lab.port.value") == "short"
    write(page, text)
    page.wait(f"!{PROBLEMS}.includes('was chosen')", 30)
    assert page.value("tidegate.lab.port.value") == "uplink"


def choose(page, place):
    """In one step, as a browser does: the page shows by the same menu what it has checked."""
    page.value(
        f"(() => {{ {GALLERY}.selectedIndex = {place};"
        f" {GALLERY}.dispatchEvent(new Event('change')); }})()"
    )


TEXT = "tidegate.lab.editor.text"
LARGE = f"{TEXT}.length > 5e6"


@in_browser
@pytest.mark.parametrize("back", ["the history", "the menu"])
@pytest.mark.parametrize("large", [False, True], ids=["in a link", "too large for a link"])
def test_a_text_of_ones_own_is_not_lost_to_a_ready_scenario(page, back, large):
    """It is where the history was before, with the seed that it had, and in the menu."""
    if large:
        page.value(f"tidegate.lab.open({{ text: {json.dumps(SHORT)} + '\\n#' + ' '.repeat(5e6) }})")
    change(page, "tidegate.lab.seed", "7")
    mine = LARGE if large else f"{TEXT} === {json.dumps(SHORT)}"
    assert page.value(mine)
    for place in (3, 4):
        choose(page, place)
        page.wait(f"{TEXT} === tidegate.data.gallery[{place - 1}].text", 60)
    page.wait("document.getElementById('about').textContent.includes('Your own scenario is kept')")
    if back == "the menu":
        choose(page, 0)
    else:
        page.value("void history.back()")
    page.wait(mine, 60)
    page.wait("tidegate.lab.seed.value === '7' && !tidegate.lab.run.disabled", 60)
    assert page.value("document.getElementById('broken').hidden")
    if back == "the history":
        page.value("void history.forward()")
        page.wait(f"{TEXT} === tidegate.data.gallery[3].text", 60)
