"""Files over UDP: when they are complete, and what is said of settings that lose some."""

import numpy as np
import polars as pl
import pytest

import tidegate as laboratory
from tidegate.results.columns import completed
from tidegate.results.run_output import _flows
from tidegate.show import of_runs

# Files of 100 kB at 20 Mbit/s, of which a link of 2 Mbit/s carries two in a second: 0.4 s each.
FILES = """\
name     = "files over UDP"
duration = "20s"
warmup   = "2s"

[topology.dumbbell]
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "2Mbit", delay = "20ms", buffer = "3000packets" }

[traffic.file]
arrivals  = { poisson = "2/s" }
size      = "100kB"
transport = { udp = { rate = "20Mbit", packet = "1000B" } }
"""


@pytest.fixture(scope="module")
def run():
    return laboratory.run(FILES)


def test_a_file_takes_as_long_as_the_link_takes_for_it(run):
    """docs/metrics.md: of UDP a flow closes when its last byte is delivered.

    By hand: 103 packets with 28 B of headers each take 0.41 s at 2 Mbit/s, and none comes sooner.
    """
    least = (100_000 + 103 * 28) * 8 / 2e6
    done = run.flows.filter(pl.col("fct_s").is_not_null())
    assert done.height > 30
    assert done["fct_s"].min() > least
    assert done["goodput_bps"].max() < 2e6
    assert (done["closed_s"] == done["data_done_s"]).all()
    of_all = run.summary["all"]
    assert min(of_all[name] for name in ("fct_p50_s", "fct_mean_s", "fct_opened_p50_s")) > least
    assert run.summary["sizes"]["to_100kB"]["fct_p50_s"] > least


def test_a_file_is_no_call(run):
    """docs/metrics.md: a flow of UDP with a size and at more than 128 kbit/s is a file."""
    assert run.summary["all"]["call_mos"] is None
    call = laboratory.run(FILES, settings={"traffic.file.transport.udp.rate": "80kbit"})
    assert call.summary["all"]["call_mos"] > 1.0


def test_what_is_served_of_files_is_recommended_by():
    """docs/results.md: flows that end are compared by the share completed, noticed from 1 point."""
    sizes = {"topology.dumbbell.bottleneck.buffer": ["100packets", "3000packets"]}
    done = laboratory.compare(FILES, vary=sizes, seeds=3, plots=False)
    said = done.recommendation
    assert said.startswith("Recommended: buffer=3000packets, better for file: sessions completed")
    assert "mean opinion" not in str(done.table)


def test_a_file_that_lost_data_is_done_within_no_time(tmp_path):
    """docs/metrics.md: a flow of UDP of which data was lost is not completed.

    Tables of single flows, for certificates and for pictures, have no end for it.
    """
    nan = float("nan")
    flows = {
        "admitted_s": np.array([0.0, 1.0, 2.0]),
        "closed_s": np.array([1.0, 2.0, nan]),
        "fct_s": np.array([1.0, nan, nan]),
        "size_bytes": np.array([10.0, 10.0, 10.0]),
        "delivered_bytes": np.array([10, 8, 10]),
    }
    assert completed(flows).tolist() == [True, False, False]
    kept = _flows(flows, ("closed_s", "delivered_bytes"))
    assert kept["closed_s"].fill_nan(None).to_list() == [1.0, None]
    # what came of it counts all the same
    assert kept["delivered_bytes"].to_list() == [10, 8]
    lossy = laboratory.run(FILES, settings={"topology.dumbbell.bottleneck.buffer": "20packets"})
    shown = of_runs.flows(lossy.save(tmp_path / "lossy"))
    lost = lossy.flows["fct_s"].is_null()
    assert lost.sum() > 10
    assert shown.filter(lost)["closed_s"].null_count() == lost.sum()


def test_no_rate_of_a_file_is_above_that_of_the_link():
    """A flow that lost data is open until its last packet is there, and so has no higher rate."""
    settings = {
        "traffic.file.arrivals": {"at": ["3s"]},
        "traffic.file.size": "5MB",
        "topology.dumbbell.bottleneck.buffer": "1000packets",
    }
    lossy = laboratory.run(FILES, settings=settings)
    assert lossy.flows["fct_s"].null_count() == 1
    assert lossy.summary["all"]["long_flows"] == 1
    assert lossy.summary["all"]["flow_rate_max_bps"] < 2e6


def test_calls_of_no_use_are_named():
    """docs/results.md, rule 3: of calls rated below 50 nothing counts, and the line says so."""
    call = FILES.replace('size      = "100kB"\n', "").replace('poisson = "2/s"', 'at = ["0s"]')
    sizes = {"topology.dumbbell.bottleneck.buffer": ["100packets", "3000packets"]}
    said = laboratory.compare(call, vary=sizes, seeds=2, plots=False).recommendation
    assert "no difference in what can be judged is significant" in said
    assert "Of no use under any setting, so that nothing of it counts: file." in said
