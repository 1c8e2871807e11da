"""Where results lie, and what one types to read them: a run inside a comparison, stores, ASCII."""

import json
from importlib.util import find_spec

import pytest

import tidegate as laboratory
from tidegate.errors import TidegateError, UsageError

QUICK = {"duration": "4s", "warmup": "1s"}
SET = ("--set", "duration=4s", "--set", "warmup=1s")


def test_one_run_inside_a_comparison_is_read_like_any_run(tidegate, overload, tmp_path):
    pytest.importorskip("vl_convert", reason="not installed: pip install vl-convert-python")
    done = laboratory.compare(
        overload, gates=["none", "fixed-rate:10"], seeds=1, settings=QUICK, out=tmp_path / "c"
    )
    folder = tmp_path / "c" / "runs" / "none" / "seed-1"
    one = laboratory.load(folder)
    assert isinstance(one, laboratory.Result)
    assert one.summary["result_hash"] == done.rows[0]["result_hash"]
    assert one.flows.height == one.summary["all"]["flows"]
    assert tidegate("report", folder).returncode == 0
    assert (folder / "report.html").exists()


DRIVERS = {"s3": "s3fs", "gs": "gcsfs"}


@pytest.mark.parametrize("url", ["s3://there/x", "gs://there/x", "foo://there/x"])
@pytest.mark.parametrize("command", ["run", "sweep", "report", "plot", "merge"])
def test_a_store_without_its_driver_is_named(tidegate, overload_file, command, url):
    pytest.importorskip("upath", reason="not installed: pip install universal-pathlib")
    driver = DRIVERS.get(url[:2], "")
    if driver and find_spec(driver):
        pytest.skip(f"{driver} is installed")
    arguments = {
        "run": [overload_file, "--out", url, *SET],
        "sweep": [overload_file, "--vary", "traffic.web.arrivals.poisson=9/s", "--out", url, *SET],
        "report": [url],
        "plot": [url],
        "merge": [url, "--out", "m"],
    }
    done = tidegate(command, *arguments[command])
    assert done.returncode == 2
    assert f"Could not use {url}" in done.stderr
    assert "Install what fsspec needs" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_lies_in_a_store_and_is_read_from_there(tidegate, overload_file, shelf):
    done = tidegate("run", overload_file, "--out", f"{shelf}/one", "--json", *SET)
    assert done.returncode == 0, done.stderr
    loaded = laboratory.load(f"{shelf}/one")
    assert loaded.summary["result_hash"] == json.loads(done.stdout)["result_hash"]
    other = tidegate("run", overload_file, "--seed", "2", "--out", f"{shelf}/one", *SET)
    assert other.returncode == 1
    assert "holds another run" in other.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("run", "FILE", "--out"),
        ("sweep", "FILE", "--vary", "traffic.web.arrivals.poisson=9/s", "--out"),
        ("paper", "lgc", "--only", "setup", "--report"),
        ("study", "tide", "--out"),
        ("certify", "reno", "--out"),
    ],
)
def test_a_command_writes_nowhere_that_ends_with_it(tidegate, overload_file, command):
    """What is written has to be there afterwards: the memory of the command is not."""
    words = [overload_file if each == "FILE" else each for each in command]
    done = tidegate(*words, "memory://runs/one")
    assert done.returncode == 2
    assert "memory://runs/one is in the memory of this command, and gone" in done.stderr
    assert "Name a folder, or an object store" in done.stderr
    assert done.stdout == ""


def test_a_certificate_and_its_copy_lie_where_their_urls_say(tidegate, overload_file):
    """A URL names no folder of the working directory."""
    folder = overload_file.parent
    there = (f"file://{folder}/runs", f"file://{folder}/copy")
    asked = ("certify", "reno", "--only", "outage", "--seeds", "2", "--out", there[0])
    done = tidegate(*asked, "--report", there[1])
    assert done.returncode == 0, done.stderr
    assert (folder / "runs" / "rfc9743" / "reno" / "REPORT.md").is_file()
    assert (folder / "copy" / "rfc9743" / "reno" / "REPORT.md").is_file()
    assert not any(each.name.startswith("file:") for each in folder.iterdir())


def test_a_law_that_was_not_handed_in_is_missed_before_the_first_run(tidegate, overload_file):
    gates = "none,python:Mine"
    done = tidegate("sweep", overload_file, "--gate", gates, "--seeds", "2", *SET)
    assert done.returncode == 2
    assert "the scenario names `Mine`" in done.stderr
    assert not (overload_file.parent / "out").exists()


def test_check_refuses_what_run_refuses(tidegate, overload_file):
    much = ("--set", "traffic.web.arrivals.poisson=1e9/s", "--set", "duration=1e6s")
    for command in ("check", "run"):
        done = tidegate(command, overload_file, *much)
        assert done.returncode == 2, command
        assert "would have about" in done.stderr


def test_an_output_in_ascii_shows_plain_letters(tidegate_process, overload_file, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    gates = ("--gate", "none,fixed-rate:9", "--seeds", "2", "--no-plots")
    done = tidegate_process("compare", overload_file, *gates, *SET)
    assert done.returncode == 0, done.stderr
    assert " +- " in done.stdout
    assert "Traceback" not in done.stderr


def test_a_notebook_finds_names_and_sees_tables_and_pictures(overload):
    assert {"compare", "run", "load"} <= set(dir(laboratory))
    one = laboratory.run(overload, settings=QUICK)
    assert len(repr(one)) < 200
    assert "small overload" in repr(one)
    assert "utilisation" in one._repr_html_()
    done = laboratory.compare(overload, gates=["none", "fixed-rate:9"], seeds=2, settings=QUICK)
    assert len(repr(done)) < 250
    html = done._repr_html_()
    assert html.startswith("<pre")
    assert "data:image/png;base64," in html
    assert "FCT of those served" in repr(done.table)
    figures = done.figures()
    assert set(figures) == {"fct-distribution", "rates-over-time", "controls-side-by-side"}
    assert all(figure.axes for figure in figures.values())


def test_pandas_is_an_extra(overload):
    one = laboratory.run(overload, settings=QUICK)
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError:
        with pytest.raises(UsageError, match="pip install pandas"):
            one.to_pandas()
        return
    assert len(one.to_pandas()) == one.flows.height


def test_an_unreadable_file_is_not_called_damaged(overload, tmp_path, monkeypatch):
    laboratory.run(overload, settings=QUICK).save(tmp_path / "one")
    from pathlib import Path

    whole = Path.read_bytes

    def refused(path):
        if path.name == "flows.parquet":
            raise PermissionError(13, "Permission denied")
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(TidegateError, match="Permission denied"):
        _ = laboratory.load(tmp_path / "one").summary
