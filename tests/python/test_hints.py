"""The command that a run or a comparison names to try next: it is about the same."""

import json
import shlex
from pathlib import Path

import tidegate as laboratory
from test_warnings import settings
from tidegate.show.next_command import Typed

ROOT = Path(__file__).parents[2]


def next_command(told: str) -> list[str]:
    """The words of the command that a run or a comparison names."""
    (line,) = [line for line in told.splitlines() if line.startswith("Try next")]
    return shlex.split(line.partition(": ")[2])


MINE = """
class Mine:
    def start(self): pass
    def update(self, sample): return 1.0
"""


def test_the_command_to_try_next_keeps_what_was_set(tidegate, overload_file):
    """Of each option the values that were given, but for what the new axis sets itself."""
    (overload_file.parent / "mine.py").write_text(MINE, encoding="utf-8")
    gate = {"port.bottleneck.gate": {"law": "close-probe", "beta": 0.3}}
    more = ["duration=6s", 'traffic.web.size="20kB"']
    asked = [*settings(gate), "--set", more[0], "--set", more[1], "--law", "mine.py:Mine"]
    done = tidegate("run", overload_file, *asked)
    assert done.returncode == 0, done.stderr
    words = next_command(done.stderr)
    gates = ["--gate", "none,close-probe:beta=0.3"]
    kept = ["--set", more[0], "--set", more[1], "--law", "mine.py:Mine"]
    assert words == ["tidegate", "compare", str(overload_file), *gates, *kept]


def test_the_command_after_a_comparison_keeps_the_port_and_what_was_set(tidegate, overload_file):
    """Ten sessions a second are fewer than the link completes: a lower rate is next."""
    gates = ["--gate", "none,fixed-rate:10", "--seeds", "3", "--no-plots"]
    asked = ["--port", "bottleneck", "--set", "sample=2s"]
    done = tidegate("compare", overload_file, *gates, *asked)
    assert done.returncode == 0, done.stderr
    words = next_command(done.stderr)
    assert words[:4] == ["tidegate", "compare", str(overload_file), "--gate"]
    assert words[4].startswith("none,fixed-rate:")
    assert words[5:] == ["--set", "sample=2s", "--port", "bottleneck"]


def test_the_port_that_is_full_is_named_after_a_run(tidegate, overload_file):
    """ACKs of 60 sessions a second fill 20 kbit/s of the way back, and the bottleneck is empty."""
    slow = {"topology.dumbbell.bottleneck.reverse": {"rate": "20kbit"}, "duration": "6s"}
    ungated = {"port.bottleneck.gate": {"law": "none"}}
    done = tidegate("run", overload_file, *settings(slow | ungated))
    assert done.returncode == 0, done.stderr
    words = next_command(done.stderr)
    assert words[words.index("--port") + 1] == "bottleneck.reverse"


def test_where_no_port_is_the_usual_one_a_port_is_named_that_there_is(tidegate, tmp_path):
    text = (ROOT / "scenarios" / "two-ways.toml").read_text(encoding="utf-8")
    (tmp_path / "ways.toml").write_text(text.partition("[variant.")[0], encoding="utf-8")
    done = tidegate("run", tmp_path / "ways.toml", "--set", "duration=4s", "--set", "warmup=1s")
    assert done.returncode == 0, done.stderr
    words = next_command(done.stderr)
    assert words[words.index("--port") + 1] == "short", "where its gate is"


def test_the_variants_of_a_file_are_what_to_try_next(tidegate, overload_file):
    with overload_file.open("a", encoding="utf-8") as file:
        file.write('\n[variant.slow]\ntopology.dumbbell.bottleneck.rate = "1Mbit"\n')
    done = tidegate("run", overload_file, "--set", "duration=6s")
    assert done.returncode == 0, done.stderr
    assert next_command(done.stderr)[2:] == [str(overload_file), "--set", "duration=6s"]


def test_where_ports_were_set_apart_one_is_compared_and_the_others_keep_theirs(tidegate, tmp_path):
    text = (ROOT / "scenarios" / "two-ways.toml").read_text(encoding="utf-8")
    (tmp_path / "ways.toml").write_text(text.partition("[variant.")[0], encoding="utf-8")
    laws = [
        f'port.{port}.gate={{ law = "fixed-rate", rate = "{rate}/s" }}'
        for port, rate in (("short", 5), ("long", 3))
    ]
    asked = ["duration=4s", "warmup=1s", *laws]
    sets = [each for setting in asked for each in ("--set", setting)]
    done = tidegate("run", tmp_path / "ways.toml", *sets)
    assert done.returncode == 0, done.stderr
    words = next_command(done.stderr)
    port = words[words.index("--port") + 1]
    mine, other = laws if port == "short" else laws[::-1]
    rate = 5 if port == "short" else 3
    assert words[words.index("--gate") + 1] == f"none,fixed-rate:rate={rate}/s"
    assert other in words
    assert mine not in words


