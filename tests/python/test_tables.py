"""Numbers as people read them."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

import tidegate
from tidegate.papers.check_results import Exact, Numbers, Ordering, OrderingPart
from tidegate.papers.claims import Claim
from tidegate.papers.tables import of_outcomes
from tidegate.papers.verdicts import judge
from tidegate.show import hints as advice
from tidegate.show.measures import blocks_of, shown
from tidegate.show.next_command import Typed
from tidegate.show.tables import of_run


@pytest.mark.parametrize(
    ("value", "scale", "text"),
    [
        (None, 1, "-"),
        ({"mean": None, "low": None, "high": None}, 1, "-"),
        ({"mean": 131.234, "low": 129.8, "high": 132.668}, 1, "131.2 ± 1.4"),
        ({"mean": 0.8776, "low": 0.8740, "high": 0.8812}, 100, "87.76 ± 0.36"),
        ({"mean": 4777.9, "low": 4650.0, "high": 4905.8}, 1, "4,778 ± 128"),
        ({"mean": 97.0, "low": 97.0, "high": 97.0}, 1, "97.0 ± 0.0"),
        ({"mean": 42.0, "low": 42.0 - 1e-12, "high": 42.0 + 1e-12}, 1, "42.0 ± 0.0"),
        ({"mean": 3.0181, "low": None, "high": None}, 1, "3.02"),
        (0.0, 1, "0"),
        # completions in a data centre take microseconds
        (0.000213, 1, "0.000213"),
        ({"mean": 0.000213, "low": 0.000201, "high": 0.000225}, 1, "0.000213 ± 0.000012"),
        (12345.6, 1, "12,346"),
    ],
)
def test_values_show_two_digits_of_their_interval(value, scale, text):
    assert shown(value, scale) == text


def rendered(table, width=120) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    return console.file.getvalue()


def test_nobody_reads_completion_times_without_the_share_that_was_served(overload):
    comparison = tidegate.compare(overload, gates=["none", "fixed-rate:10"], seeds=2)
    # the differences have a table of their own below, with what was served above the times
    upper, _, below = rendered(comparison.table).partition("Difference from none")
    assert below.index("served [%]") < below.index("FCT of those served")
    lines = upper.splitlines()
    never = next(number for number, line in enumerate(lines) if "never admitted" in line)
    times = [number for number, line in enumerate(lines) if "FCT" in line]
    # all flows, from the SYN and from admission, and three bins of sizes
    assert len(times) == 5
    assert never < min(times)
    for number in times:
        assert "of those served" in lines[number]
        assert lines[number].count("% served") == 2


def test_more_controls_than_fit_go_into_a_table_below(overload):
    gates = [f"fixed-rate:{rate}" for rate in range(10, 17)]
    text = rendered(
        tidegate.compare(overload, gates=gates, seeds=1, settings={"duration": "6s"}).table
    )
    assert max(map(len, text.splitlines())) <= 120
    assert text.count("never admitted") == 2
    for gate in gates:
        assert gate in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_number_is_broken_however_narrow_the_terminal(overload, width):
    # gates that have numbers in their names, and widths that are no multiple of anything
    gates = ["none", "fixed-rate:100", "fixed-rate:epoch=2s:rate=123456/s", "close-probe"]
    settings = {"duration": "8s", "traffic.web.arrivals.poisson": "600/s"}
    comparison = tidegate.compare(overload, gates=gates, seeds=2, settings=settings)
    text = rendered(comparison.table, width)
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    for average in comparison.averages:
        for metric in ("offered_per_s", "fct_mean_s", "open_mean", "goodput_mean_bps"):
            value = shown(average[metric], 1e-3 if "goodput" in metric else 1.0)
            assert value in text, value
    for label in ("none", "fixed-rate:100", "rate=123456/s", "close-probe"):
        assert label in words
    assert text.count("never admitted") == {40: 4, 60: 4, 80: 2, 100: 2}.get(width, 1)


@pytest.mark.parametrize("width", [50, 80, 120])
def test_a_sweep_breaks_no_number_either(overload, width):
    rates = [f"{rate}/s" for rate in range(1000, 7000, 1000)]
    settings = {"duration": "6s", "warmup": "1s"}
    sweep = tidegate.sweep(
        overload, {"traffic.web.arrivals.poisson": rates}, seeds=2, settings=settings
    )
    text = rendered(sweep.table, width)
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    for rate, average in zip(rates, sweep.averages, strict=True):
        assert rate in words
        assert shown(average["completed_per_s"]) in text
        assert shown(average["bottleneck.utilisation"], 100) in text


def test_a_run_breaks_no_number_of_its_ports(overload):
    summary = tidegate.run(overload).summary
    ports = [
        port | {"data_arrived": 123_456_789, "name": "from-here-to-there"}
        for port in summary["ports"]
    ]
    text = rendered(of_run(summary | {"ports": ports}), 60)
    assert max(map(len, text.splitlines())) <= 60
    assert text.split().count("123,456,789") == len(ports)


def claims() -> SimpleNamespace:
    """Return judged claims with long names, numbers and texts."""

    def row(name, value, kind, finding):
        claim = Claim(f"toy.{name}", "Table 1", "small", "rate", "1/s", value, kind, "", "")
        return judge(claim, finding)

    outcomes = [
        row(NAME, "100", "exact-number", Numbers((123456, 123458))),
        row(
            "a",
            "a is more than b, and b than c",
            "ordering",
            Ordering((OrderingPart("a", (1, -1)),)),
        ),
        row("b", "1", "exact-number", Numbers((7.0, 9.0))),
        row("c", "a sentence of a length that has to be cut", "setup", Exact("other words " * 5)),
    ]
    return SimpleNamespace(outcomes=outcomes)


NAME = "table4.arr1000.load3.cp.flows"


@pytest.mark.parametrize("width", [40, 50, 60, 80, 120])
def test_the_claims_of_a_paper_break_no_number_and_no_verdict(width):
    text = rendered(of_outcomes(claims()), width)
    assert max(map(len, text.splitlines())) <= width
    for whole in ("not met", "unresolved", "verdict", "123,457 ± 1.41", "0 [-12.7, 12.7]"):
        assert whole in text


@pytest.mark.parametrize("width", range(26, 121))
def test_a_number_of_a_paper_stands_beside_the_whole_name_of_its_claim(width):
    """In a narrow terminal names are broken over lines, and never left out."""
    lines = rendered(of_outcomes(claims()), width).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("claim ")
    assert NAME in "".join(line.partition(" ")[0] for line in lines)
    assert ("paper" in lines[0]) or width < 50


def test_a_scenario_of_several_classes_says_each(overload):
    more = overload + ('[traffic.bulk]\narrivals = { poisson = "1/s" }\nsize = "100kB"\n')
    text = rendered(of_run(tidegate.run(more).summary))
    for name in ("web", "bulk", "all"):
        assert name in text


def test_advice_where_no_control_wins_is_to_try_a_lower_rate(overload):
    import tomllib

    comparison = tidegate.compare(overload, gates=["none", "fixed-rate:10"], seeds=3)
    line = advice.after(comparison, Typed("a b.toml"), tomllib.loads(overload))
    assert "'a b.toml'" in line
    # the link can finish more than ten sessions a second: the gate only costs
    assert "--gate none,fixed-rate:" in line


def test_what_to_try_next_follows_the_recommendation(overload):
    """One seed recommends nothing, so the next thing is more seeds; three recommend a gate here."""
    import tomllib

    short = {"duration": "8s"}
    gates = ["none", "fixed-rate:15"]
    comparison = tidegate.compare(overload, gates=gates, seeds=1, settings=short)
    line = advice.after(comparison, Typed("a.toml"), tomllib.loads(overload))
    assert line == "Try next more seeds: the same command with --seeds 10"


def test_advice_is_not_what_was_just_tried(overload):
    import tomllib

    # of what this completes four fifths are 20/s; that and half of it were tried, so 5/s is next
    gates = ["none", "fixed-rate:10", "fixed-rate:20"]
    comparison = tidegate.compare(overload, gates=gates, seeds=3)
    line = advice.after(comparison, Typed("a.toml"), tomllib.loads(overload))
    assert line.endswith("--gate none,fixed-rate:5")


def test_differences_are_paired_by_seed(overload):
    """Each seed has its own flows: differences on the same flows vary less than the means do."""
    comparison = tidegate.compare(overload, gates=["none", "fixed-rate:10"], seeds=3)
    (found,) = comparison.differences
    assert found["settings"] == {"gate": "fixed-rate:10"}
    none, fixed = comparison.rows[:3], comparison.rows[3:]
    each = [
        b["all"]["fct_mean_s"] - a["all"]["fct_mean_s"] for a, b in zip(none, fixed, strict=True)
    ]
    value = found["fct_mean_s"]
    assert value["mean"] == pytest.approx(sum(each) / 3)
    # Student's t of 0.975 with two degrees of freedom is 4.3027
    deviation = (sum((one - sum(each) / 3) ** 2 for one in each) / 2) ** 0.5
    assert value["high"] - value["mean"] == pytest.approx(4.3027 * deviation / 3**0.5, rel=1e-4)
    text = rendered(comparison.table)
    assert "Difference from none, on the same flows" in text
    assert shown(value) in text


def test_intervals_of_shares_stay_between_nothing_and_everything(overload):
    comparison = tidegate.compare(overload, gates=["none", "gss-ga"], seeds=2)
    for average in comparison.averages:
        for name, value in average.items():
            if name.endswith(("_share", "utilisation")) and value["low"] is not None:
                assert 0.0 <= value["low"] <= value["mean"] <= value["high"] <= 1.0, name


def test_a_gate_that_never_acts_is_named(overload):
    """At a link that is never full, an admit rate above the arrivals changes nothing."""
    gates = ["none", "fixed-rate:100000", "fixed-rate:5"]
    comparison = tidegate.compare(overload, gates=gates, seeds=2, settings={"duration": "8s"})
    (warning,) = advice.alike(comparison)
    assert "Identical results under none and fixed-rate:100000:" in warning


def test_a_link_shows_no_number_of_the_whole_network(overload):
    """What senders send again is counted over all flows, also those that never cross the link."""
    found = tidegate.compare(overload, gates=["none"], seeds=1)
    blocks = blocks_of("bottleneck", found.subject.classes, found.averages)
    of_link = [block for block in blocks if block.title == "Link bottleneck"]
    assert [row.metric for block in of_link for row in block.rows]
    assert all(row.metric.startswith("bottleneck.") for block in of_link for row in block.rows)
    network = [row.metric for block in blocks if block.title == "Network" for row in block.rows]
    assert network == ["retransmitted_share"]
