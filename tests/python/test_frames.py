"""All runs of a comparison or a sweep as frames, and all their flows as one."""

import polars as pl
import pytest

import tidegate
from tidegate.errors import UsageError

QUICK = {"duration": "6s", "warmup": "1s"}
RATE = "traffic.web.arrivals.poisson"


def test_a_comparison_is_a_frame_of_runs_and_one_of_all_flows(overload, tmp_path):
    done = tidegate.compare(
        overload, gates=["none", "close-probe"], seeds=[3, 5], settings=QUICK, out=tmp_path / "a"
    )
    runs, flows = done.frame, done.flows
    assert runs.select("gate", "seed").rows() == [
        ("none", 3), ("none", 5), ("close-probe", 3), ("close-probe", 5)
    ]  # fmt: skip
    assert (
        flows.select("gate", "seed").unique(maintain_order=True).rows()
        == runs.select("gate", "seed").rows()
    )
    # the same flows start under each control, and the window's are those of the frame
    started = flows.filter(pl.col("start_s") >= 1.0).group_by("gate", "seed").len()
    counted = runs.select("gate", "seed", pl.col("arrived").cast(pl.UInt32).alias("len"))
    assert started.sort("gate", "seed").equals(counted.sort("gate", "seed"))


def test_an_axis_of_numbers_has_a_column_of_numbers(overload, tmp_path):
    done = tidegate.sweep(
        overload, {RATE: ["20/s", "0.5/s"]}, seeds=2, settings=QUICK, out=tmp_path / "s"
    )
    assert done.frame[RATE].to_list() == ["20/s", "20/s", "0.5/s", "0.5/s"]
    assert done.frame[f"{RATE} [1/s]"].to_list() == [20.0, 20.0, 0.5, 0.5]
    assert done.frame["seed"].to_list() == [1, 2, 1, 2]
    with pytest.raises(UsageError, match="keep_flows"):
        _ = done.flows
