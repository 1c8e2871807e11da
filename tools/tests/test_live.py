"""Hosts of the lab's scenarios are those of the profile `linux`; its users load pages."""

import asyncio
import errno
import math
import re
import socket
import subprocess
import sys
import tomllib
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import MagicMock

import pytest
from tools.live import (
    alone,
    cells,
    demo,
    figures,
    light,
    loads,
    matrix,
    matrix_page,
    pages_predicted,
    quic_pages,
    today,
    validate,
)
from tools.live import pages as live_pages
from tools.live.measure import Flow, simulate
from tools.live.page_users import DOCUMENT, OBJECT, OBJECTS, NoRoom, Plan, Run, Streams

import tidegate
from tidegate.hosts import lab

ROOT = Path(__file__).parents[2]
CROWDS = [figures.crowd(), *light.LOADS.values(), {"pages": loads.pages(20, "sender")}]
DOCUMENTS = [
    *(case.document for case in validate.cases()),
    *(cell.document() for cell in alone.cells("cubic")),
    *(loads.document(10, traffic) for traffic in CROWDS),
    *(today.document(10, port) for port in today.CELLS.values()),
    tomllib.loads(demo.SCENARIO.read_text(encoding="utf-8")),
]


# What this kernel was seen to do is the profile's: a setting beside it would be a second way.
@pytest.mark.parametrize("said", DOCUMENTS)
def test_hosts_are_those_of_the_profile(said: dict[str, Any]) -> None:
    for traffic in said["traffic"].values():
        assert traffic["transport"]["tcp"].keys() <= {"profile", "control"}
        assert traffic["transport"]["tcp"]["profile"] == "linux"


# The lab has all sessions of an end in one kernel, whose timers fire together; hosts of their own
# would fire at instants of their own.
@pytest.mark.parametrize("said", DOCUMENTS)
def test_one_host_at_either_end(said: dict[str, Any]) -> None:
    assert said["topology"]["dumbbell"]["pairs"] == 1


# A timer of 1 s, of 250 ticks, is looked at every 32 ms (kernel/time/timer.c): SYNs that were lost
# come again at instants that are so far apart, by the clock of the one host, whenever they started.
def test_its_timers_fire_together() -> None:
    pages = {**loads.pages(200, "sender"), "size": "1kB"}
    said = loads.document(4, {"pages": pages}, buffer="3000B")
    flows, _ = simulate(said, 1, {"topology.dumbbell.bottleneck.loss": 0.9})
    retried = [flow.admitted for flow in flows if flow.admitted > flow.start + 0.5]
    assert len(retried) > 20
    step = 0.032
    offsets = sorted(at % step for at in retried)
    around = zip(offsets, [*offsets[1:], offsets[0] + step], strict=True)
    assert max(after - at for at, after in around) > 0.8 * step


# By hand, of 30 s: three that came in the first 20 s are judged, two of them were through within
# 10 s, after 2 and 4 s. One came later. Three were completed in all. Of 40 packets 6 were sent
# again, 3 of them by the one that was never through.
def test_who_came_too_late_to_be_judged_is_left_out() -> None:
    def flow(start: float, closed: float) -> Flow:
        again = 3 if math.isnan(closed) else 1
        return Flow(start, start, closed, sent=10, again=again, delivered=1, size=1)

    flows = [flow(1, 3), flow(5, 9), flow(8, math.nan), flow(25, 27)]
    assert today.served(flows, 30) == today.Served(2 / 3, 3.0, 0.1, 0.15)


class Refused(Run):
    """A user of whose connections only the first is ever admitted."""

    asked: ClassVar[list[int]] = []

    async def connect(self, *_: object) -> Streams:
        if self.asked:
            await asyncio.sleep(3600)
        return MagicMock(), MagicMock()

    async def fetch(self, _: Streams, size: int) -> None:
        self.asked.append(size)
        await asyncio.sleep(0)


