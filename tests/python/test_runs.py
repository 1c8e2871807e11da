"""Real runs through the whole stack: same seed, any number of workers, laws in Python."""

import json
import math
import traceback

import polars as pl
import pytest

import tidegate

CLASS_KEYS = [
    "name arrived admitted completed open waiting gave_up completed_per_s fct_mean_s fct_p50_s",
    "fct_p95_s fct_p99_s fct_admitted_mean_s wait_p95_s goodput_mean_bps size_mean_bytes",
    "share_le_10kB retransmitted_packets timeouts open_mean",
]
PORT_KEYS = (
    "name syn_arrived syn_refused data_arrived data_dropped departed utilisation"
    " queue_mean_packets drops"
)
RUN_KEYS = "scenario seed duration_s classes ports jain packet_hops cpu_s result_hash"


def test_the_summary_has_what_machines_read(overload):
    summary = tidegate.run(overload).summary
    assert set(RUN_KEYS.split()) <= summary.keys()
    assert set(" ".join(CLASS_KEYS).split()) <= summary["classes"][0].keys()
    bottleneck = next(port for port in summary["ports"] if port["name"] == "bottleneck")
    assert set(PORT_KEYS.split()) <= bottleneck.keys()
    assert summary["classes"][0]["name"] == "web"
    json.dumps(summary, allow_nan=False)


def test_the_same_seed_gives_the_same_columns_and_another_seed_does_not(overload):
    first, again, other = (tidegate.run(overload, seed=seed) for seed in (1, 1, 2))
    assert first.summary["result_hash"] == again.summary["result_hash"]
    assert first.summary["result_hash"] != other.summary["result_hash"]
    assert first.flows.equals(again.flows)


