"""Numbers as people read them."""

import io

import pytest
from rich.console import Console

import tidegate
from tidegate import advice
from tidegate.tables import of_run, shown


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
        (12345.6, 1, "12,346"),
    ],
)
def test_values_show_two_digits_of_their_interval(value, scale, text):
    assert shown(value, scale) == text


def rendered(table) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(table)
    return console.file.getvalue()


def test_nobody_reads_completion_times_without_the_share_that_was_served(overload):
    comparison = tidegate.compare(overload, gates=["none", "fixed-rate:10"], seeds=2)
    lines = rendered(comparison.table).splitlines()
    never = next(number for number, line in enumerate(lines) if "never admitted" in line)
    times = [number for number, line in enumerate(lines) if "FCT" in line]
    assert len(times) == 2
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


def test_a_scenario_of_several_classes_says_each(overload):
    more = overload + ('[traffic.bulk]\narrivals = { poisson = "1/s" }\nsize = "100kB"\n')
    text = rendered(of_run(tidegate.run(more).summary))
    for name in ("web", "bulk", "all"):
        assert name in text


def test_advice_where_no_control_wins_is_to_try_a_lower_rate(overload):
    import tomllib

    comparison = tidegate.compare(overload, gates=["none", "fixed-rate:10"], seeds=1)
    line = advice.after(comparison, "a b.toml", tomllib.loads(overload))
    assert "'a b.toml'" in line
    # the link can finish more than ten sessions a second: the gate only costs
    assert "--gate none,fixed-rate:" in line