# As in the simulator, and in a browser: the last object ends a page, not the last connection.
def test_a_page_is_loaded_by_the_connections_that_are_admitted() -> None:
    user = Refused(Plan("", 0, "10.79", 1, ((0, 1),), patience=1))
    asyncio.run(user.load(0))
    assert "load_s" in user.rows[0]
    assert user.asked == [DOCUMENT] + [OBJECT] * OBJECTS
    assert user.served == 1


# By hand: 5 Mbit/s carry 5e6 / (1.07 * 8 * 102000) = 5.73 pages a second, and half more is asked
# for. Of two users one stays and has one of fifty addresses; the others have one each.
def test_those_who_stay_share_fifty_addresses() -> None:
    plan = live_pages.Cell("provider", "none", "stay and once").plan()
    assert plan.steps[0][1] == pytest.approx(8.59, abs=0.01)
    assert (plan.stay, plan.once, plan.greedy) == (50, 0.5, 0)
    run = Run(replace(plan, steps=((0, 1000),)))
    came = []

    async def load(user: int) -> None:
        came.append(run.address(user))
        await asyncio.sleep(0)

    run.load = load  # type: ignore[method-assign]

    async def come() -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(run.come(), 1)

    asyncio.run(come())
    staying = [address for address in came if address.startswith("10.79.220.")]
    assert 0.4 < len(staying) / len(came) < 0.6
    assert len(set(staying)) <= 50
    others = [address for address in came if address not in staying]
    assert len(set(others)) == len(others)


# By hand: of five who came, four got all after 1, 2, 3 and 9 s: the one in the middle of these took
# 3 s. With nobody there is no time.
def test_the_times_are_of_those_who_got_all() -> None:
    rows = [{"load_s": each} for each in (3, 1, 9, 2)] + [{}]
    assert live_pages.spread(rows) == {"came": 5, "done": 4, "p50_s": 3, "p95_s": 9}
    nobody = live_pages.spread([{}])
    assert nobody["done"] == 0
    assert math.isnan(nobody["p50_s"])


# With one file fewer than it needs a user is no user who waits for the network: the run is over.
@pytest.mark.parametrize("reason", [errno.EMFILE, errno.ENOBUFS, errno.EADDRNOTAVAIL])
def test_a_connection_that_this_machine_has_no_room_for_ends_the_users(
    reason: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object, **__: object) -> Streams:
        raise OSError(reason, "no")

    monkeypatch.setattr(asyncio, "open_connection", refused)
    run = Run(Plan("", 0, "10.79", 1, ((0, 50),), patience=1))
    with pytest.raises(NoRoom, match="no room for a connection"):
        asyncio.run(run.whole())


def test_a_connection_that_is_refused_on_its_way_ends_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refused(*_: object, **__: object) -> Streams:
        raise OSError(errno.ECONNREFUSED, "no")

    monkeypatch.setattr(asyncio, "open_connection", refused)
    run = Run(Plan("", 0, "10.79", 0.2, ((0, 50),), patience=1))
    asyncio.run(run.whole())
    assert run.rows
    assert all("load_s" not in row for row in run.rows)


# Of the lab (`Lab.gate`): the router shapes what leaves to the users alone. A prediction in which
# what comes in crosses a link of 10 Mbit/s spreads the SYNs whose timers have fired together.
def test_predictions_have_the_way_back_of_a_lab_with_a_shaper() -> None:
    cell = live_pages.Cell("drop-tail", "none", "steady")
    for predicted in (
        loads.shaped(10, figures.crowd()),
        pages_predicted.document(cell, pages_predicted.port(cell) or {}),
    ):
        bottleneck = predicted["topology"]["dumbbell"]["bottleneck"]
        assert bottleneck["rate"] in {"10Mbit", "5Mbit"}
        assert bottleneck["reverse"]["rate"] == live_pages.WIDE["rate"]
    assert figures.IN_THE_SIMULATOR["dqm"]["queue"]["refuse_at"] == "ingress"