def test_results_do_not_depend_on_the_number_of_workers(overload):
    hashes = [
        [
            row["result_hash"]
            for row in tidegate.compare(
                overload, gates=["none", "close-probe"], seeds=3, workers=workers
            ).rows
        ]
        for workers in (1, 2)
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == 6


def test_controls_meet_the_same_flows(overload):
    starts = []
    for gate in ("none", "close-probe"):
        settings = {"port.bottleneck.gate": {"law": gate}}
        flows = tidegate.run(overload, settings=settings).flows
        starts.append(flows.select("start_s", "size_bytes"))
    assert starts[0].equals(starts[1])


def test_rows_and_averages_of_a_comparison(overload):
    comparison = tidegate.compare(overload, gates=["none", "fixed-rate:10"], seeds=[1, 2])
    assert [(row["settings"], row["seed"]) for row in comparison.rows] == [
        ({"gate": "none"}, 1),
        ({"gate": "none"}, 2),
        ({"gate": "fixed-rate:10"}, 1),
        ({"gate": "fixed-rate:10"}, 2),
    ]
    single = tidegate.run(overload, seed=2, settings={"port.bottleneck.gate": '{ law = "none" }'})
    assert comparison.rows[1]["result_hash"] == single.summary["result_hash"]
    completed = [row["classes"][0]["completed_per_s"] for row in comparison.rows[:2]]
    average = comparison.averages[0]["completed_per_s"]
    assert average["mean"] == pytest.approx(sum(completed) / 2)
    assert average["low"] <= average["mean"] <= average["high"]


def test_flows_that_count_as_admitted_passed_a_limit_of_ten_a_second(overload):
    # A counter of 10 per epoch of 1 s: no second has more than 10 admissions at the gate.
    gate = '{ law = "fixed-rate", rate = "10/s", limiter = "counter", epoch = "1s" }'
    run = tidegate.run(overload, settings={"port.bottleneck.gate": gate})
    assert run.summary["classes"][0]["admitted"] <= 10 * 15
    assert run.summary["classes"][0]["never_admitted_share"] > 0.5


class TenPerSecond:
    """The fixed rate of the package, written once more in Python."""

    def __init__(self):
        self.arrived = 0

    def start(self, now_s, knobs):
        knobs.allowance = 10
        return now_s + 1.0

    def update(self, now_s, view, counts, knobs):
        assert view.rate_bps == 2_000_000
        assert counts.admitted <= knobs.allowance == 10
        self.arrived += counts.arrived
        return now_s + 1.0


PYTHON = {"port.bottleneck.gate": '{ law = "python", name = "mine", limiter = "counter" }'}


def test_a_law_in_python_does_what_the_same_law_in_rust_does(overload):
    gate = '{ law = "fixed-rate", rate = "10/s", limiter = "counter", epoch = "1s" }'
    rust = tidegate.run(overload, settings={"port.bottleneck.gate": gate})
    law = TenPerSecond()
    python = tidegate.run(overload, settings=PYTHON, laws={"mine": law})
    assert python.flows.equals(rust.flows)
    assert python.ports.equals(rust.ports)
    # Every SYN that came to the gate was shown to the law, but those of the last epoch.
    syns = python.ports.filter(pl.col("port") == "bottleneck")["syn_arrived"].sum()
    assert 0 < law.arrived <= syns


def test_a_comparison_gives_each_run_its_own_copy_of_a_law(overload):
    law = TenPerSecond()
    own = {"law": "python", "name": "mine", "limiter": "counter"}
    comparison = tidegate.compare(
        overload, gates=[own, "fixed-rate:10"], seeds=2, laws={"mine": law}
    )
    completed = [row["classes"][0]["completed"] for row in comparison.rows]
    assert completed[:2] == completed[2:]
    assert law.arrived == 0


class Broken(TenPerSecond):
    def update(self, now_s, view, counts, knobs):
        if now_s > 3.0:
            return 1 // 0
        return super().update(now_s, view, counts, knobs)


def test_an_exception_in_a_law_ends_the_run_with_its_own_traceback(overload):
    with pytest.raises(ZeroDivisionError) as caught:
        tidegate.run(overload, settings=PYTHON, laws={"mine": Broken()})
    assert "return 1 // 0" in "".join(traceback.format_tb(caught.value.__traceback__))


def test_an_exception_in_a_law_ends_a_comparison_too(overload, tmp_path):
    own = {"law": "python", "name": "mine", "limiter": "counter"}
    with pytest.raises(ZeroDivisionError):
        tidegate.compare(overload, gates=[own], laws={"mine": Broken()}, out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


class BadStart(TenPerSecond):
    def start(self, now_s, knobs):
        raise LookupError("no start")


class StandsStill(TenPerSecond):
    def update(self, now_s, view, counts, knobs):
        return now_s


class NeverAgain(TenPerSecond):
    def update(self, now_s, view, counts, knobs):
        return math.inf


class NoTime(TenPerSecond):
    def update(self, now_s, view, counts, knobs):
        return math.nan


class TooOften(TenPerSecond):
    def update(self, now_s, view, counts, knobs):
        return now_s + 1e-9


class NoValue(TenPerSecond):
    def update(self, now_s, view, counts, knobs):
        return now_s + 1.0, tidegate.Decision("mine", math.nan, 1.0)


class NoReason(TenPerSecond):
    def update(self, now_s, view, counts, knobs):
        return now_s + 1.0, tidegate.Decision("mine", 1.0, math.nan)


class Exits(TenPerSecond):
    def update(self, now_s, view, counts, knobs):
        raise SystemExit(3)


class NotALaw:
    pass


class NeverUpdated:
    def start(self, now_s, knobs):
        return 1.0


@pytest.mark.parametrize(
    ("law", "error", "message"),
    [
        (BadStart(), LookupError, "no start"),
        (StandsStill(), ValueError, "later than now"),
        (NeverAgain(), ValueError, "no infinite one; it returned inf"),
        (NoTime(), ValueError, "it returned nan"),
        (TooOften(), ValueError, "a microsecond later than now"),
        (NoValue(), ValueError, "`set` of a tidegate.Decision is not a number"),
        (NoReason(), ValueError, "`because` of a tidegate.Decision is not a number"),
        (Exits(), RuntimeError, "a law must not exit: SystemExit: 3"),
        (NotALaw(), AttributeError, "`NotALaw` has no method `start`"),
        (NeverUpdated(), AttributeError, "`NeverUpdated` has no method `update`"),
    ],
)
def test_other_faults_of_a_law_are_named(overload, law, error, message):
    with pytest.raises(error, match=message) as caught:
        tidegate.run(overload, settings=PYTHON, laws={"mine": law})
    if not isinstance(law, NotALaw):
        assert "`mine`, at" in caught.value.__notes__[0], "the law, its method and the time"


def test_a_law_that_was_not_handed_in_is_named(overload):
    with pytest.raises(tidegate.ScenarioError, match="mine"):
        tidegate.run(overload, settings=PYTHON)


def test_knobs_take_whole_numbers_only(overload):
    class Fraction(TenPerSecond):
        def update(self, now_s, view, counts, knobs):
            knobs.allowance = 2.5
            return now_s + 1.0

    with pytest.raises(TypeError):
        tidegate.run(overload, settings=PYTHON, laws={"mine": Fraction()})


def test_results_are_handed_out_once_and_only_when_the_run_is_over(overload):
    from tidegate import _native
    from tidegate.scenario.document import read

    run = _native.Simulation(read(overload).load(), 1)
    with pytest.raises(RuntimeError, match="not over"):
        run.results()
    while not run.advance(5.0):
        assert 0 <= run.now_s <= 20.0
    run.results()
    with pytest.raises(RuntimeError, match="handed out"):
        run.results()


def test_tables_have_the_columns_that_are_documented(overload):
    from tidegate import _native
    from tidegate.results.columns import SOMETIMES

    # what a filter takes out has a column where there is a filter, viewers have a table of theirs,
    # and what a link could have carried is known where it follows a trace
    settings = {
        "port.bottleneck.rate": '{ trace = "tidegate:lte" }',
        "port.bottleneck.filter": '{ law = "lgc" }',
        "port.bottleneck.lifetime": "10s",
        "port.bottleneck.police": '{ rate = "1Gbit", burst = "100kB" }',
        "port.bottleneck.corrupt": "0.001",
        "port.bottleneck.duplicate": "0.001",
        "series.classes": '["web"]',
        "series.acks": '["web:0"]',
        "traffic.film": '{ arrivals = { at = ["0s"] }, video = { ladder = ["0.5Mbit"] } }',
    }
    site = "[traffic.site]\narrivals = { at = ['0s'] }\nsize = '9kB'\npages = { objects = 2 }\n"
    filtered = tidegate.run(overload + site, settings=settings)
    tables = filtered.outcome.tables
    documented = _native.columns()
    assert set(documented) == {"flows", "ports", "events", "port_totals", *SOMETIMES}
    for name, columns in documented.items():
        kinds = [
            (column, "category" if isinstance(values, tuple) else values.dtype.name)
            for column, values in tables[name].items()
        ]
        assert kinds == [(column, kind) for column, _, kind, _ in columns], name
    plain = tidegate.run(overload).outcome.tables["ports"]
    assert set(tables["ports"]) - set(plain) == {
        "drops_filtered",
        "drops_policed",
        "drops_expired",
        "damaged_packets",
        "copied_packets",
        "possible_bytes",
    }
