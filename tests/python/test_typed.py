"""What people typed by mistake, as they typed it, and the answer that helps."""

import os
import stat
import subprocess
import sys

import pytest

import tidegate as laboratory

QUICK = ("--set", "duration=4s", "--set", "warmup=1s")


def typed(tidegate, *words):
    """What is said on standard error of a command that is refused."""
    done = tidegate(*words)
    assert done.returncode != 0, words
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("command", ["check", "run", "show"])
@pytest.mark.parametrize("name", ['""', '"  "'])
def test_a_scenario_without_a_name(tidegate, overload_file, command, name):
    said = typed(tidegate, command, overload_file, "--set", f"name={name}")
    assert "a scenario needs a name" in said
    assert not (overload_file.parent / "out").exists()


def test_a_class_or_a_variant_without_a_name(tidegate, overload, tmp_path):
    (tmp_path / "class.toml").write_text(overload.replace("[traffic.web]", '[traffic.""]'))
    assert "needs a name" in typed(tidegate, "check", "class.toml")
    (tmp_path / "variant.toml").write_text(f'{overload}\n[variant.""]\nduration = "5s"\n')
    assert "needs a name" in typed(tidegate, "check", "variant.toml")


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("duration", "1e400s", "time"),
        ("topology.dumbbell.bottleneck.rate", "1e400Mbit", "rate"),
        ("traffic.web.arrivals.poisson", "1e400/s", "frequency"),
        ("traffic.web.size.pareto.mean", "1e400kB", "size"),
        ("topology.dumbbell.bottleneck.buffer", "1e400packets", "buffer length"),
    ],
)
def test_a_number_beyond_all_numbers_is_too_large_and_not_negative(
    tidegate, overload_file, key, value, kind
):
    said = typed(tidegate, "check", overload_file, "--set", f"{key}={value}")
    assert f"`{value}` is too large a {kind}" in said
    assert "not negative" not in said


def test_a_negative_number_is_negative(tidegate, overload_file):
    said = typed(tidegate, "check", overload_file, "--set", "duration=-1e400s")
    assert "not negative" in said


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ('"two"', "a whole number, without quotes"),
        ("2.5", "a whole number, without quotes"),
        ("-1", "a whole number that is not negative"),
        ("5000000000", "a smaller whole number"),
        ("20001", "write a number from 1 to 20000"),
    ],
)
def test_a_number_of_pairs_that_is_none(tidegate, overload_file, value, remedy):
    said = typed(tidegate, "check", overload_file, "--set", f"topology.dumbbell.pairs={value}")
    assert remedy in said
    assert "20000" in said
    assert "4294967295" not in said