# A seed has the same users in the lab and in a prediction, but for the tick at which they begin:
# others load half or twice as many pages.
def test_a_prediction_has_the_users_of_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = live_pages.Cell("drop-tail", "none", "moving load", seed=2)
    came: list[float] = []

    async def load(*_: object) -> None: ...

    async def sleep(seconds: float) -> None:
        came.append(seconds)
        if seconds >= cell.seconds:
            raise TimeoutError

    monkeypatch.setattr(Run, "load", load)
    monkeypatch.setattr(Run, "past", lambda _: 0.0)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(ExceptionGroup):
        asyncio.run(Run(cell.plan()).come())
    assert len(came) > 100
    for later in (0, 0.069):
        predicted = pages_predicted.document(cell, {}, later)
        web = predicted["traffic"]["web"]
        users = [float(each.removesuffix("s")) - later for each in web["arrivals"]["at"]]
        assert users == pytest.approx(came[:-1], abs=1e-6)
        assert float(predicted["duration"].removesuffix("s")) == cell.seconds + later
        other = pages_predicted.document(replace(cell, seed=1), {}, later)
        assert other["traffic"]["web"]["arrivals"]["at"] != web["arrivals"]["at"]


# Of `tools.live.page_users`: who has the page gives up what is not connected (`opening` is
# cancelled), and long flows begin at once. Of `tools.live.pages`: a third and two thirds of 40 s
# are 13 and 27 whole seconds, and the gate's file has a capacity that stays.
def test_a_prediction_has_the_link_and_the_habits_of_the_lab() -> None:
    cell = live_pages.Cell("drop-tail", "tide", "long flows")
    traffic = pages_predicted.document(cell, {}, 0.069)["traffic"]
    assert traffic["web"]["pages"]["cancels"]
    assert traffic["web"]["pages"]["server"] == "10us"
    assert traffic["long"]["arrivals"]["at"] == ["0.069000s"] * 5
    cell = replace(cell, load="moving capacity")
    said = pages_predicted.port(cell) or {}
    assert said["gate"]["capacity"] == "5Mbit"
    changes = pages_predicted.document(cell, said)["change"]
    assert [(float(each["at"].removesuffix("s")), each["to"]) for each in changes] == [
        (13, "2.5Mbit"),
        (27, "5Mbit"),
    ]
    assert pages_predicted.port(replace(cell, gate="onset = '0s'")) is None
    without = pages_predicted.document(replace(cell, sysctl="net.ipv4.tcp_sack=0"), said)
    assert without["traffic"]["web"]["transport"]["tcp"]["sack"] is False
    assert pages_predicted.predict(replace(cell, sysctl="net.ipv4.tcp_recovery=0"), (1,)) is None


# The queue of tbf and of HTB's classes has the packet whose turn it is: of 75 kB, 120 ms of the
# link, one packet of 1500 bytes does not wait. fq_codel has handed it out (qdisc_peek_dequeued).
def test_the_queue_of_a_prediction_is_without_the_packet_that_is_being_sent() -> None:
    def room(queue: str) -> str:
        document = pages_predicted.document(live_pages.Cell(queue, "none", "steady"), {})
        link: dict[str, str] = document["topology"]["dumbbell"]["bottleneck"]
        return link["buffer"]

    assert [room(queue) for queue in ("drop-tail", "htb")] == ["73500B"] * 2
    assert room("fq_codel") == "10240packets"


def test_a_prediction_lacks_what_is_taken_away() -> None:
    cell = live_pages.Cell("fq_codel", "none", "steady", seconds=3)

    def tcp(sysctl: str = "", without: tuple[str, ...] = ()) -> dict[str, Any]:
        document = pages_predicted.document(replace(cell, sysctl=sysctl), {}, 0, without)
        hosts: dict[str, Any] = document["traffic"]["web"]["transport"]["tcp"]
        return hosts

    both = live_pages.SEVERAL.join(["net.ipv4.tcp_timestamps=0", "net.ipv4.tcp_frto=0"])
    assert tcp(both)["timestamps"] is False
    taken = tcp("", ("undo", "quick-again"))
    assert (taken["undo"], taken["quick_again"]) == (False, 0)
    # a document of hosts that lack something is one that can be run
    assert pages_predicted.predict(replace(cell, sysctl=both), (1,), ("undo",))


