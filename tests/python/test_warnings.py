"""What may mislead is a warning, before a run and below its numbers."""

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tidegate as laboratory
from test_cli import PATIENCE_S
from tidegate.show import next_command

DOWNLOADS = """\
name     = "downloads"
duration = "20s"
warmup   = "5s"

[topology.dumbbell]
pairs      = 4
access     = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "2Mbit", delay = "20ms", buffer = "40packets" }

[traffic.pages]
direction = "download"
arrivals  = { poisson = "60/s" }
size      = { pareto = { mean = "10kB", shape = 1.5 } }
transport = { tcp = { profile = "linux" } }
"""

MISLEADING = {
    "sender and stamp": (
        {"traffic.web.transport": "qfcp", "port.bottleneck.stamp.law": "xcp"},
        ["class `web` sends by qfcp", "port `bottleneck` stamps by xcp"],
    ),
    "ECN and queue": (
        {"traffic.web.transport.tcp.ecn": True},
        ["class `web` asks for ECN", "no queue on its way marks"],
    ),
    "gate and handshake": (
        {"traffic.web.transport.tcp.handshake": False},
        ["the gate at `bottleneck`", "class `web`, which begin without a handshake"],
    ),
    "flows and end": (
        {"traffic.web.arrivals": {"at": ["1s", "30s", "40s"]}},
        ["2 of 3 flows of class `web` start after the end of the run at 20s"],
    ),
}


def settings(asked):
    from tidegate.scenario import toml

    return [f"--set={key}={toml.inline(value)}" for key, value in asked.items()]


@pytest.mark.parametrize("what", MISLEADING)
def test_both_sides_are_named_before_the_run_and_beside_its_numbers(tidegate, overload_file, what):
    asked, sides = MISLEADING[what]
    done = tidegate("run", overload_file, *settings(asked))
    assert done.returncode == 0, done.stderr
    (before,) = [line for line in done.stderr.splitlines() if line.startswith("tidegate: warning")]
    beside = " ".join(done.stdout[done.stdout.index("Warning:") :].split())
    checked = tidegate("check", overload_file, *settings(asked))
    assert checked.returncode == 0
    for side in sides:
        assert side in before
        assert side in beside
        assert side in checked.stdout


def test_a_warning_about_one_column_names_it(tidegate, overload_file):
    varied = "traffic.web.transport=tcp,qfcp"
    done = tidegate(
        "compare", overload_file, "--vary", varied, "--seeds", 1, "--set", "duration=6s"
    )
    assert "transport=qfcp: class `web` sends by qfcp" in done.stderr
    assert "Warning: transport=qfcp: class `web` sends by qfcp" in done.stdout
    (row,) = [
        row
        for row in json.loads(
            (overload_file.parent / "out" / "small-overload-compare" / "summary.json").read_text()
        )["rows"]
        if row["settings"] == {"traffic.web.transport": "qfcp"}
    ]
    assert len(row["warnings"]) == 1


def test_a_scenario_without_contradictions_gives_no_warning(tidegate, overload_file):
    done = tidegate("run", overload_file, "--set", "duration=6s")
    assert "arning" not in done.stderr + done.stdout


def test_a_gate_on_downloads_acts_by_itself():
    """It goes by the SYN+ACK, which the data of a download follows; `admit` says the same."""
    gate = {"law": "fixed-rate", "rate": "10/s"}
    runs = {
        name: laboratory.run(DOWNLOADS, settings={"port.bottleneck.gate": said} if said else None)
        for name, said in {
            "none": None,
            "automatic": gate,
            "said": {**gate, "admit": "syn-ack"},
            "wrong": {**gate, "admit": "syn"},
        }.items()
    }
    fates = {name: run.summary["result_hash"] for name, run in runs.items()}
    assert fates["automatic"] == fates["said"]
    assert (
        runs["automatic"].summary["all"]["admitted"] < runs["none"].summary["all"]["admitted"] / 2
    )
    # asked for all the same: it meets no SYN, and says so
    assert runs["wrong"].summary["all"] == runs["none"].summary["all"]
    assert "SYN+ACK" in runs["wrong"].summary["warnings"][0]
    assert runs["automatic"].summary["warnings"] == []


def test_a_dry_run_says_what_a_run_would_take_and_leaves_nothing(tidegate, overload_file):
    """60 a second for 20 s are 1200 flows; two gates with three seeds are six runs."""
    one = tidegate("run", overload_file, "--dry-run")
    assert one.returncode == 0, one.stderr
    assert "about 1,200" in one.stdout
    many = tidegate(
        *("compare", overload_file, "--gate", "none,close-probe", "--seeds", 3),
        *("--dry-run", "--workers", 1, "--json"),
    )
    found = json.loads(many.stdout)
    assert (found["runs"], found["settings"], found["workers"]) == (6, 2, 1)
    assert found["flows_per_run"] == {"web": pytest.approx(1200)}
    assert found["cpu_s"] > 0 < found["memory_bytes"]
    vary = "port.bottleneck.gate.beta=0.1:0.5:0.1"
    swept = tidegate("sweep", overload_file, "--vary", vary, "--seeds", 2, "--dry-run")
    assert "10 runs of 5 settings" in swept.stdout
    assert not (overload_file.parent / "out").exists()