def test_a_file_that_may_not_be_read_is_not_damaged(overload, tmp_path):
    laboratory.run(overload, settings={"duration": "4s", "warmup": "1s"}).save(tmp_path / "one")
    path = tmp_path / "one/summary.json"
    path.chmod(0)
    # root reads every file, but without these two capabilities (linux/capability.h)
    less = [f"--{each}=-dac_override,-dac_read_search" for each in ("bounding-set", "inh-caps")]
    command = ["setpriv", *less] if os.access(path, os.R_OK) else []
    command += [sys.executable, "-m", "tidegate", "report", "one"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    assert done.returncode == 1
    assert "Permission denied" in done.stderr
    assert "damaged" not in done.stderr
    assert "Traceback" not in done.stderr


TANDEM = """
name     = "two links"
duration = "4s"
[topology.tandem]
links  = [{ rate = "10Mbit", delay = "5ms" }, { rate = "8Mbit", delay = "5ms" }]
access = { rate = "100Mbit", delay = "1ms" }
[traffic.web]
arrivals = { poisson = "20/s" }
size     = "10kB"
"""


@pytest.mark.parametrize(
    ("option", "laws"), [("--queue", "drop-tail,red"), ("--gate", "none,tide")]
)
def test_which_port_is_asked_of_queues_as_of_gates(tidegate, tmp_path, option, laws):
    (tmp_path / "tandem.toml").write_text(TANDEM)
    said = typed(tidegate, "compare", "tandem.toml", option, laws)
    assert "Which port is to be controlled?" in said
    assert "link1, link2" in said
    assert "--port" in said
    assert "gates" not in said


@pytest.mark.parametrize(
    ("command", "option", "remedy"),
    [
        ("compare", "--gate", "as in none,close-probe"),
        ("compare", "--queue", "as in drop-tail,cake"),
        ("sweep", "--gate", "as in none,close-probe"),
        ("sweep", "--variant", "as in all"),
    ],
)
def test_a_list_without_a_name_is_none(tidegate, overload_file, command, option, remedy):
    said = typed(tidegate, command, overload_file, option, ",")
    assert f"No {option.removeprefix('--')} is named" in said
    assert remedy in said


@pytest.mark.slow
def test_an_output_in_ascii_has_no_traceback(tidegate_process, overload_file, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    for words in (("run", overload_file, *QUICK), ("check", overload_file)):
        done = tidegate_process(*words)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    drawn = tidegate_process("plot", "out/small-overload-run", "--terminal")
    assert drawn.returncode == 0, drawn.stderr


def test_a_rate_law_of_ones_own_is_advised_a_transport_that_exists(tidegate, overload_file):
    """A law that grants rates, whatever its name, is read by senders of qfcp."""
    own = 'port.bottleneck.stamp={ law = "python", name = "load-factor" }'
    said = tidegate("check", overload_file, "--set", own).stdout
    assert "stamps by load-factor" in said
    assert 'write transport = "qfcp"' in said
    advised = ("--set", 'traffic.web.transport="qfcp"')
    assert "Warning" not in tidegate("check", overload_file, "--set", own, *advised).stdout
    # a law whose senders are its own keeps its advice
    other = tidegate(
        "check", overload_file, "--set", 'port.bottleneck.stamp={ law = "xcp" }'
    ).stdout
    assert 'write transport = "xcp"' in other


@pytest.mark.parametrize(
    ("old", "new", "remedy"),
    [
        # the other direction without quotes
        ("[port.bottleneck]", "[port.bottleneck.reverse]", '[port."bottleneck.reverse"]'),
        # a setting of TCP beside tcp
        (
            '"ns2-2005" } }',
            '"ns2-2005" }, control = "bbr" }',
            "settings go inside: { tcp = { control = ... } }",
        ),
        # a brace that was not closed on the line before
        ('mean = "10kB", shape = 1.5 } }', 'mean = "10kB", shape = 1.5 }', "close each `{`"),
    ],
)
def test_a_slip_in_the_file_is_told_its_remedy_once(tidegate, overload, tmp_path, old, new, remedy):
    assert old in overload
    (tmp_path / "slip.toml").write_text(overload.replace(old, new))
    said = typed(tidegate, "check", "slip.toml")
    assert remedy in said
    assert said.count("error:") == 1


def test_what_the_other_direction_takes_over_is_refused_once(tidegate, overload_file):
    key = "topology.dumbbell.bottleneck.buffer=0packets"
    assert typed(tidegate, "check", overload_file, "--set", key).count("error:") == 1


def test_a_key_that_is_cut_short_is_completed(tidegate, overload_file):
    said = typed(tidegate, "compare", overload_file, "--queue", "red:min=5")
    assert "did you mean `min_th`?" in said


def test_an_argument_that_is_no_utf_8_is_told_so(tidegate_process, overload_file):
    for more in (["--set", "name=sch\udcf6n"], ["--set", "traffic.web.size=\udcf6"]):
        done = tidegate_process("check", overload_file, *more)
        assert done.returncode == 2
        assert "no text in UTF-8" in done.stderr
        assert "Traceback" not in done.stderr