def test_a_prediction_is_of_the_seeds_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def run(scenario: dict[str, Any], seed: int) -> MagicMock:
        asked.append((scenario["traffic"]["web"]["arrivals"]["at"][0], seed))
        return MagicMock(pages={"load_time_s": [1.0, None]})

    monkeypatch.setattr(tidegate, "run", run)
    cell = live_pages.Cell("drop-tail", "none", "steady", seconds=3)
    found = pages_predicted.predict(cell, (1, 3))
    assert found
    assert found["done"] == 1
    assert [seed for _, seed in asked] == [1] * 4 + [3] * 4
    assert len(set(asked)) == 8


def crowded(processors: int, takes: str, gate: str = "none") -> tidegate.Result:
    """Run ten downloads that begin at once, between hosts of one machine, or of several (none)."""
    begin = {"arrivals": {"at": ["1s"] * 10}}
    traffic = {"web": {**begin, "opens": "receiver", "size": "3kB", "transport": loads.HOST}}
    port = {"record": 1000, **loads.GATES[gate]}
    scenario = loads.shaped(5, traffic, port, access={"rate": "1000Gbit", "delay": "1ms"})
    if processors:
        scenario = loads.on_a_machine(scenario, takes, processors)
    scenario["port"]["bottleneck.reverse"] = {"record": 1000}
    return tidegate.run(scenario)


# Of the lab: its hosts share the processors of one kernel. By hand, with a packet in 1 ms: ten SYNs
# that are sent at once come to the router 1 ms apart; where clients are on two processors, two come
# at once. What the server sends shares the first one: its packets are 1 ms apart.
@pytest.mark.parametrize("processors", [1, 2])
def test_a_machine_sends_one_packet_at_a_time_with_each_processor(processors: int) -> None:
    found = list(crowded(processors, "1ms").arrivals.iter_rows(named=True))
    syns = [each["time_s"] for each in found if each["port"] == "bottleneck.reverse"][:10]
    gaps = [after - before for before, after in pairwise(syns)]
    assert max(gaps) == pytest.approx(1e-3, abs=1e-6)
    assert min(gaps) == pytest.approx(1e-3 if processors == 1 else 0, abs=1e-6)
    sent = [each["time_s"] for each in found if each["port"] == "bottleneck"]
    assert min(after - before for before, after in pairwise(sent)) > 0.999e-3


# The same but for the machine: where a packet takes no time, each download takes as long as between
# hosts of their own, with a gate too (both ways of the link have the names that it knows).
@pytest.mark.parametrize("gate", ["none", "tide"])
def test_a_machine_that_takes_no_time_changes_nothing(gate: str) -> None:
    plain, machine = (crowded(count, "0s", gate).flows for count in (0, 1))
    assert len(plain["fct_s"]) == 10
    assert list(machine["fct_s"]) == pytest.approx(list(plain["fct_s"]), abs=1e-5)


def test_a_prediction_has_the_machine_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def simulate(scenario: dict[str, Any], *_: object) -> tuple[Any, None]:
        asked.append(scenario)
        return None, None

    monkeypatch.setattr(figures, "simulate", simulate)
    monkeypatch.setattr(figures, "of_flows", lambda *_: None)
    monkeypatch.setattr(figures, "show", lambda *_: None)
    wanted = figures.Wanted(25, 1, ["tide"], 1, predict=True, back="7Mbit")
    figures.overload(replace(wanted, packet="4us", processors=3))
    (found,) = asked
    assert found["port"]["turn3"]["medium"]["gap"] == "4us"
    assert found["topology"]["links"]["bottleneck"]["reverse"]["rate"] == "7Mbit"
    assert {tuple(each["to"]) for each in found["traffic"].values()} == {
        ("client1", "client2", "client3")
    }
    assert found["port"]["bottleneck"]["gate"]["law"] == "tide"


SHORT_OF_FILES = """
import asyncio, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
from tools.live import page_server
sys.argv = ["page_server", "127.0.0.1", sys.argv[1]]
asyncio.run(page_server.main())
"""


