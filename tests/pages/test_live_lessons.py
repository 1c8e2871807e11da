"""The answers to the runs of the lessons are so: each is a list of expressions over both runs."""

from types import SimpleNamespace

import pytest
from tools.pages import lessons

from play_page import controlled

RUNS = [
    pytest.param(name, number, id=f"{name}-{number + 1}")
    for name, lesson in lessons.live().items()
    for number in range(len(lesson["run"]))
]


def measured(text, control):
    """A run as expressions name it: `run`, `port`, and its classes by their names."""
    run = controlled(text, control)
    [port] = [each for each in run.summary["ports"] if each["name"] == "bottleneck"]
    classes = {each["name"]: SimpleNamespace(**each) for each in run.summary["classes"]}
    return SimpleNamespace(run=run, port=SimpleNamespace(**port), **classes)


def cwnd(one, time_s):
    """The window of the traced flow at a time, in packets."""
    acks = one.run.acks
    return acks.filter(acks["time_s"] <= time_s)["cwnd_packets"][-1]


def equal_at(one):
    """The first second in which the window of the second flow has nine tenths of the first's."""
    series = one.run.flow_series.pivot("class", index="time_s", values="cwnd_packets")
    both = series.sort("time_s").drop_nulls()
    return both.filter(both["second"] >= 0.9 * both["first"])["time_s"][0]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), RUNS)
def test_an_answer_says_what_its_run_shows(name, number):
    run = lessons.live()[name]["run"][number]
    text = lessons.scenario(name)
    there = {
        side: measured(text, run[side]) for side in ("first", "second") if run.get(side) is not None
    }
    names = {**there, "cwnd": cwnd, "equal_at": equal_at}
    assert [each for each in run["so"] if not eval(each, names)] == []
    # a run beside another is there to be compared with it
    assert all(any(side in each for each in run["so"]) for side in there)


def test_every_run_has_an_answer_that_is_checked():
    assert len(RUNS) > 20
    for lesson in lessons.live().values():
        for run in lesson["run"]:
            assert len(run["answer"].split()) > 20
            assert run["so"]
