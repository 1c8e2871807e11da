"""Finished folders are looked at again without a run: drawn anew, set side by side."""

import errno
import hashlib
import json
import shutil
from pathlib import Path

import pytest

import tidegate as laboratory
from tidegate.cli import app
from tidegate.results.store import write_whole

QUICK = {"duration": "8s", "warmup": "2s"}


@pytest.fixture(scope="module")
def compared(overload, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared") / "c"
    gates = ["none", "close-probe"]
    laboratory.compare(overload, gates=gates, seeds=2, settings=QUICK, out=folder, plots=False)
    return folder


@pytest.fixture(scope="module")
def drawn(overload, compared):
    """The same folder, once its comparison was asked for again with pictures."""
    gates = ["none", "close-probe"]
    laboratory.compare(overload, gates=gates, seeds=2, settings=QUICK, out=compared)
    return compared


def digests(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.suffix in (".png", ".svg")
    }


@pytest.mark.slow
@pytest.mark.pictures
def test_pictures_that_are_drawn_again_are_the_same_and_nothing_runs(tidegate, drawn):
    """Of the same data come the same bytes, beside pictures that only `plot` draws; the runs stay
    as they are, to the second."""
    before = digests(drawn)
    runs = {path: path.stat().st_mtime_ns for path in drawn.glob("runs/*/*/*")}
    assert len(before) == 6
    for name in before:
        (drawn / name).unlink()
    done = tidegate("plot", drawn)
    assert done.returncode == 0, done.stderr
    assert digests(drawn).items() > before.items()
    assert {path: path.stat().st_mtime_ns for path in drawn.glob("runs/*/*/*")} == runs


@pytest.mark.slow
@pytest.mark.pictures
def test_pictures_go_elsewhere_if_asked_to(tidegate, drawn, tmp_path):
    assert tidegate("plot", drawn, "--out", "elsewhere").returncode == 0
    assert digests(tmp_path / "elsewhere").items() >= digests(drawn).items()


@pytest.mark.slow
@pytest.mark.pictures
def test_a_sweep_is_drawn_again_with_other_metrics(tidegate, overload, tmp_path):
    axes = {"traffic.web.arrivals.poisson": ["20/s", "40/s", "60/s"]}
    laboratory.sweep(overload, axes, seeds=1, settings=QUICK, out=tmp_path / "s")
    before = digests(tmp_path / "s")
    done = tidegate("plot", "s", "--metrics", "fct_p99_s", "--out", "drawn")
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "drawn").keys() == before.keys()
    assert digests(tmp_path / "drawn") != before


@pytest.mark.pictures
def test_a_single_run_is_drawn_over_time_and_by_size(tidegate, overload, tmp_path):
    laboratory.run(overload, settings=QUICK).save(tmp_path / "r")
    done = tidegate("plot", "r")
    assert done.returncode == 0, done.stderr
    assert {"by-size.png", "classes-web.svg"} <= digests(tmp_path / "r").keys()


@pytest.mark.slow
def test_what_is_added_to_a_run_does_not_keep_it_from_being_made_anew(tidegate, overload_file):
    """A page lies among the results: the same command replaces both, as it does without a page."""
    pytest.importorskip("vl_convert", reason="not installed: pip install vl-convert-python")
    out = overload_file.parent / "out"
    for _ in range(2):
        assert tidegate("run", overload_file, "--set", "duration=6s").returncode == 0
        assert [path.name for path in out.iterdir()] == ["small-overload-run"]
        assert tidegate("report", out / "small-overload-run").returncode == 0
        assert (out / "small-overload-run" / "report.html").exists()


