"""What people do by mistake, and what they are told: a place, a remedy, and nothing lost."""

import errno
import json
import os
import re
import resource
from pathlib import Path

import pytest

import tidegate as laboratory
from tidegate.cli import app
from tidegate.cli.options import default_folder
from tidegate.errors import UsageError, from_os
from tidegate.scenario.document import read
from tidegate.show import finished

CAPTURE = Path(__file__).parents[2] / "scenarios" / "captures" / "narrow-link.pcap"


def test_names_without_a_letter_share_a_folder_and_no_run_is_lost(overload, tmp_path, monkeypatch):
    assert {default_folder(name, "run") for name in ("..", "", " ", "!?")} == {
        Path("out/scenario-run")
    }
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(overload, encoding="utf-8")
    for name in ("..", "!?"):
        short = ["--set", "duration=6s", "--set", f'name="{name}"']
        app(["run", "small.toml", *short], standalone_mode=False)
    found = {path.name: path for path in (tmp_path / "out").iterdir()}
    names = {
        folder: json.loads((path / "summary.json").read_text(encoding="utf-8"))["scenario"]
        for folder, path in found.items()
    }
    assert names == {"scenario-run": "..", "scenario-run-2": "!?"}


def test_ctrl_c_while_pictures_are_drawn_loses_no_run(overload, tmp_path, monkeypatch):
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def compared():
        return laboratory.compare(
            overload,
            gates=["none", "fixed-rate:10"],
            seeds=1,
            settings={"duration": "6s"},
            out=tmp_path / "c",
        )

    with monkeypatch.context() as patched:
        patched.setattr(finished, "files", stopped)
        with pytest.raises(KeyboardInterrupt):
            compared()
    kept = sorted((tmp_path / "c" / "runs").rglob("flows.parquet"))
    assert len(kept) == 2
    made = [path.stat().st_mtime_ns for path in kept]
    compared()
    assert [path.stat().st_mtime_ns for path in kept] == made
    assert (tmp_path / "c" / "summary.json").exists()


def test_a_table_of_flows_that_does_not_fit_leaves_no_piece_of_it(tidegate_process, tmp_path):
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = tidegate_process("flows", CAPTURE, "--csv", "f.csv", preexec_fn=small_files)
    assert done.returncode == 1
    assert "Could not write f.csv: File too large." in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_more_rows_than_a_machine_can_count_are_all_rows(tidegate):
    done = tidegate("flows", CAPTURE, "--rows", "99999999999999999999")
    assert done.returncode == 0, done.stderr
    assert "First 110 of 110 flows" in done.stdout


def test_ranges_are_values_in_a_comparison_too(overload_file, capfd):
    vary = "traffic.web.arrivals.poisson=10/s:30/s:10/s"
    app(
        ["compare", str(overload_file), "--vary", vary, "--dry-run", "--json"],
        standalone_mode=False,
    )
    assert json.loads(capfd.readouterr().out)["settings"] == 3


# the last value of 10, 20, 30 would be another one than the range says
@pytest.mark.parametrize(
    ("values", "fitting"),
    [
        ("10/s:35/s:10/s", "10/s:30/s:10/s or 10/s:40/s:10/s"),
        ("1:0.5:-0.2", "1:0.6:-0.2 or 1:0.4:-0.2"),
    ],
)
def test_a_range_that_does_not_come_to_its_end_is_refused(overload, values, fitting):
    vary = f"traffic.web.arrivals.poisson={values}"
    with pytest.raises(laboratory.TidegateError, match=f"Write {re.escape(fitting)}"):
        laboratory.compare(overload, vary=vary, seeds=1)


def test_help_shows_what_stands_in_brackets(tidegate):
    assert "[variant.NAME]" in tidegate("compare", "--help").stdout


def test_a_time_that_is_too_long_is_told_one_limit(overload):
    """Simulated time ends at 30 days; what the number of picoseconds can hold concerns nobody."""
    for too_long in ("2678400s", "1e9s"):
        with pytest.raises(laboratory.ScenarioError) as said:
            read(overload, {"duration": too_long}).load()
        assert "100 days" not in str(said.value)
        assert "30 days" in str(said.value) or "up to 720h" in str(said.value)


def test_what_stands_twice_is_told_so(overload):
    with pytest.raises(laboratory.ScenarioError, match="stand once in a document"):
        read(overload + "\n[traffic.web]\n").load()


def test_scenarios_are_not_copied_onto_a_file(tidegate, overload_file):
    done = tidegate("examples", overload_file)
    assert done.returncode == 1
    assert "A part of the path is a file; name a folder instead." in done.stderr


@pytest.mark.parametrize("address", ["nonsense", "host", "local:x", "local:0"])
def test_an_address_that_is_none_is_said_at_once(address):
    pytest.importorskip(
        "distributed", reason="not installed: pip install distributed universal-pathlib"
    )
    from tidegate.errors import UsageError
    from tidegate.grid.cluster import connected

    with pytest.raises(UsageError, match=f"--dask {address}"), connected(address):
        pass


def test_what_is_said_of_a_disk_names_no_option(tmp_path):
    """`examples` on a read-only disk must not advise `--out`, which it does not have."""
    for number in (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG):
        said = from_os("write", tmp_path, OSError(number, os.strerror(number)))
        assert os.strerror(number) in said.what
        assert said.remedy.endswith(".")
        assert "--" not in said.remedy


@pytest.mark.parametrize("wrong", [None, 5, 2.5, ["a.toml"]])
def test_what_is_no_path_is_said(wrong):
    for call in (laboratory.run, laboratory.compare, laboratory.flows, laboratory.load):
        with pytest.raises(UsageError, match="is no path of"):
            call(wrong)