# By hand: of 20 files the server has some for itself, so it cannot accept 20 connections. Those
# that wait in its backlog stand for their clients, who would wait for an answer.
def test_a_server_of_pages_without_files_ends_with_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    command = [sys.executable, "-c", SHORT_OF_FILES, str(address[1])]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "serving\n"
        clients: list[socket.socket] = []
        # the server may have ended before the last of them
        with suppress(ConnectionRefusedError):
            clients.extend(socket.create_connection(address) for _ in range(20))
        try:
            _, errors = server.communicate(timeout=20)
        finally:
            server.kill()
            for client in clients:
                client.close()
    assert server.returncode == 1
    assert "Too many open files" in errors


def test_pages_over_quic_say_what_delay_the_emulator_kept_and_what_was_lost() -> None:
    """Of the first link of a report, by hand: 320 came and 317 went."""
    report = """bottleneck
  delay    20.000 ms requested; 21.302 (p50), 30.863 (p95), 38.783 (p99), 39.503 at most
  packets  320 read, 317 written, 0 marked, 0 resets
bottleneck.reverse
  delay    20.000 ms requested; 21.796 (p50), 28.163 (p95), 32.655 (p99), 35.711 at most
  packets  135 read, 135 written, 0 marked, 0 resets
"""
    assert quic_pages.link(report) == "21.3, 30.9 | 3"


# Where there can be no lab the simulator still answers, and only what it has is asked.
def test_a_prediction_takes_no_lab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab, "obstacle", lambda **_: "no root")
    asked = ["figures", "--predict", "--seconds", "3", "--runs", "1"]
    monkeypatch.setattr("sys.argv", asked)
    assert figures.main() == 0
    printed = capsys.readouterr().out
    assert "dqm, simulator" in printed
    assert "drop-tail, simulator" in printed
    assert ", lab" not in printed
    monkeypatch.setattr("sys.argv", [*asked, "--only", "cost"])
    with pytest.raises(SystemExit):
        figures.main()


# By hand: of three flows of 8 segments one took 1 s, one 2.5 s, and one was never over: it counts
# as 10 s. The mean is 4.5 s, and one, two and two of three are over in 2, 3 and 10 s.
def test_a_flow_alone_that_is_not_over_counts_as_the_longest() -> None:
    def flow(size: int, closed: float) -> Flow:
        return Flow(0, 0, closed, 1, 0, 1, size * alone.SEGMENT)

    flows = [flow(8, 1.0), flow(8, 2.5), flow(8, math.nan)]
    found = alone.measured([*flows, *(flow(size, 1.0) for size in (4, 30, 100))])
    assert found["time_8"] == pytest.approx(4.5)
    assert [found[f"done_8_{soon}s"] for soon in (2, 3, 10)] == pytest.approx([1 / 3, 2 / 3, 2 / 3])


# A flow that met another one would wait for it. By hand: all four classes send 4 x 100 flows of
# 142 segments at most in 20 s; that is 2 % of 1 Gbit/s, and each starts 50 ms after the last.
def test_hosts_alone_meet_no_crowd() -> None:
    flows, queue = simulate(alone.Cell("cubic", 20, 0.01).document(), 1, {})
    assert len(flows) == 400
    assert queue < 1


PAGE = """\
| | drop-tail | cake |
|---|---|---|
| none | 112 | 50 |
| tide | 218 | 207 |

## What is measured

**drop-tail**

| | steady | long flows |
|---|---|---|
| none | 112 (51) | 74 (29) |

## Linux 6.18, in real time

**drop-tail**

| | steady |
|---|---|
| none | 45 (51) |
"""