def test_two_folders_are_set_side_by_side_setting_by_setting(
    tidegate, overload, compared, tmp_path
):
    """The differences are those of the runs of one seed, worked out here by hand."""
    slow = {**QUICK, "topology.dumbbell.bottleneck.rate": "1Mbit"}
    laboratory.compare(
        overload, gates=["none", "close-probe"], seeds=2, settings=slow, out=tmp_path / "slow"
    )
    done = tidegate("compare", compared, tmp_path / "slow", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["settings"] for row in found["table"]] == [
        {"folder": folder, "gate": gate}
        for folder in ("c", "slow")
        for gate in ("none", "close-probe")
    ]
    assert found["same_flows"] is True
    assert any("1Mbit" in each for each in found["differs"])
    for difference in found["differences"]:
        each = [
            {
                row["seed"]: row["all"]["completed_per_s"]
                for row in found["rows"]
                if row["settings"] == {"folder": folder, **difference["settings"]}
            }
            for folder in ("c", "slow")
        ]
        mean = sum(each[1][seed] - each[0][seed] for seed in (1, 2)) / 2
        assert mean < 0
        assert difference["completed_per_s"]["mean"] == pytest.approx(mean)
    shown = tidegate("compare", compared, tmp_path / "slow")
    assert "slow minus c, on the same flows" in shown.stdout
    assert "They differ in scenario: topology.dumbbell.bottleneck.rate: there" in shown.stderr


def test_two_runs_on_other_flows_are_not_called_the_same(tidegate, overload, tmp_path):
    laboratory.run(overload, settings=QUICK).save(tmp_path / "a")
    more = {**QUICK, "traffic.web.arrivals.poisson": "90/s"}
    laboratory.run(overload, settings=more).save(tmp_path / "b")
    done = tidegate("compare", "a", "b")
    assert done.returncode == 0, done.stderr
    assert "b minus a, not on the same flows" in done.stdout