GUESTS = """
name = "guests"
duration = "4s"
[guests]
place = "cafe"
people = 20
[topology.dumbbell]
pairs = 20
access = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "10ms", buffer = "1bdp" }
"""


def test_a_queue_that_was_set_on_the_way_back_stays(tidegate, tmp_path):
    (tmp_path / "guests.toml").write_text(GUESTS, encoding="utf-8")
    back = 'port."bottleneck.reverse".queue={ law = "pie" }'
    done = tidegate("run", tmp_path / "guests.toml", "--set", back)
    assert done.returncode == 0, done.stderr
    queues = ["--queue", "drop-tail,fq-codel,cake"]
    assert next_command(done.stderr)[3:] == [*queues, "--set", back]


def test_a_key_is_set_once_however_it_was_quoted():
    typed = Typed("a.toml", ("traffic.'web'.arrivals.poisson=60/s", "traffic.webs.size=1kB"))
    words = shlex.split(typed.compare(sets=["traffic.web.arrivals.poisson=5/s"]))
    assert words[3:] == [
        *("--set", "traffic.webs.size=1kB"),
        *("--set", "traffic.web.arrivals.poisson=5/s"),
    ]


def test_packets_of_udp_get_no_advice_about_gates(tidegate, overload_file):
    udp = {"traffic.web.transport": {"udp": {"rate": "100kbit"}}, "duration": "6s"}
    asked = settings(udp)
    done = tidegate("run", overload_file, *asked)
    assert "--gate" not in done.stderr.split("Try next")[1]
    gates = ["--gate", "none,fixed-rate:1", "--seeds", "3", "--no-plots"]
    done = tidegate("compare", overload_file, *gates, *asked)
    assert done.returncode == 0, done.stderr
    assert "--gate" not in done.stderr.partition("Try next")[2]


def test_a_scenario_that_can_be_read_but_once_is_run(tidegate_process, overload):
    """A pipe is empty the second time."""
    done = tidegate_process("run", "/dev/stdin", "--set", "duration=6s", input=overload)
    assert done.returncode == 0, done.stderr
    assert next_command(done.stderr)[1:3] == ["compare", "/dev/stdin"]


def test_what_to_try_next_ends_no_run(tidegate, overload_file):
    """A variant without a name is an error of a comparison: the run does not need it."""
    with overload_file.open("a", encoding="utf-8") as file:
        file.write('\n[variant.""]\nport.bottleneck.gate.beta = 0.3\n')
    done = tidegate("run", overload_file, "--set", "duration=6s")
    assert done.returncode == 0, done.stderr
    assert "Data and summary" in done.stderr


def test_the_command_to_try_next_is_about_the_variant_that_was_run(tidegate, overload_file):
    """A comparison has no --variant: what the variant changes is set, its gate is compared."""
    with overload_file.open("a", encoding="utf-8") as file:
        file.write(
            '\n[variant.slow]\ntopology.dumbbell.bottleneck.rate = "1Mbit"\n'
            'port.bottleneck.gate = { law = "fixed-rate", rate = "7/s" }\n'
        )
    quick = ("--set", "duration=6s")
    done = tidegate("run", overload_file, "--variant", "slow", *quick)
    assert done.returncode == 0, done.stderr
    words = next_command(done.stderr)
    assert words[words.index("--gate") + 1] == "none,fixed-rate:rate=7/s"
    sets = [words[place + 1] for place, word in enumerate(words) if word == "--set"]
    assert sets == ["duration=6s", 'topology.dumbbell.bottleneck.rate="1Mbit"']
    again = tidegate(*words[1:], "--seeds", "1", "--no-plots", "--out", "next")
    assert again.returncode == 0, again.stderr
    alone = json.loads(tidegate("run", overload_file, "--variant", "slow", *quick, "--json").stdout)
    rows = {
        row["settings"]["gate"]: row for row in laboratory.load(overload_file.parent / "next").rows
    }
    assert rows["fixed-rate:rate=7/s"]["result_hash"] == alone["result_hash"]
