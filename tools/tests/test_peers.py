"""Other simulators on the yardstick: the ratio, and what happens where one cannot be had."""

import io

import pytest
from rich.console import Console
from tools.peers import __main__ as peers
from tools.peers import install


def measured(name: str, rounds: list[tuple[int, float]]) -> peers.Measured:
    one = peers.Measured(name, 20.0)
    for hops, cpu in rounds:
        one.note({"packet_hops": hops, "cpu_s": cpu, "goodput_mbit_s": 950.0})
    return one


# By hand: 30 and 20 million a second, the best is 30; the other makes 2 at best, so 15.
def test_the_ratio_is_that_of_the_best_rounds() -> None:
    console = Console(file=io.StringIO(), width=120)
    fast = measured("tidegate", [(10_000_000, 0.5), (9_000_000, 0.3)])
    slow = measured("other", [(8_000_000, 4.0), (8_000_000, 8.0)])
    peers.report(console, [fast, slow])
    assert isinstance(console.file, io.StringIO)
    cells = console.file.getvalue().splitlines()[-2].split()
    assert cells == ["other", "20", "s", "8.00", "950", "2", "1", "to", "2", "15"]


# The scenario draws them evenly from the first second.
def test_the_starts_are_those_of_the_yardstick() -> None:
    starts = peers.starts()
    assert len(starts) == 100
    assert all(0 <= start < 1 for start in starts)
    assert starts == sorted(starts)
    assert 0.3 < sum(starts) / 100 < 0.7


def test_what_cannot_be_had_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(install.UnavailableError, match="ns2"):
        install.ns2()
    with pytest.raises(install.UnavailableError, match="compiler"):
        install.ns3()
    console = Console(file=io.StringIO(), width=120)
    assert peers.ready(console, ["ns-2", "ns-3"]) == []
    assert isinstance(console.file, io.StringIO)
    assert "ns-2 is left out: apt-get install -y ns2" in console.file.getvalue()