@pytest.mark.parametrize(
    ("others", "says"),
    [([], "no second one was given"), (["nowhere"], "There is no folder nowhere")],
)
def test_half_a_comparison_of_folders_is_said(tidegate, compared, others, says):
    done = tidegate("compare", compared, *others)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_run_that_is_not_there_is_said_wherever_the_others_are_shown(
    compared, tmp_path, monkeypatch
):
    """Without it the settings are averages over different flows, which nobody would see."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(compared, tmp_path / "gap")
    shutil.rmtree(tmp_path / "gap" / "runs" / "none" / "seed-2")
    said = "1 of 4 runs of gap are missing"
    for command in (["report", "gap"], ["compare", "gap", str(compared)]):
        with pytest.warns(laboratory.TidegateWarning, match=said):
            app(command, standalone_mode=False)
    assert said in (tmp_path / "gap" / "report.html").read_text(encoding="utf-8")
    laboratory.load(compared)  # a warning would be an error here


@pytest.mark.parametrize("left", ["summary.json", "claims.json", "runs"])
def test_a_damaged_manifest_is_not_taken_for_none(compared, tmp_path, left):
    """A comparison, a paper, and what was broken off have these beside it."""
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / left).mkdir()
    (tmp_path / "cut" / "manifest.json").write_text('{"tide', encoding="utf-8")
    with pytest.raises(laboratory.TidegateError, match=r"cut/manifest\.json: it is damaged"):
        laboratory.load(tmp_path / "cut")


def test_a_page_that_does_not_fit_leaves_no_piece_of_it(tmp_path, monkeypatch):
    """What is there stays as it was until all of the new is written."""
    (tmp_path / "page.html").write_bytes(b"former")

    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(laboratory.TidegateError, match="No space left on device"):
        write_whole(tmp_path / "page.html", b"x" * 1000)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_bytes() == b"former"


@pytest.mark.slow
@pytest.mark.pictures
def test_a_folder_may_be_called_like_a_pattern(compared, tmp_path):
    folder = shutil.copytree(compared, tmp_path / "runs[1,")
    app(["report", str(folder)], standalone_mode=False)
    app(["plot", str(folder)], standalone_mode=False)
    assert laboratory.load(folder).flows.height == laboratory.load(compared).flows.height


def test_what_is_no_plain_file_is_written_into(tmp_path):
    (tmp_path / "to").symlink_to("there.csv")
    write_whole(tmp_path / "to", b"content")
    assert (tmp_path / "to").is_symlink()
    assert (tmp_path / "there.csv").read_bytes() == b"content"
    write_whole(Path("/dev/null"), b"content")
    assert Path("/dev/null").is_char_device()


@pytest.mark.pictures
def test_a_run_that_is_damaged_is_named(tidegate, compared, tmp_path):
    shutil.copytree(compared, tmp_path / "broken")
    (tmp_path / "broken" / "runs" / "none" / "seed-1" / "flows.parquet").write_bytes(b"PAR1")
    done = tidegate("plot", "broken")
    assert done.returncode == 1
    assert "broken/runs/none/seed-1/flows.parquet" in done.stderr
    assert "Traceback" not in done.stderr


def test_all_flows_of_a_comparison_are_one_frame_with_control_and_seed(compared):
    done = laboratory.load(compared)
    summaries = {(row["settings"]["gate"], row["seed"]): row for row in done.rows}
    assert done.flows.columns[:2] == ["gate", "seed"]
    counted = done.flows.group_by("gate", "seed").len()
    assert len(counted) == 4
    for gate, seed, number in counted.rows():
        alone = laboratory.run(
            compared / "runs" / gate / f"seed-{seed}" / "scenario.toml", seed=seed
        )
        assert alone.flows.height == number
        assert alone.summary["result_hash"] == summaries[gate, seed]["result_hash"]


def test_without_a_folder_there_are_no_flows_and_that_is_said(overload):
    done = laboratory.compare(overload, gates=["none"], seeds=1, settings=QUICK)
    with pytest.raises(laboratory.TidegateError, match="Name a folder"):
        _ = done.flows


def test_an_axis_of_numbers_has_a_column_of_numbers(overload):
    """500 ms and 1 s are 500 and 1000 in ms; words stay words."""
    axes = {
        "traffic.web.patience": ["500ms", "1s"],
        "traffic.web.transport.tcp.sack": [True, False],
    }
    frame = laboratory.sweep(overload, axes, seeds=1, settings=QUICK).frame
    assert frame["traffic.web.patience"].to_list() == ["500ms", "500ms", "1s", "1s"]
    assert frame["traffic.web.patience [ms]"].to_list() == [500, 500, 1000, 1000]
    assert [name for name in frame.columns if "[" in name] == ["traffic.web.patience [ms]"]


def test_what_was_loaded_is_what_was_measured(overload, compared):
    again = laboratory.load(compared)
    there = json.loads((compared / "summary.json").read_text(encoding="utf-8"))
    assert again.document() == there


def test_runs_saved_under_the_old_name_of_a_law_are_found_under_the_new_one(overload, tmp_path):
    # `dqm` was called `dual-queue`. A saved run is found by its effective scenario, so that one
    # keeps the old name, whichever of the two the document uses; so do the tables of a run.
    axis = {"port.bottleneck.gate.alpha_min": [5]}

    def swept(name, out):
        queue = f'queue = {{ law = "{name}", x_m = 5, x_M = 9, over = {{ law = "pie" }} }}'
        document = overload.replace("gate = {", f"{queue}\ngate = {{")
        return laboratory.sweep(document, axis, seeds=1, settings=QUICK, out=tmp_path / out)

    old = swept("dual-queue", "s").rows[0]
    [manifest] = (tmp_path / "s").glob("runs/*/seed-*/manifest.json")
    effective = json.loads(manifest.read_text(encoding="utf-8"))["effective_scenario"]
    assert 'law = "dual-queue"' in effective
    written = manifest.stat().st_mtime_ns
    assert swept("dqm", "s").rows[0] == old
    assert manifest.stat().st_mtime_ns == written
    assert swept("dqm", "anew").rows[0]["result_hash"] == old["result_hash"]
