"""What is measured in a saved run of this paper: who held the queue, what was filtered where."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from tidegate import _native
from tidegate.papers.effective import amount
from tidegate.results.measures import of_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidegate.papers.runs import Floats
    from tidegate.results.run_files import SavedRun

NODES = {"last": "I3", "second": "I2", "first": "I1"}
"""The nodes of experiment 2, by the port that packets to the sink leave through."""


@dataclass(frozen=True)
class Look:
    """One inspection of the congested queue by LGC: time, decision, and packets per origin."""

    time_s: float
    phase: str
    origin: str
    """The node that it filters; empty: nobody was greedy."""
    held: Mapping[str, int]
    came: Mapping[str, int]
    """Packets that the queue had taken from each node until then."""

    @property
    def packets(self) -> int:
        """The whole queue."""
        return sum(self.held.values())

    @property
    def filters(self) -> bool:
        """Whether somebody was found."""
        return bool(self.origin)


@cache
def scenario(record: SavedRun) -> dict[str, Any]:
    """Return the scenario of a run."""
    return tomllib.loads((record.folder / "scenario.toml").read_text("utf-8"))


@cache
def nodes(record: SavedRun) -> dict[int, str]:
    """Return the nodes by the numbers that results give them: in the order of the links."""
    links = scenario(record)["topology"].get("links", {}).values()
    names = dict.fromkeys(name for link in links for name in (link["from"], link["to"]))
    return dict(enumerate(names))


@cache
def congested(record: SavedRun) -> str:
    """Return the port that is congested."""
    return "bottleneck" if "dumbbell" in scenario(record)["topology"] else "last"


@lru_cache(maxsize=64)
def arrivals(record: SavedRun, port: str = "") -> pl.DataFrame:
    """Return the packets that came to a port, to the congested one if none is named."""
    return record.arrivals(port or congested(record))


@cache
def looks(record: SavedRun) -> tuple[Look, ...]:
    """Return what LGC saw at the congested node, in the order of time."""
    events, came = record.events(congested(record)), arrivals(record)
    found = []
    for time_s, phase, chosen in zip(events["time_s"], events["phase"], events["set"], strict=True):
        origin = "" if np.isnan(chosen) else nodes(record).get(int(chosen), f"{chosen:g}")
        until = came.filter(pl.col("time_s") <= time_s)
        taken = until.filter(pl.col("fate") == "queued")["origin"].to_list()
        last = until.row(-1, named=True)
        waiting = int(last["queue_packets"]) + int(last["fate"] == "queued")
        # first in, first out: those that wait are the last ones that were taken
        held = Counter(taken[len(taken) - waiting :])
        found.append(Look(float(time_s), str(phase), origin, held, Counter(taken)))
    return tuple(found)


def found(record: SavedRun) -> list[Look]:
    """Return the looks that found somebody greedy."""
    return [look for look in looks(record) if look.filters]


def triggers(record: SavedRun) -> float:
    """Return how often LGC was triggered."""
    return float(len(looks(record)))


def only_found(record: SavedRun) -> float:
    """Return the number of the one source that is filtered; 0: nobody is, -1: several are."""
    origins = {look.origin for look in found(record)}
    return float(max(origins, default="s0")[1:]) if len(origins) < 2 else -1.0


@of_values
def held(record: SavedRun, source: str) -> float:
    """Return the packets of a source in the queue at the first trigger."""
    return float(looks(record)[0].held.get(source, 0)) if looks(record) else np.nan


@of_values
def came(record: SavedRun, source: str) -> float:
    """Return packets of a source that had arrived at the queue by the first trigger."""
    return float(looks(record)[0].came.get(source, 0)) if looks(record) else np.nan


def queue_at_trigger(record: SavedRun) -> float:
    """Return how many packets waited at the first trigger."""
    return float(looks(record)[0].packets) if looks(record) else np.nan


def came_at_trigger(record: SavedRun) -> float:
    """Return how many packets the queue had taken by the first trigger."""
    return float(sum(looks(record)[0].came.values())) if looks(record) else np.nan


@of_values
def share(record: SavedRun, *sources: str) -> float:
    """Return the share of the packets of sources that arrived (1: all of each)."""
    return min(_shares(record).get(source, 0.0) for source in sources)


@cache
def _shares(record: SavedRun) -> dict[str, float]:
    flows, classes = record.flows(), scenario(record)["traffic"]
    sent: Counter[str] = Counter()
    arrived: Counter[str] = Counter()
    for number, each in enumerate(classes.values()):
        mine = flows["class"] == number
        source = each["from"] if isinstance(each["from"], str) else each["from"][0]
        sent[source] += int(flows["size_bytes"][mine].sum())
        arrived[source] += int(flows["delivered_bytes"][mine].sum())
    return {source: arrived[source] / sent[source] for source in sent if sent[source]}


def taken_at_once(record: SavedRun) -> float:
    """Return the least share of a source that gives way which the congested node took.

    Of the packets that came there, those of a second try among them; what a
    timer sends again too early is no loss.
    """
    came = arrivals(record)
    tcp = [each for each in scenario(record)["traffic"].values() if "tcp" in each["transport"]]
    shares = []
    for each in tcp:
        source = each["from"] if isinstance(each["from"], str) else each["from"][0]
        mine = came.filter(pl.col("origin") == source)
        shares.append(mine.filter(pl.col("fate") == "queued").height / mine.height)
    return float(min(shares))


def highest_average(record: SavedRun) -> float:
    """Return the largest average queue."""
    return float(_column(record, "avg_queue_packets").max())


def longest_queue(record: SavedRun) -> float:
    """Return the most packets that one found waiting."""
    return float(_column(record, "queue_packets").max())


def lost_full(record: SavedRun) -> float:
    """Return how many packets a full queue has lost."""
    return float(arrivals(record).filter(pl.col("fate") == "queue_full").height)


def expired(record: SavedRun) -> float:
    """Return packets that nodes dropped because their time to live was over."""
    ports = [each for each in NODES if each in scenario(record)["port"]]
    return float(sum(record.port(each)["drops"]["expired"] for each in ports))


def spikes(record: SavedRun) -> float:
    """Return how much further the queue goes up than its average."""
    return longest_queue(record) - highest_average(record)


def _column(record: SavedRun, name: str) -> Floats:
    return arrivals(record)[name].cast(pl.Float64).to_numpy()


def initial_queue(record: SavedRun) -> float:
    """Return the longest queue while the windows open: in the first quarter before the trigger."""
    until = arrivals(record).filter(pl.col("time_s") <= looks(record)[0].time_s)
    return float(until.head(until.height // 4)["queue_packets"].max())  # type: ignore[arg-type]


def average_moves(record: SavedRun) -> float:
    """Return how far the average moves from arrival to arrival, as a share of the queue."""
    queue, average = (_column(record, name) for name in ("queue_packets", "avg_queue_packets"))
    return float(np.sum(np.abs(np.diff(average))) / np.sum(np.abs(np.diff(queue))))


def max_th(record: SavedRun) -> float:
    """Return the threshold of the congested node."""
    return float(_filter(record)["max_th"])


def left_after(record: SavedRun) -> float:
    """Return the shortest queue within Tx after the first trigger, as a share of that at it."""
    if not looks(record):
        return np.nan
    look = looks(record)[0]
    late = (pl.col("time_s") > look.time_s) & (pl.col("time_s") <= look.time_s + tx_s(record))
    return float(arrivals(record).filter(late)["queue_packets"].min()) / look.packets  # type: ignore[arg-type]


def _above_for(record: SavedRun, times: Floats, values: Floats) -> float:
    """Return how long something stays above max_th after the first trigger, s."""
    start = looks(record)[0].time_s
    below = times[(times > start) & (values <= max_th(record))]
    return float(below[0] - start) if below.size else np.inf


def lag_s(record: SavedRun) -> float:
    """Return T: how long the average stays above max_th after the first trigger; NaN: no one."""
    if not looks(record):
        return np.nan
    return _above_for(record, _column(record, "time_s"), _column(record, "avg_queue_packets"))


def sinks(record: SavedRun) -> float:
    """Return by how many packets the queue sinks between the first filter and the second."""
    first, second = (look.time_s for look in found(record)[:2])
    came = arrivals(record).filter((pl.col("time_s") > first) & (pl.col("time_s") < second))
    return float(found(record)[0].packets - np.min(came["queue_packets"].to_numpy()))


def queue_lag_s(record: SavedRun) -> float:
    """Return how long the queue itself stays above max_th after the first trigger."""
    if not looks(record):
        return np.nan
    return _above_for(record, _column(record, "time_s"), _column(record, "queue_packets"))


def lag_fed_s(record: SavedRun) -> float:
    """Return T if packets that a filter takes fed the average too.

    The average is continued from the first trigger, with every arrival, over the
    queue that each found; what LGC would have done otherwise is not followed.
    """
    if not looks(record):
        return np.nan
    start, weight = looks(record)[0].time_s, float(_filter(record)["w"])
    times, queue = _column(record, "time_s"), _column(record, "queue_packets")
    average = _column(record, "avg_queue_packets")
    later = np.flatnonzero(times > start)
    now = float(average[later[0] - 1])
    fed = np.empty(later.size)
    for place, arrival in enumerate(later):
        now += weight * (queue[arrival] - now)
        fed[place] = now
    return _above_for(record, times[later], fed)


def _filter(record: SavedRun) -> dict[str, Any]:
    found: dict[str, Any] = scenario(record)["port"]["last"]["filter"]
    return found


def tx_s(record: SavedRun) -> float:
    """Return Tx, in seconds."""
    return amount(str(_filter(record)["tx"]))


def most_of_buffer(record: SavedRun) -> float:
    """Return the longest queue as a share of the buffer of the congested node."""
    buffer = scenario(record)["topology"]["links"]["last"]["buffer"]
    return longest_queue(record) / float(str(buffer).removesuffix("packets"))


@dataclass(frozen=True)
class Taken:
    """What a port filtered of one source: numbers from 1, and whether none is missing."""

    first: int
    last: int
    packets: int

    @property
    def whole(self) -> bool:
        """Whether it is one run of numbers, each once."""
        return self.packets == self.last - self.first + 1


@cache
def taken(record: SavedRun, port: str, source: str = "s1") -> Taken | None:
    """Return what a port filtered of a source; None: nothing."""
    mine = (pl.col("fate") == "filtered") & (pl.col("origin") == source)
    numbers = sorted(arrivals(record, port).filter(mine)["number"].to_list())
    if not numbers:
        return None
    return Taken(numbers[0] + 1, numbers[-1] + 1, len(numbers))


@of_values
def filtered(record: SavedRun, port: str) -> float:
    """Return how many packets of source 1 a port filtered."""
    run = taken(record, port)
    return float(run.packets) if run else 0.0


def all_filtered(record: SavedRun) -> float:
    """Return how many packets of source 1 the filters took together."""
    return sum(filtered(port)(record) for port in NODES)


@cache
def placed_s(record: SavedRun, port: str) -> float:
    """Return when a port got its first filter; infinite: never."""
    events = record.events(port)
    times = [
        float(time_s)
        for time_s, phase in zip(events["time_s"], events["phase"], strict=True)
        if phase in ("filter", "first-hop")
    ]
    return min(times, default=np.inf)


def doubly_s(record: SavedRun) -> float:
    """Return for how long the first filters of two neighbours are there at once, both pairs, s."""
    spans = []
    for port, timer in {"last": "itime", "second": "itime", "first": "fhtime"}.items():
        begin = placed_s(record, port)
        lasts = amount(str(scenario(record)["port"][port]["filter"][timer]))
        spans.append((begin, begin + lasts))
    pairs = pairwise(spans)
    both = [min(one[1], other[1]) - max(one[0], other[0]) for one, other in pairs]
    return float(sum(max(each, 0.0) for each in both if np.isfinite(each)))


def in_order(record: SavedRun) -> bool:
    """Tell whether the filter goes I3, I2, I1, and each takes up where the one before ends."""
    runs = [taken(record, port) for port in NODES]
    times = [placed_s(record, port) for port in NODES]
    if not all(run is not None and run.whole for run in runs) or not times[0] < times[1] < times[2]:
        return False
    ends = [(run.first, run.last) for run in runs if run is not None]
    return ends[0][1] + 1 == ends[1][0] and ends[1][1] + 1 == ends[2][0]


def wasted(record: SavedRun) -> float:
    """Return the packets of source 1 that crossed a link between routers for nothing, in MB."""
    crossed = sum(record.port(port)["departed"] for port in ("first", "second"))
    arrived = (
        arrivals(record).filter((pl.col("origin") == "s1") & (pl.col("fate") == "queued")).height
    )
    return float(crossed - 2 * arrived) * 500 / 1e6


def wasted_share(record: SavedRun) -> float:
    """Return the share of what crossed these links that crossed them for nothing, in percent."""
    crossed = sum(record.port(port)["departed"] for port in ("first", "second"))
    return float(100.0 * wasted(record) * 1e6 / 500 / crossed)


def work_at_congested(record: SavedRun) -> float:
    """Return how many packets of source 1 the congested node had to take and throw away."""
    mine = (pl.col("origin") == "s1") & (pl.col("fate") != "queued")
    return float(arrivals(record).filter(mine).height)


def others_done_s(record: SavedRun) -> float:
    """Return when the last of those that give way has all its data across."""
    flows, classes = record.flows(), scenario(record)["traffic"]
    tcp = [number for number, each in enumerate(classes.values()) if "tcp" in each["transport"]]
    ends = [flows["data_done_s"][flows["class"] == number] for number in tcp]
    return float(max((each.max() if each.size else np.inf) for each in ends))


def before_the_greedy(record: SavedRun) -> float:
    """Return the largest average before a packet of a greedy source of experiment 3 comes."""
    came = arrivals(record)
    first = came.filter(pl.col("origin").is_in(["s1", "s3"]))["time_s"].head(1).item()
    return float(came.filter(pl.col("time_s") < first)["avg_queue_packets"].max())  # type: ignore[arg-type]


# one connection that does not give way among many that do

EVERY = 20
"""One in this many arrivals is examined."""
WARM_UP_S = 20.0


class Queue(NamedTuple):
    """The queue at one arrival each: of the greedy one, of all, how many there are, the average."""

    greedy: Floats
    packets: Floats
    connections: Floats
    average: Floats


@cache
def queue_of_many(record: SavedRun) -> Queue:
    """Return who held the queue; the greedy connection is the one most packets come from."""
    came = arrivals(record)
    names, origins = np.unique(came["origin"].to_numpy(), return_inverse=True)
    greedy = int(np.argmax(np.bincount(origins, minlength=names.size)))
    taken = came["fate"].to_numpy() == "queued"
    queued = origins[taken]
    # how many were taken before each arrival: the queue is the last of them, first in, first out
    before = np.cumsum(taken) - taken
    times, waiting = came["time_s"].to_numpy(), came["queue_packets"].to_numpy().astype(int)
    average = came["avg_queue_packets"].to_numpy()
    rows = []
    for place in range(0, times.size, EVERY):
        if times[place] < WARM_UP_S or waiting[place] == 0:
            continue
        end = before[place]
        inside = queued[end - waiting[place] : end]
        rows.append(
            (np.sum(inside == greedy), waiting[place], np.unique(inside).size, average[place])
        )
    columns = np.array(rows, dtype=np.float64).T if rows else np.zeros((4, 0))
    return Queue(*columns)


def above_permitted(record: SavedRun) -> float:
    """Return how many times what it may hold the greedy one holds, on average."""
    found = queue_of_many(record)
    permitted = np.array(
        [_native.lgc_permissible_percent(int(each)) / 100 for each in found.connections]
    )
    return float(np.mean(found.greedy / found.packets / permitted))


def _further(record: SavedRun, *, above: bool) -> float:
    """Return how many packets more the greedy one holds than another does, by the average queue."""
    found = queue_of_many(record)
    several = found.connections > 1
    over = found.average > scenario(record)["port"]["bottleneck"]["queue"]["max_th"]
    chosen = several & (over if above else ~over)
    if not chosen.any():
        return float("nan")
    others = (found.packets - found.greedy)[chosen] / (found.connections[chosen] - 1)
    return float(np.mean(found.greedy[chosen] - others))


def disparity_above(record: SavedRun) -> float:
    """Return it while the average is above max_th."""
    return _further(record, above=True)


def disparity_below(record: SavedRun) -> float:
    """Return it while the average is not above max_th."""
    return _further(record, above=False)


def taken_share(record: SavedRun) -> float:
    """Return the share of what arrived that the greedy one sent."""
    mine = record.traffic("greedy")["delivered_bytes"]
    return float(mine / record.all["delivered_bytes"])


def carried(record: SavedRun) -> float:
    """Return what the link carried of the greedy host, Mbit/s."""
    delivered = record.traffic("greedy").get("delivered_bytes")
    return float("nan") if delivered is None else float(delivered) * 8 / 110e6


# the network of a hundred nodes: how far filters go, and what is carried for nothing

FIRST_LEAF = 16
"""Routers 16 to 31 have the hosts; the parent of router n is n // 2, that of 1 the server."""
LEVELS = 5