def test_what_cannot_fit_into_memory_is_refused_before_it_starts(tidegate_process, overload_file):
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    done = tidegate_process(
        *("run", overload_file, "--set", "traffic.web.arrivals.poisson=1000000000/s"),
        preexec_fn=little,
    )
    assert done.returncode == 2
    assert "about 20,000,000,000 flows" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (overload_file.parent / "out").exists()


SHORT_RUN = ["run", "small.toml", "--set", "duration=6s"]


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["show", "small.toml"], SHORT_RUN]
)
def test_standard_output_that_takes_nothing_is_said(overload_file, arguments):
    command = [sys.executable, "-m", "tidegate", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command,
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=overload_file.parent,
        )
    assert done.returncode == 1
    assert "Could not write to standard output: No space left on device." in done.stderr
    assert "Nothing was written" not in done.stderr  # what lies in a folder does
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


AT_AN_IMPORT = """\
import atexit, os, runpy, signal, sys

at = sys.argv.pop(1)
seen = [0]

def interrupt(event="", _arguments=()):
    seen[0] += event == "import"
    if str(seen[0]) == at or at == event:
        seen[0] += 1
        os.kill(os.getpid(), signal.SIGINT)

class Begin:
    def find_spec(self, name, path=None, target=None):
        if name == "tidegate.cli":  # the first that tidegate.__main__ loads
            sys.meta_path.remove(self)
            sys.addaudithook(interrupt)

if at == "end":
    atexit.register(interrupt, "end")
else:
    sys.meta_path.insert(0, Begin())
sys.argv[0] = "tidegate"
runpy.run_module("tidegate", run_name="__main__")
"""


def interrupted(at, folder):
    """Press Ctrl-C when the command line has imported so many modules, or at the very end."""
    return subprocess.run(
        [sys.executable, "-c", AT_AN_IMPORT, str(at), "show", "small.toml"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize("at", [1, 2, 5, 20, 50, 100, 150, 200, 250, 300])
def test_ctrl_c_while_libraries_are_loaded_is_no_traceback(overload_file, at):
    done = interrupted(at, overload_file.parent)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr == "Interrupted; nothing was written.\n"
    assert done.stdout == ""


def test_ctrl_c_when_all_is_done_changes_nothing(overload_file):
    done = interrupted("end", overload_file.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "small overload" in done.stdout


def test_check_looks_at_variants_and_axes_too(tidegate, overload_file):
    text = overload_file.read_text(encoding="utf-8")
    overload_file.write_text(
        f'{text}\n[variant.slow]\ntopology.dumbbell.bottleneck.rate = "1Mbit"\n'
        '[sweep]\nseeds = 3\n"traffic.web.arrivals.poisson" = ["20/s", "40/s"]\n',
        encoding="utf-8",
    )
    done = tidegate("check", overload_file)
    assert done.returncode == 0, done.stderr
    assert "small overload: can be run, about 1,200 flows in 20 s." in done.stdout
    assert "variants: slow" in done.stdout
    assert "axis traffic.web.arrivals.poisson: 20/s, 40/s" in done.stdout
    assert not (overload_file.parent / "out").exists()


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize(
    ("more", "line"),
    [
        ("[variant.slow]\ntopology.dumbbell.botleneck.rate = '1Mbit'\n", 19),
        ("[variant.slow.port.bottleneck]\ngate = { law = 'close-probe', alfa_min = 3 }\n", 19),
        ("[sweep]\n'traffic.web.arivals.poisson' = ['20/s', '40/s']\n", 19),
    ],
)
def test_a_mistake_in_a_variant_or_an_axis_is_found_at_once_and_in_its_line(
    tidegate, overload_file, command, more, line
):
    text = overload_file.read_text(encoding="utf-8")
    assert text.count("\n") == line - 3  # a blank line and a header stand between
    overload_file.write_text(f"{text}\n{more}", encoding="utf-8")
    done = tidegate(command, overload_file)
    assert done.returncode == 2
    assert f"small.toml:{line}" in done.stderr
    assert "did you mean" in done.stderr


def test_a_mistake_on_the_command_line_is_not_blamed_on_another_option(tidegate, overload_file):
    varied = tidegate("compare", overload_file, "--vary", "traffic.web.size=10kB,zwei")
    assert varied.returncode == 2
    assert "--set" not in varied.stderr
    assert "size=zwei" in varied.stderr
    named = tidegate("run", overload_file, "--set", "traffic.wbe.size=1kB")
    assert "did you mean `web`" in named.stderr


def test_a_file_that_is_missing_is_looked_for_beside_the_scenario(tidegate, overload_file):
    (overload_file.parent / "sub").mkdir()
    moved = overload_file.rename(overload_file.parent / "sub" / "small.toml")
    done = tidegate("run", moved, "--set", 'traffic.web.size={ empirical = { file = "no.txt" } }')
    assert done.returncode == 1
    assert "sub/no.txt" in done.stderr
    assert "starts at the folder of the scenario" in done.stderr


def test_a_file_of_explicit_rates_gets_no_advice_about_gates(tidegate, overload_file):
    explicit = {"gate": {"law": "none"}, "stamp": {"law": "qfcp"}}
    asked = settings({"traffic.web.transport": "qfcp", "port.bottleneck": explicit})
    done = tidegate("run", overload_file, *asked, "--set", "duration=6s")
    assert done.returncode == 0, done.stderr
    assert "--gate" not in done.stderr.split("Try next")[1]


def test_a_class_that_never_starts_gives_a_gate_nothing_to_do(tidegate, overload_file):
    call = {"arrivals": {"at": ["1s"]}, "transport": {"udp": {"rate": "1Mbit"}}}
    more = {"duration": "6s", "port.bottleneck.gate": {"law": "none"}, "traffic.call": call}
    for at, laws in ("7s", "--queue drop-tail,fq-codel,cake"), ("5s", "--gate none,tide"):
        asked = settings({**more, "traffic.web.arrivals": {"at": [at]}})
        done = tidegate("run", overload_file, *asked)
        assert f"tidegate compare {overload_file} {laws}" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("law", "gates"), [("close-probe", "none,close-probe"), ("none", "none,tide")]
)
def test_after_a_run_its_own_gate_is_the_one_to_compare(tidegate, overload_file, law, gates):
    gate = settings({"port.bottleneck.gate": {"law": law}, "duration": "6s"})
    done = tidegate("run", overload_file, *gate)
    assert f"tidegate compare {overload_file} --gate {gates}" in done.stderr


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        (".venv/bin/tidegate", ".venv/bin/tidegate"),
        ("/on/the/path/tidegate", "tidegate"),
        ("/lib/tidegate/__main__.py", "tidegate"),
    ],
)
def test_a_command_that_is_shown_can_be_typed_as_it_stands(monkeypatch, called, shown):
    monkeypatch.setattr("sys.argv", [called])
    monkeypatch.setattr("shutil.which", lambda _: "/on/the/path/tidegate")
    assert next_command.program() == shown


