"""Rows of the set-up: what the scenarios themselves say."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tidegate.papers.check_results import Exact, Unchecked
from tidegate.papers.effective import amount
from tidegate.papers.lgc.cases import EXPERIMENTS
from tidegate.papers.registry import claim

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs

UDP_PAYLOAD, TCP_PAYLOAD = 472, 460
"""Bytes that a packet of 500 B carries."""
GIVE_WAY = {"1": range(2, 8), "2": range(2, 6)}
FILTER = "port.last.filter"
QUANTITIES = {
    "w": f"{FILTER}.w",
    "maxth": f"{FILTER}.max_th",
    "buffer": "topology.links.last.buffer",
}
"""Rows of every experiment, and where their quantity stands."""
EXAMPLE = (75, 5)
"""The queue of the worked example, and the connections in it."""


def _packets(runs: Runs, case: str, name: str) -> int:
    """Return how many packets a flow of a class sends."""
    each = runs.effective.at(case, f"traffic.{name}")
    payload = UDP_PAYLOAD if "udp" in each["transport"] else TCP_PAYLOAD
    size = each["size"]
    text = size if isinstance(size, str) else size["constant"]
    return round(amount(text) / payload)


def _bursts(runs: Runs, case: str, name: str) -> tuple[int, int, float]:
    """Return how many packets a source sends, in how many bursts, and their spacing in seconds."""
    packets = _packets(runs, case, name)
    burst = runs.effective.at(case, f"traffic.{name}.transport.udp").get("burst")
    if burst is None:
        return packets, 1, 0.0
    return packets, -(-packets // burst["packets"]), amount(burst["every"])


@claim("example.{what}", of=(), what=("p", "n"))
def example(_: Runs, what: str) -> Exact:
    """Check the queue that the worked example is reckoned with."""
    return Exact(f"{EXAMPLE['pn'.index(what)]}")


@claim("exp{experiment}.{name}", of=(), experiment=("1", "2", "3"), name=tuple(QUANTITIES))
def quantity(runs: Runs, experiment: str, name: str) -> Exact:
    """Check the weight of the average, the threshold, or the buffer of the congested node."""
    return runs.effective.exact(experiment, QUANTITIES[name])


@claim("exp1.ttl", of=())
def life(_: Runs) -> Unchecked:
    """Say why the life of packets is not simulated."""
    return Unchecked(
        "Packets of the simulator have no end of life; none of them waits for 10 s here. Those of"
        " the real nodes have it (`life`, default 10 s)."
    )


@claim("exp1.resp_pkts", of=())
def packets_of_one(runs: Runs) -> Exact:
    """Check how many packets each source sends that gives way."""
    found = {_packets(runs, "1", f"s{number}") for number in GIVE_WAY["1"]}
    return Exact(" ".join(map(str, sorted(found))))


def _ssthresh(runs: Runs, case: str) -> str:
    found = {
        runs.effective.at(case, f"traffic.s{number}.transport.tcp.initial_ssthresh")
        for number in GIVE_WAY[case]
    }
    return " ".join(f"{each:g}" for each in sorted(found))


@claim("exp1.ssthresh", of=())
def slow_start(runs: Runs) -> Exact:
    """Check the initial slow-start threshold."""
    return Exact(_ssthresh(runs, "1"))


@claim("exp2.resp", of=())
def giving_way(runs: Runs) -> Exact:
    """Check packets and initial threshold of the sources that give way."""
    found = {_packets(runs, "2", f"s{number}") for number in GIVE_WAY["2"]}
    return Exact(f"{' '.join(map(str, sorted(found)))}, {_ssthresh(runs, '2')}")


@claim("exp{experiment}.greedy", of=(), experiment=("1", "2"))
def greedy(runs: Runs, experiment: str) -> Exact:
    """Check the bursts of the greedy source."""
    packets, count, gap_s = _bursts(runs, experiment, "s1")
    return Exact(f"{packets} / {count} / {gap_s:g} s")


@claim("exp1b.greedy", of=())
def moderate(runs: Runs) -> Exact:
    """Check the bursts of the source that asks for little: flows of 13 or of 14 packets."""
    starts: list[float] = []
    packets = 0
    for name in ("s1", "s1more"):
        at = [amount(each) for each in runs.effective.at("1b", f"traffic.{name}.arrivals.at")]
        packets += len(at) * _packets(runs, "1b", name)
        starts += at
    starts.sort()
    gaps = {later - former for former, later in pairwise(starts)}
    return Exact(f"{packets} / {len(starts)} / {' '.join(f'{gap:g}' for gap in sorted(gaps))} s")


@claim("exp3.g1", of=())
def one_burst(runs: Runs) -> Exact:
    """Check the first greedy source."""
    packets, count, _ = _bursts(runs, "3", "s1")
    return Exact(f"{packets} packets in {count} burst")


@claim("exp3.g3", of=())
def three_bursts(runs: Runs) -> Exact:
    """Check the second greedy source."""
    packets, count, gap_s = _bursts(runs, "3", "s3")
    return Exact(f"{packets} packets in {count} bursts, {gap_s:g} s apart")


@claim("exp3.mod", of=())
def moderate_ones(runs: Runs) -> Exact:
    """Check the moderate sources."""
    found = {_bursts(runs, "3", f"s{number}") for number in (2, 4, 5, 6, 7)}
    said = (
        f"{packets} packets in {count} bursts, {gap_s:g} s apart" for packets, count, gap_s in found
    )
    return Exact("; ".join(said))


def _times(runs: Runs, name: str) -> str:
    """Return a time of the law, the same in all experiments."""
    found = {runs.effective.amount(each, f"{FILTER}.{name}") for each in EXPERIMENTS}
    return " ".join(f"{each:g}" for each in sorted(found))


@claim("param.{name}", of=(), name=("itime", "fhtime"))
def time(runs: Runs, name: str) -> Exact:
    """Check how long filters last."""
    return Exact(_times(runs, name))


@claim("param.tx", of=("1",))
def idle_time(runs: Runs) -> Exact:
    """Check that Tx of every experiment is longer than T, which experiment 1 has measured."""
    from tidegate.papers.lgc.measures import lag_s

    longest = float(max(runs.values("1", lag_s)))
    tx = [runs.effective.amount(each, f"{FILTER}.tx") for each in EXPERIMENTS]
    return Exact(f"{_times(runs, 'tx')} s, T at most {longest:.2g} s", min(tx) > longest)