def upstream_mb(record: SavedRun) -> float:
    """Return how much the links between routers carried towards the server, in MB."""
    links = scenario(record)["topology"]["links"]
    seconds = amount(str(scenario(record)["duration"]))
    bits = sum(
        record.port(name)["utilisation"] * amount(link["rate"]) * seconds
        for name, link in links.items()
        if name.startswith("up")
    )
    return float(bits) / 8e6


def delivered_mb(record: SavedRun) -> float:
    """Return how much the congested link carried, in MB."""
    rate = amount(scenario(record)["topology"]["links"]["last"]["rate"])
    seconds = amount(str(scenario(record)["duration"]))
    return float(record.port("last")["utilisation"] * rate * seconds) / 8e6


def filtering_routers(record: SavedRun) -> dict[int, list[int]]:
    """Return the routers that filtered a node, from the server on, by the number of the node."""
    found: dict[int, list[int]] = {}
    for router in range(1, 2 * FIRST_LEAF):
        port = "last" if router == 1 else f"up{router}"
        events = record.events(port)
        for phase, node in zip(events["phase"], events["set"], strict=True):
            if phase in ("filter", "first-hop") and router not in found.setdefault(int(node), []):
                found[int(node)].append(router)
    return found


def hops(record: SavedRun) -> Floats:
    """Return how many filters went 0, 1, 2 ... hops up from the congested router."""
    counts = np.zeros(LEVELS)
    for routers in filtering_routers(record).values():
        counts[max(routers).bit_length() - 1] += 1
    return counts


def caught(record: SavedRun) -> float:
    """Return how many hosts were filtered."""
    return float(len(filtering_routers(record)))
