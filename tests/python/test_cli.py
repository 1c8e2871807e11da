"""What a user meets at the terminal: results on stdout, all else on stderr, and no traceback."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.main import get_command

from tidegate.cli import app

PATIENCE_S = 120
"""So long a test waits for a process: no limit that the process has to keep, as a machine may have
other work, but the end of one that hangs."""

CANNOT_BE_USED = [
    (["run", "nowhere.toml"], 1, "nowhere.toml: No such file"),
    (["run", "small.toml", "--set", "duration"], 2, "KEY=VALUE"),
    (["run", "small.toml", "--set", "duratoin=5s"], 2, "duratoin"),
    (["run", "small.toml", "--set", "duration=-5s"], 2, "duration"),
    (["run", "small.toml", "--pcap", "attic"], 2, "There is no port attic"),
    (["run", "small.toml", "--qlog", "attic:0"], 2, "There is no flow attic:0"),
    (["run", "small.toml", "--out", "small.toml"], 1, "Not a directory"),
    (["run", "small.toml", "--out", "."], 1, "small.toml"),
    (["show", "broken.toml"], 2, "broken.toml"),
    (["compare", "small.toml"], 2, "--gate"),
    (["compare", "small.toml", "--gate", "none", "--vary", "duration=5s"], 2, "--vary"),
    (["compare", "small.toml", "--gate", "none,none"], 2, "none more than once"),
    (["compare", "small.toml", "--gate", "nonsense"], 2, "nonsense"),
    (["compare", "small.toml", "--gate", "close-probe:7"], 2, "close-probe:7"),
    (["compare", "small.toml", "--gate", "none", "--port", "attic"], 2, "attic"),
    (["compare", "small.toml", "--gate", "none", "--seeds", "0"], 2, "seeds"),
    (["compare", "small.toml", "--gate", "python:mine"], 2, "mine"),
    (["compare", "small.toml", "--gate", "none", "--seeds", "9" * 20], 2, "seeds are more than"),
    (["run", "small.toml", "--seed", "18446744073709551616"], 2, "18446744073709551615"),
    (["schema", "--keys", "queu"], 2, "Near it are queue"),
]


@pytest.mark.parametrize(("arguments", "code", "says"), CANNOT_BE_USED)
def test_what_cannot_be_used_is_said_without_a_traceback(
    tidegate, overload_file, arguments, code, says
):
    (overload_file.parent / "broken.toml").write_text("name = 'x'\nduration = \n", encoding="utf-8")
    done = tidegate(*arguments)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(path.name for path in overload_file.parent.iterdir() if path.name != "out") == [
        "broken.toml",
        "small.toml",
    ]
    assert not list(overload_file.parent.glob("out/*"))


# Of two values only the last would count, and the first be lost without a word.
@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("run", ("--pcap", "bottleneck", "--pcap", "bottleneck.reverse")),
        ("run", ("--seed", "1", "--seed=2")),
        ("compare", ("--gate", "none", "--gate", "tide", "--dry-run")),
    ],
)
def test_an_option_that_takes_one_value_is_given_once(tidegate, overload_file, command, option):
    result = tidegate(command, str(overload_file), *option)
    assert result.returncode == 2
    assert f"{option[0]} is given 2 times, and takes one value.\nGive it once." in result.stderr


def test_an_option_that_may_be_repeated_is(tidegate, overload_file):
    settings = ("--set", "duration=2s", "--set", "warmup=1s", "--dry-run", "--json")
    assert tidegate("run", str(overload_file), *settings).returncode == 0


def test_an_unknown_key_is_shown_in_its_line_with_the_nearest_right_one(tidegate, overload_file):
    text = overload_file.read_text(encoding="utf-8").replace("warmup ", "warmpu ")
    overload_file.write_text(text, encoding="utf-8")
    done = tidegate("run", overload_file)
    assert done.returncode == 2
    assert "warmpu" in done.stderr
    assert "warmup" in done.stderr
    assert "small.toml:3" in done.stderr


def test_run_leaves_a_table_data_and_a_next_step(tidegate_process, overload_file):
    done = tidegate_process("run", overload_file)
    assert done.returncode == 0, done.stderr
    assert "never admitted" in done.stdout
    folder = overload_file.parent / "out" / "small-overload-run"
    assert "out/small-overload-run" in done.stderr
    assert "Try next" in done.stderr
    assert {"flows.parquet", "ports.parquet", "events.parquet", "summary.json"} <= {
        path.name for path in folder.iterdir()
    }


def test_another_run_does_not_replace_the_former_and_the_same_one_does(tidegate, overload_file):
    """Whoever runs twice has two results; the very same run gives nothing that is not there."""
    for seed in (1, 2, 1):
        assert tidegate("run", overload_file, "--seed", seed).returncode == 0
    out = overload_file.parent / "out"
    seeds = {
        folder.name: json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["seed"]
        for folder in out.iterdir()
    }
    assert seeds == {"small-overload-run": 1, "small-overload-run-2": 2}


def test_a_folder_that_was_named_is_not_used_for_another_run(tidegate, overload_file):
    assert tidegate("run", overload_file, "--out", "r").returncode == 0
    again = tidegate("run", overload_file, "--seed", 2, "--out", "r")
    assert again.returncode == 1
    assert "Will not replace r: it holds another run" in again.stderr
    manifest = json.loads((overload_file.parent / "r" / "manifest.json").read_text("utf-8"))
    assert manifest["seed"] == 1
    (overload_file.parent / "r" / "manifest.json").unlink()
    unknown = tidegate("run", overload_file, "--out", "r")
    assert unknown.returncode == 1
    assert "no readable manifest.json that says that tidegate wrote them" in unknown.stderr


def test_results_go_to_where_a_link_points(tidegate, overload_file):
    folder = overload_file.parent
    (folder / "disk").mkdir()
    (folder / "link").symlink_to("disk")
    assert tidegate("run", overload_file, "--out", "link").returncode == 0
    assert (folder / "link").is_symlink()
    assert (folder / "disk" / "flows.parquet").exists()


def test_json_of_a_run_is_the_summary_and_nothing_else_is_on_stdout(tidegate, overload_file):
    done = tidegate("run", overload_file, "--seed", 4, "--json", "--out", "r")
    summary = json.loads(done.stdout)
    assert summary["seed"] == 4
    saved = json.loads((overload_file.parent / "r" / "summary.json").read_text(encoding="utf-8"))
    assert saved == summary


def test_json_of_a_comparison_has_rows_and_table(tidegate, overload_file):
    done = tidegate("compare", overload_file, "--gate", "none,close-probe", "--seeds", 2, "--json")
    comparison = json.loads(done.stdout)
    assert set(comparison) == {"rows", "table"}
    assert [row["settings"] for row in comparison["table"]] == [
        {"gate": "none"},
        {"gate": "close-probe"},
    ]
    assert set(comparison["table"][0]["fct_mean_s"]) == {"mean", "low", "high"}
    assert "bottleneck.utilisation" in comparison["table"][0]
    assert len(comparison["rows"]) == 4
    assert {"settings", "seed", "classes", "ports", "result_hash"} <= comparison["rows"][0].keys()


@pytest.mark.slow
@pytest.mark.pictures
def test_compare_ends_with_table_pictures_and_three_lines(tidegate, overload_file):
    done = tidegate("compare", overload_file, "--gate", "none,close-probe", "--seeds", 2)
    assert done.returncode == 0, done.stderr
    for words in ("never admitted", "of those served", "p99", "±", "utilisation"):
        assert words in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120
    where, recommended, then = done.stderr.strip().splitlines()
    assert "out/small-overload-compare" in where
    assert recommended.startswith(("Recommended", "No recommendation"))
    assert then.startswith("Try next")
    folder = overload_file.parent / "out" / "small-overload-compare"
    assert len(list(folder.glob("*.png"))) == len(list(folder.glob("*.svg"))) == 3
    for gate in ("none", "close-probe"):
        for seed in (1, 2):
            assert (folder / "runs" / gate / f"seed-{seed}" / "flows.parquet").exists()


@pytest.mark.pictures
@pytest.mark.parametrize("command", ["compare", "sweep"])
def test_no_plots_leaves_out_pictures_and_nothing_else(tidegate, overload_file, command):
    axis = ("--vary", "port.bottleneck.gate.alpha_min=5,10")
    quick = ("--set", "duration=4s", "--set", "warmup=1s", "--seeds", "1")
    whole = tidegate(command, overload_file, *axis, *quick, "--out", "out")
    drawn = {path.name for path in (overload_file.parent / "out").iterdir()}
    without = tidegate(command, overload_file, *axis, *quick, "--out", "out", "--no-plots")
    assert whole.returncode == without.returncode == 0, without.stderr
    left = {path.name for path in (overload_file.parent / "out").iterdir()}
    assert {name.rpartition(".")[2] for name in drawn - left} == {"png", "svg"}
    assert left == {name for name in drawn if not name.endswith((".png", ".svg"))}
    assert without.stdout == whole.stdout
    assert "pictures" in whole.stderr
    assert "pictures" not in without.stderr


def test_variants_in_the_file_are_compared(tidegate, overload_file):
    with overload_file.open("a", encoding="utf-8") as file:
        file.write('\n[variant.slow.topology.dumbbell.bottleneck]\nrate = "1Mbit"\n')
        file.write("[variant.as-it-is]\n")
    done = tidegate("compare", overload_file, "--seeds", 1, "--json")
    table = json.loads(done.stdout)["table"]
    assert [row["settings"] for row in table] == [{"variant": "slow"}, {"variant": "as-it-is"}]
    slow, fast = (row["bottleneck.departed"]["mean"] for row in table)
    assert slow < fast


def test_show_prints_what_can_be_run(tidegate, overload_file):
    shown = tidegate("show", overload_file, "--set", "duration=9s")
    assert shown.returncode == 0
    path = overload_file.parent / "shown.toml"
    path.write_text(shown.stdout, encoding="utf-8")
    assert tidegate("show", path).stdout == shown.stdout
    assert "9s" in shown.stdout


def test_schema_is_a_json_schema(tidegate):
    schema = json.loads(tidegate("schema").stdout)
    assert "properties" in schema


def test_every_key_of_the_schema_is_printed_in_words_under_the_name_of_its_part(tidegate):
    schema = json.loads(tidegate("schema").stdout)
    parts = [("scenario", schema)]
    parts += [
        (each["title"], each)
        for name in ("Gate", "Queue", "Stamp", "Filter")
        for each in schema["$defs"][name]["oneOf"]
        if len(each.get("properties", {})) > 1
    ]
    parts += [(name, each) for name, each in schema["$defs"].items() if name in ("Link", "Video")]
    assert len(parts) > 20
    for name, node in parts:
        lines = tidegate("schema", "--keys", name).stdout.splitlines()
        for key, value in node["properties"].items():
            at = [place for place, line in enumerate(lines) if line.startswith(f"{key} = ")]
            text = " ".join(value.get("description", "").replace("`", "").split())
            assert any(text in lines[place + 1] or not text for place in at), (name, key)
    # by the name that the document writes too
    assert tidegate("schema", "--keys", "syn-retries").stdout.startswith("SynRetries")


def test_version(tidegate_process):
    from tidegate import __version__

    said = tidegate_process("--version").stdout
    assert re.fullmatch(rf"tidegate {re.escape(__version__)} \(commit [0-9a-f]{{12}}\)\n", said)


def test_bench_measures(tidegate):
    figures = json.loads(tidegate("bench", "--flows", 5, "--json").stdout)
    keys = "scenario packet_hops delivered_packets cpu_s mhops_per_cpu_s goodput_mbit_s peak_rss_mb"
    assert set(keys.split()) <= figures.keys()
    # Five long flows share 1 Gbit/s: never more than the payload's share of it.
    assert 0 < figures["goodput_mbit_s"] < 1000 * 1460 / 1500
    assert figures["packet_hops"] > 6 * figures["delivered_packets"] * 0.99


def test_a_file_that_grows_too_large_is_said_and_nothing_is_left(tidegate_process, overload_file):
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = tidegate_process("run", overload_file, "--out", "r", preexec_fn=small_files)
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in overload_file.parent.iterdir()] == ["small.toml"]


def start(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tidegate", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, text=True, **pipes)


def wait_for(found) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not found():
        assert time.monotonic() < deadline
        time.sleep(0.01)


FEW = ("--set", "traffic.web.arrivals.poisson=1/s")
"""A run of weeks has to fit into memory, or it is refused."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_stopped_leaves_at_once_and_leaves_nothing(overload_file, number):
    folder = overload_file.parent
    run = start(folder, "run", overload_file, *FEW, "--set", "duration=2000000s", "--out", "r")
    wait_for(lambda: list(folder.glob(".r.*.partial")))
    time.sleep(0.3)
    run.send_signal(number)
    # on its own it would go on for longer, and end with code 0
    out, err = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 128 + number
    assert "Traceback" not in err
    assert out == ""
    assert os.listdir(folder) == ["small.toml"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_comparison_that_is_stopped_keeps_its_finished_runs(overload_file, number):
    folder = overload_file.parent
    vary = "duration=6s,2000000s"
    run = start(folder, "compare", overload_file, *FEW, "--vary", vary, "--seeds", 1, "--out", "c")
    try:
        wait_for((folder / "c" / "runs" / "duration=6s" / "seed-1" / "manifest.json").exists)
        run.send_signal(number)
        _, err = run.communicate(timeout=PATIENCE_S)
    finally:
        run.kill()
    assert run.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert "1 of 2 runs are saved in c; rerun to resume." in err
    assert "Traceback" not in err
    manifest = json.loads((folder / "c" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["complete"] is False
    assert (folder / "c" / "runs" / "duration=6s" / "seed-1" / "flows.parquet").exists()
    assert sorted(os.listdir(folder)) == ["c", "small.toml"]


def test_help_starts_quickly_and_loads_nothing_heavy():
    code = (
        "import sys, tidegate.cli; from tidegate.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'polars', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    assert done.stdout.strip().endswith("[]")


def _commands(command, *names):
    yield names, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, *names, name)


def test_help_loses_no_word_in_brackets(tidegate):
    """Rich takes a name in brackets for a style, unless a backslash stands before it."""
    seen = set()
    for names, command in _commands(get_command(app)):
        texts = [command.help, command.epilog, *(getattr(o, "help", "") for o in command.params)]
        words = {word for text in texts for word in re.findall(r"\[[^]]+\]", text or "")}
        shown = tidegate(*names, "--help").stdout
        assert words <= set(re.findall(r"\[[^]]+\]", shown)), names
        seen |= words
    assert {"[sweep]", "[variant.NAME]"} <= seen


MEETS_CTRL_C_IN_THE_TEXT_OF_A_CLASS = """\
import signal
from tidegate import cli

def app():
    cli._take_over()
    try:
        exec("signal.raise_signal(signal.SIGINT)", {"signal": signal})
    except KeyboardInterrupt:
        raise SystemExit(130)

cli.app = app
cli.main()
"""


def test_ctrl_c_while_something_is_imported_ends_with_the_code_of_ctrl_c(tmp_path):
    """An interrupt that passes through `exec` of a text must not become a death by signal.

    The expected code is the shell's for Ctrl-C, 128 + 2; with Python's own
    handler the process dies by the signal instead (code -2), handled or not.
    """
    (tmp_path / "met.py").write_text(MEETS_CTRL_C_IN_THE_TEXT_OF_A_CLASS, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "met"], cwd=tmp_path, timeout=PATIENCE_S, check=False
    )
    assert run.returncode == 130


IS_STOPPED_IN_A_CALLBACK = """\
import signal, sys, time, weakref
from tidegate import cli

class Lock: pass

def app():
    cli._take_over()
    lock = Lock()
    number = signal.Signals[sys.argv[1]]
    seen = weakref.ref(lock, lambda _: signal.raise_signal(number))
    try:
        del lock
        time.sleep(600)
    except KeyboardInterrupt:
        raise SystemExit(130)

cli.app = app
cli.main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_stop_that_comes_in_a_callback_is_not_lost(tmp_path, name):
    """Python prints what is raised in the callback of a weak reference, and goes on.

    Importing a module runs such a callback. The command must end all the same,
    with the shell's code for the signal (128 + its number), and print no traceback.
    """
    (tmp_path / "stopped.py").write_text(IS_STOPPED_IN_A_CALLBACK, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "stopped", name],
        cwd=tmp_path,
        timeout=PATIENCE_S,
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 128 + signal.Signals[name]
    assert run.stderr == ""


@pytest.mark.parametrize("transport", ['{ udp = { rate = "1Mbit", packet = "1000B" } }', '"tcp"'])
def test_without_sessions_to_admit_queues_are_what_to_try(tidegate, tmp_path, transport):
    """A gate decides on new sessions; UDP opens none, and flows without end are there already."""
    text = f"""
name = "streams"
duration = "2s"
[topology.dumbbell]
access = {{ rate = "100Mbit", delay = "1ms" }}
bottleneck = {{ rate = "10Mbit", delay = "5ms" }}
[traffic.stream]
arrivals = {{ uniform = 3, within = "1s" }}
size = "unlimited"
transport = {transport}
"""
    (tmp_path / "streams.toml").write_text(text, encoding="utf-8")
    done = tidegate("run", "streams.toml")
    assert done.returncode == 0, done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.endswith("compare streams.toml --queue drop-tail,fq-codel,cake")
