"""The rule of the recommendation, on cases whose right answer was decided by hand.

The cases are in recommendations.toml, with the reason for each answer.
"""

import math
import tomllib
from pathlib import Path

import pytest

from tidegate.results.call_quality import mean_opinion
from tidegate.show.advice import Setting, advise, users_of
from tidegate.show.experience import VIDEO
from tidegate.show.recommendation import in_words

CASES = tomllib.loads(Path(__file__).with_name("recommendations.toml").read_text())["case"]
PORT = "bottleneck"
OFFERED = 1000
NOT_SETTINGS = ("about", "right", "worse", "unknown", "unnamed", "guests", "why")
SCALES = {
    "loaded": ("pages_loaded_share", 0.01),
    "time": ("page_load_mean_s", 1),
    "lost": ("lost_share", 0.01),
    "delay": ("delay_p95_s", 1e-3),
    "never": ("never_started_share", 0.01),
    "startup": ("startup_mean_s", 1),
    "stalled": ("stalled_share", 0.01),
    "rate": ("video_rate_mean_bps", 1e6),
    "delivered": ("throughput_bps", 1e6),
    "fair": ("flow_rate_jain", 1),
    "completed": ("completed_share", 0.01),
    "fct": ("fct_mean_s", 1),
    "refused": ("never_admitted_share", 0.01),
}
"""The words of the cases: metric, and what makes its unit of theirs."""


def runs(users: dict) -> dict[int, dict]:
    """The metrics of each run, as `statistics.metrics` names them."""
    classes = [name for name in users if name != "queue"]
    seeds = len(next(values for key, values in users[classes[0]].items() if key != "offered"))
    found: dict[int, dict] = {seed: {} for seed in range(1, seeds + 1)}
    for number, run in enumerate(found.values()):
        for name in classes:
            prefix = f"{name}." if len(classes) > 1 else ""
            told = {
                word: values[number] for word, values in users[name].items() if word != "offered"
            }
            measured = {SCALES[word][0]: value * SCALES[word][1] for word, value in told.items()}
            measured |= counts(told, users[name].get("offered", OFFERED))
            # what was measured of nobody is None
            run |= {
                f"{prefix}{metric}": None if math.isnan(value) else value
                for metric, value in measured.items()
            }
        if "queue" in users:
            run[f"{PORT}.queue_delay_mean_s"] = users["queue"][number] * 1e-3
    return found


def counts(told: dict, offered: int) -> dict:
    """How many users there were in a run, and how many were served."""
    if "loaded" in told:
        return {"pages": offered, "pages_loaded": offered * told["loaded"] / 100}
    if "completed" in told:
        return {"arrived": offered, "completed": offered * told["completed"] / 100}
    if "lost" in told:
        mos = mean_opinion(told["lost"] / 100, told["delay"] / 1000)
        return {"sent_packets": 50 * offered, "call_mos": mos}
    if "never" in told:
        return {"viewers": offered}
    if "refused" in told:
        return {"arrived": offered}
    return {"endless": 4, "flows": 4}


@pytest.fixture(params=CASES, ids=[case["about"] for case in CASES])
def case(request):
    return request.param


def test_the_right_setting_is_recommended(case):
    found, text = judged(case)
    assert [each.name for each in found.taken] == case["right"], f"{case['why']}\n{text}"
    assert [users.name for users in found.unknown] == case.get("unknown", [])
    if case["right"]:
        assert {price.felt.users.name for price in found.price} == set(case.get("worse", []))
        assert text.startswith(f"Recommended: {' or '.join(case['right'])}, better for ")
    else:
        assert text.startswith("No recommendation: ")
    assert not [name for name in case.get("unnamed", []) if f"{name} for " in text]


def judged(case: dict):
    measured = {name: users for name, users in case.items() if name not in NOT_SETTINGS}
    settings = [Setting(name, runs(users)) for name, users in measured.items()]
    classes = [name for name in next(iter(measured.values())) if name != "queue"]
    every = [run for setting in settings for run in setting.runs.values()]
    found = advise(settings, users_of(classes, PORT, every, case.get("guests", ())), paired=True)
    return found, in_words(found, settings, "by hand", paired=True)


def test_a_time_that_is_said_to_be_worse_is_said_once():
    """Both load the same pages: that they take longer is a price, and no time of fewer users."""
    case = next(each for each in CASES if each["about"].startswith("one call a run"))
    _, text = judged(case)
    assert text.count("mean page load time") == 1
    assert "But " not in text


@pytest.mark.parametrize(("viewers", "never"), [(36, 1 / 6), (31, 1 / 31), (300, 0.9)])
def test_thirty_who_were_served_are_thirty(viewers, never):
    """Of their share of all a number comes that is no whole one, as 29.999999999999996."""
    run = {"viewers": viewers, "never_started_share": never}
    assert VIDEO.counted.served(run, "") == 30


def test_of_each_class_with_too_few_what_was_counted_is_said():
    seen = {"video.viewers": 10, "video.never_started_share": 0.5}
    rest = {
        "voice.sent_packets": 3.0,
        "voice.call_mos": 4.0,
        "updates.arrived": 1.0,
        "updates.flows": 1.0,
    }
    settings = [Setting(name, {1: seen | rest, 2: seen | rest}) for name in ("none", "tide")]
    every = [run for setting in settings for run in setting.runs.values()]
    users = users_of(("video", "voice", "updates"), PORT, every, ("updates",))
    text = in_words(advise(settings, users, paired=True), settings, "by hand", paired=True)
    told = "of video 10 began, of voice 6 packets were sent and of updates 2 arrived at most"
    few = "Too few to judge by, as it takes 30:"
    assert text.endswith(f" {few} {told}; try --seeds 30.")
    seen["video.viewers"] = rest["updates.arrived"] = 0
    settings = [Setting(name, {1: seen | rest, 2: seen | rest}) for name in ("none", "tide")]
    text = in_words(advise(settings, users, paired=True), settings, "by hand", paired=True)
    told = "of voice 6 packets were sent at most; of video and updates none"
    assert text.endswith(f" {few} {told}.")


def test_no_fewer_seeds_are_advised_than_by_what_to_try_next():
    run = {"arrived": 29.0, "completed": 29.0, "completed_share": 1.0, "flows": 29.0}
    settings = [Setting(name, {1: run}) for name in ("none", "tide")]
    users = users_of(("web",), PORT, [run])
    text = in_words(advise(settings, users, paired=True), settings, "by hand", paired=True)
    assert text.endswith("; try --seeds 10.")