@pytest.mark.parametrize("what", MISLEADING)
def test_python_warns_of_the_same(tidegate, overload_file, what):
    """`tidegate run` and `tidegate.run` say one thing, at the line of the caller."""
    asked, _ = MISLEADING[what]
    one = {"duration": ["20s"]}
    many = {"seeds": 1, "settings": asked, "plots": False}
    for command, options, call in (
        ("run", (), lambda: laboratory.run(overload_file, settings=asked)),
        (
            "compare",
            ("--vary", "duration=20s"),
            lambda: laboratory.compare(overload_file, vary=one, **many),
        ),
        ("sweep", ("--vary", "duration=20s"), lambda: laboratory.sweep(overload_file, one, **many)),
    ):
        done = tidegate(command, overload_file, *options, *settings(asked), "--dry-run")
        told = [line for line in done.stderr.splitlines() if "warning" in line]
        with pytest.warns(laboratory.TidegateWarning) as found:
            call()
        assert [f"tidegate: warning: {each.message}." for each in found] == told
        assert all(each.filename == __file__ for each in found)


def test_a_part_of_a_sweep_without_a_run_says_so(tidegate, overload_file):
    """One run has no second part."""
    asked = ("--vary", "duration=4s", "--seeds", "1", "--set", "warmup=1s")
    done = tidegate("sweep", overload_file, *asked, "--shard", "2/2", "--dry-run")
    said = "part 2 of 2 has no run, as there is 1 in all: take at most 1 part"
    assert f"tidegate: warning: {said}." in done.stderr
    with pytest.warns(laboratory.TidegateWarning, match="part 2 of 2 has no run"):
        laboratory.sweep(
            overload_file, {"duration": ["4s"]}, seeds=1, settings={"warmup": "1s"}, shard="2/2"
        )


def test_settings_with_the_same_results_are_named_wherever_they_are_run(tidegate, overload_file):
    """A gate that admits more than comes changes nothing."""
    said = "Identical results under none and fixed-rate:100000: the difference had no effect"
    gates, quick = "none,fixed-rate:100000", {"duration": "4s", "warmup": "1s"}
    for command in ("compare", "sweep"):
        done = tidegate(command, overload_file, "--gate", gates, "--seeds", "2", *settings(quick))
        assert f"tidegate: warning: {said}." in done.stderr
        with pytest.warns(laboratory.TidegateWarning, match=said):
            getattr(laboratory, command)(
                overload_file, gates=gates, seeds=2, settings=quick, plots=False
            )
