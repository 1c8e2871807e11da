"""What users of the Python interface may rely on."""

import re

import polars as pl
import pytest

import tidegate

QUICK = {"duration": "4s", "warmup": "1s"}


def test_every_error_that_a_user_can_correct_is_a_tidegate_error(overload):
    with pytest.raises(tidegate.TidegateError, match="duratoin") as wrong:
        tidegate.run(overload, settings={"duratoin": "4s"})
    assert isinstance(wrong.value, tidegate.ScenarioError)
    assert isinstance(wrong.value, ValueError)
    assert issubclass(tidegate.LawFault, tidegate.TidegateError)
    assert issubclass(tidegate.LawFault, RuntimeError)


def test_compare_takes_the_axes_of_sweep(overload):
    key = "port.bottleneck.gate.alpha_min"
    asked = {"settings": QUICK, "seeds": 1, "workers": 1}
    mapping = tidegate.compare(overload, vary={key: [5, 10]}, **asked)
    text = tidegate.compare(overload, vary=f"{key}=5,10", **asked)
    assert [row["settings"] for row in mapping.averages] == [{key: "5"}, {key: "10"}]
    assert mapping.averages == text.averages
    assert mapping.frame.drop("seed").equals(text.frame.drop("seed"))


def test_lists_are_given_as_on_the_command_line_too(overload):
    asked = {"settings": QUICK, "seeds": 1, "workers": 1}
    text = tidegate.compare(overload, gates="none,fixed-rate:5", **asked)
    assert (
        text.averages
        == tidegate.compare(overload, gates=["none", "fixed-rate:5"], **asked).averages
    )
    key = "traffic.web.arrivals.poisson"
    swept = tidegate.sweep(overload, f"{key}=20/s,40/s", queues="drop-tail,red", **asked)
    assert swept.subject.axes == {"queue": ("drop-tail", "red"), key: ("20/s", "40/s")}


class Fixed:
    """Five sessions a second."""

    def start(self, now_s, knobs):
        knobs.allow(5, 1.0)
        return now_s + 1.0

    def update(self, now_s, view, counts, knobs):
        return now_s + 1.0


OWN = {"law": "python", "name": "mine"}


def test_the_class_of_a_session_law_is_as_good_as_an_object(overload):
    both = [
        tidegate.compare(
            overload, gates=[OWN], seeds=1, settings=QUICK, laws={"mine": law}
        ).averages
        for law in (Fixed, Fixed())
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"gates": ["none", Fixed()]}, "is a name or a dict"),
        ({"gates": [OWN], "laws": Fixed()}, "Laws of your own have names"),
        ({"gates": ["none"], "seeds": [-1]}, "a whole number from 0"),
        ({"gates": ["none"], "seeds": 0}, "0 is no number of seeds"),
        ({"gates": ["none"], "seeds": "3"}, "'3' is no number of seeds"),
        ({"gates": ["none"], "seeds": 2.0}, "2.0 is no number of seeds"),
        ({"gates": ["none"], "settings": "duration=9s"}, "Settings are keys with their values"),
        ({"vary": ["a"]}, "An axis is a key with its values"),
        ({"vary": {"warmup": "0s:2s:1s"}}, r"Write a list, as in {'warmup': ['0s', '1s', '2s']}"),
        ({"vary": {"warmup": 3}}, r"Write a list, as in {'warmup': [3]}"),
    ],
)
def test_what_is_no_argument_is_told_what_would_be(overload, arguments, says):
    with pytest.raises(tidegate.TidegateError, match=re.escape(says)):
        tidegate.compare(overload, **({"seeds": 1, "settings": QUICK} | arguments))


@pytest.mark.parametrize("seed", [-1, 1.5, 1 << 64, "1"])
def test_a_seed_that_is_none_is_refused(overload, seed):
    with pytest.raises(tidegate.TidegateError, match=f"{seed!r} is no seed"):
        tidegate.run(overload, seed=seed, settings=QUICK)


def test_ports_are_a_list_or_a_text_with_commas(overload):
    """The same laws at the same ports have the same results."""
    both = ["bottleneck", "bottleneck.reverse"]
    rows = [
        tidegate.compare(
            overload, queues=["drop-tail", "red"], port=port, seeds=1, settings=QUICK
        ).rows
        for port in (both, ",".join(both), "both")
    ]
    hashes = [[row["result_hash"] for row in each] for each in rows]
    assert hashes[0] == hashes[1] == hashes[2]
    with pytest.raises(tidegate.TidegateError, match="There is no port attic"):
        tidegate.compare(overload, queues=["red"], port=["attic"], seeds=1, settings=QUICK)


def test_a_sweep_of_no_seeds_is_refused(overload):
    with pytest.raises(tidegate.TidegateError, match="0 is no number of seeds"):
        tidegate.sweep(overload, gates=["none"], seeds=0, settings=QUICK)


def test_a_key_without_what_it_stands_in_is_completed(overload):
    for short, whole in (
        ("bottleneck.rate", "topology.dumbbell.bottleneck.rate"),
        ("web.arrivals.poisson", "traffic.web.arrivals.poisson"),
    ):
        with pytest.raises(tidegate.ScenarioError, match=f"did you mean `{whole}`"):
            tidegate.run(overload, settings={short: "1"})


def test_a_folder_that_is_not_there_is_no_folder_of_other_things(tmp_path):
    with pytest.raises(tidegate.TidegateError, match="There is no folder"):
        tidegate.load(tmp_path / "nothing")


def test_load_reads_what_save_wrote(overload, tmp_path):
    one = tidegate.run(overload, settings=QUICK)
    again = tidegate.load(one.save(tmp_path / "one"))
    assert isinstance(again, tidegate.Result)
    assert again.summary == one.summary
    for name in ("flows", "ports", "events"):
        assert getattr(again, name).equals(getattr(one, name)), name
    assert again.video.equals(pl.DataFrame())
    assert _shown(again.table) == _shown(one.table)
    third = tidegate.load(again.save(tmp_path / "two"))
    assert third.summary == one.summary
    assert third.flows.equals(one.flows)


def _shown(table):
    from rich.console import Console

    console = Console(width=120)
    with console.capture() as shown:
        console.print(table)
    return shown.get()
