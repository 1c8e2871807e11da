"""What `python -m tools.scaling` runs and prints."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tools import scaling

import tidegate

if TYPE_CHECKING:
    from tools.scaling import Dimension


@pytest.mark.parametrize("dimension", scaling.DIMENSIONS, ids=lambda one: one.name)
def test_every_dimension_is_a_scenario_that_runs(dimension: "Dimension") -> None:
    # a short while of the smallest and of the next size
    for size in scaling.SIZES[:2]:
        text = dimension.text(size)
        run = tidegate.run(text, settings={"duration": "1.5s"} if "change" not in text else {})
        assert run.summary["packet_hops"] > 0


# By hand: 40 hops in 2 us are 50 ns each, 8,000 instructions are 200 each; loading and building
# take 250 ms and 250 ms, and 3 million instructions.
def test_a_row_has_each_cost_a_hop_and_that_of_loading() -> None:
    printed = "hops 40 load 0.25 build 0.25 run 0.000002\n"
    timed = scaling.read(printed)
    counted = scaling.Cost(40, 0.5, 2e-6, 3_000_000, 8_000)
    assert scaling.cells([timed]) == ["50", "", "500.0", ""]
    assert scaling.cells([timed, counted]) == ["50", "50", "", "200", "500.0", "500.0", "", "3.0"]
    assert scaling.cells([timed, counted], timed=False) == ["", "200", "", "3.0"]
    for with_times in (True, False):
        cells = scaling.cells([counted] * len(scaling.SIZES), timed=with_times)
        assert scaling.heading(timed=with_times)[1].count("---") == len(cells) + 1


def test_an_unknown_dimension_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="no such dimension: flowers; there are flows, hosts"):
        scaling.main(["flowers"])
    assert not capfd.readouterr().out


def test_the_example_that_it_runs_is_there() -> None:
    source = (Path(scaling.__file__).parents[1] / "benches/examples/cost.rs").read_text("utf-8")
    # callgrind counts within these two
    for name in ("load_it", "run_it"):
        assert f"#[inline(never)]\nfn {name}(" in source