# By hand: two runs with 30 and 40 pages are 35 in the mean, in each table of that cell and in no
# other, nor in those of another kernel.
def test_the_page_of_the_matrix_takes_what_was_measured_anew() -> None:
    measures = dict.fromkeys(matrix.COLUMNS, 1.0) | {"late_ms": 0, "users_late_ms": 0}
    row = {"queue": "drop-tail", "control": "none", "load": "steady", **measures, "not_read": 0}
    rows = [{**row, "done": done, "seed": done, "files_most": 1300} for done in (30, 40)]
    found = matrix.by_cell(rows)
    line = cells.Line("7.2", "drop-tail", "steady", "none", "3", "112", "100", "120", *"123456")
    lines = [line, replace(line, kernel="6.18", runs="7"), replace(line, load="long flows")]
    told = matrix_page.renewed(PAGE, found, lambda *_: None, lines)
    assert "| none | 35 | 50 |" in told
    assert "| none | 35 (51) | 74 (29) |" in told
    assert "| none | 45 (51) |" in told
    assert "| tide | 218 | 207 |" in told
    # it predicts for the users of the runs: of the seeds 30 and 40 anew, of 1 to 3 before
    told = matrix_page.renewed(PAGE, found, lambda _, seeds: {"done": sum(seeds)}, lines)
    assert "| none | 35 (70) | 74 (6) |" in told
    new, *others = cells.renewed(lines, found)
    assert (new.runs, new.done, new.least, new.most) == ("2", "35", "30", "40")
    assert (new.page_s, new.wasted) == ("1.0", "100")
    assert others == lines[1:]


def test_every_cell_of_the_matrix_is_in_the_file_once() -> None:
    there = [(line.kernel, line.queue, line.load, line.control) for line in cells.read()]
    queues = {"7.2": live_pages.QUEUES, "6.18": ("drop-tail", "htb")}
    expected = [
        (kernel, queue, load, control)
        for kernel, of_kernel in queues.items()
        for queue in of_kernel
        for load in matrix.OF_THE_MATRIX
        for control in live_pages.CONTROLS
        if (kernel, control) != ("6.18", "tide visits")
    ]
    assert sorted(there) == sorted(expected)


def test_the_file_has_what_was_measured_last() -> None:
    found = matrix.by_cell(matrix.read(matrix_page.MEASURED))
    assert len(found) > 20
    assert list(cells.renewed(cells.read(), found)) == cells.read()


def test_the_tables_of_the_page_are_those_of_the_file() -> None:
    page = (ROOT / "docs" / "matrix-figures.md").read_text(encoding="utf-8")
    done = {(line.kernel, line.queue, line.load, line.control): line.done for line in cells.read()}
    checked = 0
    for kernel, heading in (("7.2", "## Linux 7.2"), ("6.18", "## Linux 6.18")):
        part = page.partition(heading)[2].partition("\n## ")[0]
        for queue, table in re.findall(r"^\*\*([\w-]+)\*\*\n\n((?:\|.*\n)+)", part, re.M):
            head, _, *rows = map(matrix_page.cells_of, table.splitlines())
            for control, *values in rows:
                for load, value in zip(head[1:], values, strict=True):
                    said = value.partition(" (")[0]
                    assert said == done[kernel, queue.lower(), load, control], (queue, control)
                    checked += 1
    assert checked == len(done)


def test_every_page_with_cells_has_those_of_the_file() -> None:
    own = [line for line in cells.read() if line.kernel == cells.OWN_CLOCK]
    of = [matrix.whole(live_pages.Cell(line.queue, line.control, line.load)) for line in own]
    found = {
        cell: [{"done": float(line.done), "seed": 1}] for cell, line in zip(of, own, strict=True)
    }
    none = {cell: [{"done": -1.0, "seed": 1}] for cell in found}
    for page in matrix_page.PAGES:
        text = page.read_text(encoding="utf-8")
        assert matrix_page.renewed(text, found, lambda *_: None, own) == text
        # the shortest table of them, that of the gate, has three controls in three queues
        assert matrix_page.renewed(text, none, lambda *_: None, own).count("-1") >= 9


# Rows from before open files were counted say nothing of them, and are not valid.
def test_a_run_that_says_nothing_of_its_files_is_not_valid() -> None:
    row = {"late_ms": 0, "users_late_ms": 0, "not_read": 0}
    assert not matrix.good(row)
    assert matrix.good(row | {"files_most": 1300})
