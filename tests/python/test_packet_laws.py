"""Laws in Python that see packets: queue laws, controls of senders, filters."""

import copy
import json
import math
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import tidegate
from tidegate import Next, Signal, Verdict

EXAMPLES = Path(__file__).parents[2] / "examples"
LINK = """
name = "long-and-short"
duration = "12s"
[topology.dumbbell]
pairs = 3
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "5Mbit", delay = "15ms", buffer = "100packets" }
[traffic.long]
arrivals = { at = ["0s", "1s"] }
size = "unlimited"
[traffic.web]
arrivals = { poisson = "8/s" }
size = { pareto = { mean = "20kB", shape = 1.5 } }
"""
QUEUE = "port.bottleneck.queue"
OWN = '{ law = "python", name = "mine" }'


def example(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def outcome(law=None, text=LINK, **settings):
    """The digest of a run with these settings; `__` is for a dot."""
    settings = {key.replace("__", "."): value for key, value in settings.items()}
    laws = None if law is None else {"mine": law}
    return tidegate.run(text, settings=settings, laws=laws).summary["result_hash"]


# The built-in laws are the expected values: they are in Rust, and have tests against the RFCs.


@pytest.mark.parametrize("over", ["{}", '{{ law = "dqm", over = {} }}'])
def test_codel_in_python_does_what_codel_does(over):
    codel = example("own_queue_law")["CoDel"]
    built_in = outcome(port__bottleneck__queue=over.format('{ law = "codel" }'))
    assert outcome(codel, port__bottleneck__queue=over.format(OWN)) == built_in
    assert outcome(codel(), port__bottleneck__queue=over.format(OWN)) == built_in, "an object"
    assert outcome() != built_in, "nor does drop-tail do the same"


@pytest.mark.parametrize("profile", ["rfc", "linux"])
def test_reno_in_python_does_what_reno_does(profile):
    reno = example("own_control")["Reno"]
    tcp = f'{{ tcp = {{ control = "reno", profile = "{profile}" }} }}'
    mine = f'{{ python = {{ name = "mine", profile = "{profile}" }} }}'
    built_in = outcome(traffic__long__transport=tcp, traffic__web__transport=tcp)
    both = outcome(reno, traffic__long__transport=mine, traffic__web__transport=mine)
    beside = outcome(reno, traffic__long__transport=mine, traffic__web__transport=tcp)
    assert both == beside == built_in
    cubic = tcp.replace("reno", "cubic")
    assert outcome(traffic__long__transport=cubic, traffic__web__transport=tcp) != built_in


CloseProbe = example("own_close_probe")["CloseProbe"]


def test_close_probe_in_python_does_what_close_probe_does(overload):
    """The table `events` too: what was decided, and from what."""
    both = []
    for law in ('{ law = "close-probe" }', '{ law = "python", name = "close-probe" }'):
        laws = {"close-probe": CloseProbe()}
        both.append(tidegate.run(overload, settings={"port.bottleneck.gate": law}, laws=laws))
    assert set(both[0].events["phase"].cast(str)) >= {"close", "probe"}
    assert both[0].summary["result_hash"] == both[1].summary["result_hash"]


def test_a_decision_of_none_leaves_no_row(overload):
    class Silent(CloseProbe):
        def update(self, now_s, view, counts, knobs):
            return super().update(now_s, view, counts, knobs)[0], None

    gate = {"port.bottleneck.gate": '{ law = "python", name = "mine" }'}
    assert tidegate.run(overload, settings=gate, laws={"mine": Silent()}).events.height == 0


PHASES = """
import tidegate

class Counting:
    def start(self, now_s, knobs):
        return now_s + 0.01

    def update(self, now_s, view, counts, knobs):
        return now_s + 0.01, tidegate.Decision(f"at {now_s}", 0.0, 0.0)

gate = {"port.bottleneck.gate": '{ law = "python", name = "mine" }'}
tidegate.run("small.toml", settings=gate, laws={"mine": Counting()})
"""


def test_phases_are_few(overload_file):
    """They are kept as long as the process runs, so this one has its own."""
    command = [sys.executable, "-c", PHASES]
    done = subprocess.run(
        command, cwd=overload_file.parent, capture_output=True, text=True, check=False
    )
    assert "ValueError: laws have named more than 1000 phases" in done.stderr


class Red:
    """RED with an average and a straight line, to see the random numbers of the port."""

    def __init__(self):
        self.drawn = []

    def arrive(self, packet, waiting, found, draw):
        self.drawn.append(draw.uniform())
        return Verdict.PASS if found.fits else Verdict.FULL


def test_random_numbers_come_from_the_seed():
    drawn = []
    for seed in (1, 1, 2):
        law = Red()
        tidegate.run(LINK, seed=seed, settings={QUEUE: OWN, "duration": "1s"}, laws={"mine": law})
        drawn.append(law.drawn)
    assert len(drawn[0]) > 100
    assert all(0 <= number < 1 for number in drawn[0])
    assert drawn[0] == drawn[1]
    assert drawn[0][:10] != drawn[2][:10]


class Policer:
    """A bucket of bytes in whole numbers, as the built-in policer has it."""

    def __init__(self):
        self.level = self.depth = 15_000 * 8 * 10**12
        self.at = 0

    def arrive(self, packet, now_s, draw):
        came = (packet.at_ps - self.at) * 3_000_000
        self.level, self.at = min(self.level + came, self.depth), packet.at_ps
        cost = packet.size * 8 * 10**12
        if cost > self.level:
            return Verdict.DROP
        self.level -= cost
        return Verdict.PASS


def test_a_filter_in_python_does_what_the_policer_does():
    police = {"port.bottleneck.police": '{ rate = "3Mbit", burst = "15kB" }'}
    built_in = tidegate.run(LINK, settings=police)
    mine = tidegate.run(LINK, settings={"port.bottleneck.filter": OWN}, laws={"mine": Policer()})
    assert mine.flows.equals(built_in.flows)
    dropped = mine.ports["drops_filtered"].sum()
    assert dropped == built_in.ports["drops_policed"].sum() > 50


def test_a_filter_is_asked_before_the_gate_and_hears_what_becomes_of_packets(overload):
    class Watches:
        def __init__(self):
            self.told = {"arrived": 0, "enqueued": 0, "departed": 0}
            self.reasons = {}

        def arrive(self, packet, now_s, draw):
            self.told["arrived"] += 1
            return Verdict.DROP if packet.syn and packet.flow % 2 else Verdict.PASS

        def enqueued(self, packet, now_s):
            self.told["enqueued"] += 1

        def dropped(self, packet, reason, now_s):
            self.reasons[reason] = self.reasons.get(reason, 0) + 1

        def depart(self, packet, now_s):
            self.told["departed"] += 1

    law = Watches()
    settings = {
        "port.bottleneck.filter": OWN,
        "port.bottleneck.gate": '{ law = "fixed-rate", rate = "20/s" }',
    }
    ports = tidegate.run(overload, settings=settings, laws={"mine": law}).ports
    port = ports.filter(ports["port"].cast(str) == "bottleneck")
    assert law.told["arrived"] == port["arrived_packets"].sum()
    assert law.reasons["filtered"] == port["drops_filtered"].sum() > 0
    assert law.reasons["session_refused"] == port["drops_session_refused"].sum() > 0
    lost = sum(law.reasons.values())
    assert law.told["enqueued"] == law.told["arrived"] - lost
    assert 0 <= law.told["enqueued"] - law.told["departed"] < 100, "what waits at the end"


class Fifo:
    """Sends in the order in which `taken` was told, and notes what is wrong."""

    def __init__(self):
        self.line = []

    def arrive(self, packet, waiting, found, draw):
        if found.fits:
            return Verdict.PASS
        oldest = self.line.pop(0)
        assert oldest in waiting
        waiting.evict(oldest)
        assert oldest not in waiting
        return Verdict.PASS

    def taken(self, packet, waiting):
        assert packet == waiting.newest
        self.line.append(packet)

    def next(self, waiting, slot, draw):
        assert waiting.packets() == self.line
        assert slot.start_s >= self.line[0].at_s
        return Next.send(self.line.pop(0))


def test_packets_can_be_kept_in_lists_and_evicted():
    run = tidegate.run(LINK, settings={QUEUE: OWN}, laws={"mine": Fifo})
    port = run.ports.filter(run.ports["port"].cast(str) == "bottleneck")
    assert port["drops_evicted"].sum() > 10
    assert port["drops_queue_full"].sum() == 0


def test_a_law_without_arrive_takes_what_fits_and_one_without_next_sends_the_oldest():
    class Sends:
        def next(self, waiting, slot, draw):
            return Next.send(waiting.oldest)

    class Takes:
        def arrive(self, packet, waiting, found, draw):
            return Verdict.PASS if found.fits else Verdict.FULL

    hashes = {outcome(law, port__bottleneck__queue=OWN) for law in (Sends, Takes)}
    assert hashes == {outcome()}, "both are drop-tail"


def test_a_law_with_a_clock_decides_and_holds_packets_back():
    class Shaper:
        """Two megabits a second: 1500 B each 6 ms."""

        def __init__(self):
            self.free_s, self.views = 0.0, []

        def arrive(self, packet, waiting, found, draw):
            return Verdict.PASS if found.fits else Verdict.FULL

        def next(self, waiting, slot, draw):
            if slot.start_s < self.free_s:
                return Next.not_before(self.free_s)
            self.free_s = slot.start_s + waiting.oldest.size * 8 / 2e6
            return Next.send(waiting.oldest)

        def start(self, now_s):
            return now_s + 1.0

        def tick(self, now_s, view):
            self.views.append(view)
            return now_s + 1.0, tidegate.Decision("shaping", 2e6, view.queue_packets)

    law = Shaper()
    run = tidegate.run(LINK, settings={QUEUE: OWN}, laws={"mine": law})
    assert run.events["law"].cast(str).unique().to_list() == ["mine"]
    assert run.events.height == len(law.views) == 12
    sent = run.ports.filter(run.ports["port"].cast(str) == "bottleneck")["departed_bytes"].sum()
    assert sent * 8 / 12 == pytest.approx(2e6, rel=0.03)


def test_every_port_and_every_run_has_a_law_of_its_own():
    made = []

    class Counts:
        def __init__(self):
            self.arrived = 0
            made.append(self)

        def arrive(self, packet, waiting, found, draw):
            self.arrived += 1
            return Verdict.PASS if found.fits else Verdict.FULL

    settings = {QUEUE: OWN, "port.bottleneck.reverse.queue": OWN, "duration": "2s"}
    settings = {
        key.replace("bottleneck.reverse", '"bottleneck.reverse"'): value
        for key, value in settings.items()
    }
    run = tidegate.run(LINK, settings=settings, laws={"mine": Counts})
    arrived = {
        str(name): run.ports.filter(run.ports["port"].cast(str) == name)["arrived_packets"].sum()
        for name in ("bottleneck", "bottleneck.reverse")
    }
    assert [law.arrived for law in made] == list(arrived.values())
    one = Counts()
    tidegate.run(LINK, settings=settings, laws={"mine": one})
    assert one.arrived == arrived["bottleneck"], "the first port has the very object"


def test_several_workers_give_the_same_results_as_one():
    laws = {"mine": example("own_queue_law")["CoDel"](), "reno": example("own_control")["Reno"]}
    rows = []
    for workers in (1, 3):
        done = tidegate.compare(
            LINK,
            queues=["codel", {"law": "python", "name": "mine"}],
            seeds=2,
            settings={"traffic.long.transport": {"python": {"name": "reno"}}, "duration": "6s"},
            laws=copy.deepcopy(laws),
            workers=workers,
        )
        rows.append([row["result_hash"] for row in done.rows])
    assert rows[0] == rows[1]
    hashes = {(row["settings"]["queue"], row["seed"]): row["result_hash"] for row in done.rows}
    assert [hashes["codel", seed] for seed in (1, 2)] == [hashes["mine", seed] for seed in (1, 2)]


# What goes wrong


class Law:
    """A queue law; each of its methods is replaced in turn."""

    def arrive(self, packet, waiting, found, draw):
        return Verdict.PASS if found.fits else Verdict.FULL

    def next(self, waiting, slot, draw):
        return Next.send(waiting.oldest)


def law(**methods):
    return type("Mine", (Law,), methods)


def forgets(self, *arguments):
    return None


def divides(self, *arguments):
    return 1 // 0


def stale(self, waiting, slot, draw):
    self.sent = getattr(self, "sent", None) or waiting.oldest
    return Next.send(self.sent)


@pytest.mark.parametrize(
    ("given", "error", "says", "note"),
    [
        (
            law(arrive=forgets),
            TypeError,
            "must return a tidegate.Verdict.*it returned None",
            "in `arrive` of the queue law `mine`, at 0.001",
        ),
        (
            law(next=forgets),
            TypeError,
            "must return a tidegate.Next.*it returned None",
            "in `next`",
        ),
        (law(arrive=divides), ZeroDivisionError, "", "in `arrive` of the queue law `mine`"),
        (
            law(arrive=lambda *_: Verdict.PASS),
            ValueError,
            "does not fit.*Verdict.FULL",
            "in `arrive`",
        ),
        (law(next=stale), ValueError, "does not wait", "in `next`"),
        (law(next=lambda *_: Next.not_before(0.0)), ValueError, "not later than", "in `next`"),
        (law(next=lambda *_: Next.not_before(math.nan)), ValueError, "not a number", "in `next`"),
        (law(taken=divides), ZeroDivisionError, "", "in `taken`"),
        (
            law(start=lambda _, now_s: now_s, tick=divides),
            ValueError,
            "later than now",
            "in `start`",
        ),
        (
            law(start=lambda _, now_s: 2.5, tick=divides),
            ZeroDivisionError,
            "",
            "in `tick` of the queue law `mine`, at 2.5 s of simulated time",
        ),
        (law(start=divides), TypeError, "one of `start` and `tick`", "before the run"),
        (law(__init__=divides), ZeroDivisionError, "", "before the run"),
        (object(), TypeError, "lacks the method `arrive`", "before the run"),
    ],
)
def test_a_queue_law_that_fails_ends_the_run_and_says_where(given, error, says, note):
    with pytest.raises(error, match=f"(?s){says}") as caught:
        outcome(given, port__bottleneck__queue=OWN)
    assert note in caught.value.__notes__[0]


def test_the_queue_cannot_be_looked_at_later():
    kept = []

    def arrive(self, packet, waiting, found, draw):
        kept.append(waiting)
        return Verdict.PASS if found.fits else Verdict.FULL

    outcome(law(arrive=arrive), port__bottleneck__queue=OWN, duration="1s")
    with pytest.raises(RuntimeError, match="during a call"):
        len(kept[0])


class Window:
    """A control with a fixed window; each of its methods is replaced in turn."""

    def __init__(self, tcp):
        self.cwnd = 4

    def on_ack(self, sample):
        pass

    def on_congestion(self, signal, at):
        pass

    def on_timeout(self, at, again):
        pass


def control(**methods):
    return type("Mine", (Window,), methods)


def with_cwnd(value):
    def on_ack(self, sample):
        self.cwnd = value

    return control(on_ack=on_ack)


def with_gap(value):
    def begin(self, tcp):
        self.cwnd, self.gap_s = 4, value

    return control(__init__=begin)


MINE = '{ python = { name = "mine" } }'


@pytest.mark.parametrize(
    ("given", "error", "says", "note"),
    [
        (
            with_cwnd(math.nan),
            ValueError,
            "`cwnd` must be.*from 0; it is NaN",
            "in `on_ack` of the control `mine`, at 0.0",
        ),
        (with_cwnd(-1.0), ValueError, "it is -1", "in `on_ack`"),
        (with_cwnd(math.inf), ValueError, "it is inf", "in `on_ack`"),
        (with_cwnd("10"), TypeError, "`cwnd` must be a number; it is '10'", "in `on_ack`"),
        (with_gap(math.nan), ValueError, "`gap_s` must be", "in `__init__`"),
        (control(on_ack=divides), ZeroDivisionError, "", "in `on_ack`"),
        (control(__init__=divides), ZeroDivisionError, "", "in `__init__`"),
        (control(__init__=forgets), AttributeError, "cwnd", "in `__init__`"),
        (control(on_ack=None), TypeError, "lacks the method `on_ack`", "before the run"),
        (control(samples_rate="yes"), TypeError, "must be True or False", "in `__init__`"),
        (Window(None), TypeError, "hand in the class", "before the run"),
    ],
)
def test_a_control_that_fails_ends_the_run_and_says_where(given, error, says, note):
    with pytest.raises(error, match=f"(?s){says}") as caught:
        outcome(given, traffic__long__transport=MINE)
    assert note in caught.value.__notes__[0]


def test_a_fixed_window_sends_a_window_a_round_trip():
    # two flows, 4 segments of 1460 B in a round trip of at least 34 ms
    text = LINK[: LINK.index("[traffic.web]")]
    run = tidegate.run(text, settings={"traffic.long.transport": MINE}, laws={"mine": Window})
    each = run.flows["delivered_bytes"].to_list()[0] / 12 / (4 * 1460)
    assert 20 < each <= 1 / 0.034


def test_a_pace_spreads_packets():
    # 1460 B each 10 ms is 1.17 Mbit/s, whatever the window
    def begin(self, tcp):
        self.cwnd, self.gap_s = 1000.0, 0.01

    text = LINK[: LINK.index("[traffic.web]")]
    given = {"mine": control(__init__=begin)}
    run = tidegate.run(text, settings={"traffic.long.transport": MINE}, laws=given)
    assert run.flows["delivered_bytes"].to_list()[0] / 1460 == pytest.approx(1200, rel=0.01)


def test_a_lost_syn_and_a_mark_reach_the_control():
    signals = set()

    class Marked(Window):
        def __init__(self, tcp):
            assert tcp.ecn
            self.cwnd, self.ssthresh = 20.0, 100.0

        def on_congestion(self, signal, at):
            signals.add(signal)
            assert at.flight >= 0

    settings = {
        QUEUE: '{ law = "codel", ecn = true, target = "1ms" }',
        "traffic.long.transport": '{ python = { name = "mine", ecn = true } }',
    }
    tidegate.run(LINK, settings=settings, laws={"mine": Marked})
    assert Signal.MARK in signals


@pytest.mark.parametrize(
    "key", ["port.bottleneck.queue", "port.bottleneck.filter", "traffic.long.transport"]
)
def test_a_law_that_nobody_gave_is_named_before_the_first_run(key):
    value = MINE if "transport" in key else OWN
    with pytest.raises(tidegate.ScenarioError, match="names `mine`"):
        tidegate.run(LINK, settings={key: value})
    with pytest.raises(tidegate.ScenarioError, match="names `mine`"):
        tidegate.compare(LINK, vary={key: [value]}, seeds=1)


@pytest.mark.parametrize("transport", ['"python"', '{ python = { name = "" } }'])
def test_a_control_needs_a_name(transport):
    with pytest.raises(tidegate.ScenarioError, match="a law needs a name"):
        tidegate.run(LINK, settings={"traffic.long.transport": transport})


def test_the_command_line_takes_all_three_kinds_from_files(tmp_path, request):
    """`--law FILE.py:NAME`, and the name in a list of queues."""
    path = tmp_path / "link.toml"
    path.write_text(LINK, encoding="utf-8")
    done = request.getfixturevalue("tidegate")(
        *("compare", path, "--queue", "codel,CoDel", "--seeds", 1, "--json"),
        *("--law", EXAMPLES / "own_queue_law.py:CoDel", "--law", EXAMPLES / "own_control.py:Reno"),
        *("--law", EXAMPLES / "own_filter.py:PerFlow"),
        *("--set", 'traffic.long.transport={ python = { name = "Reno" } }'),
        *("--set", 'port.bottleneck.filter={ law = "python", name = "PerFlow" }'),
        *("--set", "duration=4s"),
    )
    assert done.returncode == 0, done.stderr
    first, second = (row["result_hash"] for row in json.loads(done.stdout)["rows"])
    assert first == second


def test_what_goes_wrong_on_the_command_line_ends_with_the_law_and_the_time(tmp_path, request):
    path = tmp_path / "link.toml"
    path.write_text(LINK, encoding="utf-8")
    text = (
        "class Mine:\n    def arrive(self, packet, waiting, found, draw):\n        return 1 // 0\n"
    )
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    run = request.getfixturevalue("tidegate")
    asked = ("run", path, "--set", 'port.bottleneck.queue={ law = "python", name = "Mine" }')
    done = run(*asked, "--law", "mine.py:Mine")
    assert done.returncode == 1
    *_, raised, note, last = done.stderr.splitlines()
    assert raised.startswith("ZeroDivisionError")
    assert note.startswith("in `arrive` of the queue law `Mine`, at 0.001")
    assert last == "tidegate: the run failed in a law of your own."
    (tmp_path / "none.py").write_text(text.replace("return 1 // 0", "pass"), encoding="utf-8")
    done = run(*asked, "--law", "none.py:Mine")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "it returned None" in done.stderr


def test_names_of_the_package_are_looked_up_once():
    """A law that says `tidegate.Verdict.PASS` for each packet finds it in the module."""
    assert tidegate.Verdict is vars(tidegate)["Verdict"]
