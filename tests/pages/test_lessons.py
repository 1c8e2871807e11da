"""The lessons run, show a picture each, and what they say of it is so.

A claim is an expression over what the cells of a notebook have left; its numbers stand in the text
of the lesson, under "What to see".
"""

import warnings
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
from tools.lessons import cleaned, executed, lessons  # noqa: E402

ROOT = Path(__file__).parents[2]
CLAIMS = {
    "slow-start": {
        # doubles each round trip, up to the first loss
        "all(1.8 <= right / left <= 2.3 for left, right in zip(rounds, rounds[1:]))",
        "acks['time_s'][acks['cwnd_packets'].arg_max()] < 0.3",
        "40 < run.flows['retransmitted_packets'][0] < 140",
        # the sawtooth: between one BDP and two, and the round trip between 40 and 80 ms
        "BDP < acks.filter(acks['time_s'] > 2)['cwnd_packets'].min() < 1.1 * BDP",
        "0.04 < acks.filter(acks['time_s'] > 2)['srtt_s'].min() < 0.05",
        "0.075 < acks.filter(acks['time_s'] > 2)['srtt_s'].max() < 0.085",
    },
    "bufferbloat": {
        "25 < runs['1 s'].udp['delay_p50_s'][0] / runs['1 BDP (40 ms)'].udp['delay_p50_s'][0] < 27",
        "runs['1 s, FQ-CoDel'].udp['delay_p95_s'][0] < 0.03",
        "page_of(runs['1 s']) > 10 * page_of(runs['1 BDP (40 ms)'])",
        "1.015 < upload_of(runs['1 s']) / upload_of(runs['1 BDP (40 ms)']) < 1.025",
        "0.985 < runs['1 BDP (40 ms)'].summary['ports'][0]['utilisation'] < 0.995",
        "upload_of(runs['1 s, FQ-CoDel']) < upload_of(runs['1 BDP (40 ms)'])",
    },
    "fairness": {
        "index['Reno and Reno'] > 0.99",
        "index['CUBIC and CUBIC'] > 0.98",
        "index['CUBIC, then BBR'] < 0.65",
        "index['CUBIC, then BBR, under FQ-CoDel'] > 0.99",
    },
    "rtt-unfairness": {
        "all(values[0] == __import__('pytest').approx(1, abs=0.1) for values in more.values())",
        "more['Reno, RED'] == sorted(more['Reno, RED'])",
        "4 < more['Reno, RED'][-1] < 9",
        "more['CUBIC, RED'][-1] > 4",
        "0.2 < min(more['BBR, drop-tail'][1:]) < max(more['BBR, drop-tail'][1:]) < 0.6",
        "max(more['Reno, FQ-CoDel']) < 1.4",
    },
    "incast": {
        "all(found['min RTO 200 ms'][k][0] < 0.01 for k in (0, 1, 4, 5))",
        "all(0.2 < found['min RTO 200 ms'][k][0] < 0.22 for k in (2, 3, 6, 7, 8))",
        "all(found['min RTO 200 ms'][k][0] - found['buffer of 1000 packets'][k][0] < 0.0003"
        " for k in (4, 5))",
        # what a least timeout of 1 ms costs, beside a buffer for all
        "all(short[0] - large[0] < 0.0065 for short, large in"
        " zip(found['min RTO 1 ms'], found['buffer of 1000 packets']))",
        "all(timeouts == 0 for _, timeouts in found['buffer of 1000 packets'])",
        "48 * 64e3 * 8 / found['buffer of 1000 packets'][-1][0] > 0.9e9",
    },
    "aqm": {
        "mean['drop-tail']['bottleneck.queue_delay_mean_s'] > 0.2",
        "all(mean[name]['bottleneck.queue_delay_mean_s'] < 0.02 for name in QUEUES[1:])",
        "all(mean[name]['bottleneck.utilisation'] > 0.989 for name in QUEUES)",
        "all(mean[name]['web.fct_p50_s'] < mean['drop-tail']['web.fct_p50_s'] / 2.7"
        " for name in QUEUES[1:])",
        "all(0.0095 < mean[name]['retransmitted_share'] < 0.024 for name in QUEUES[1:])",
        "mean['drop-tail']['retransmitted_share'] < 0.01",
    },
    "admission": {
        "of('none', 240, 'completed_per_s') < 0.75 * of('none', 90, 'completed_per_s')",
        "of('none', 240, 'retransmitted_share') > 0.5",
        "0.95 < of('tide', 240, 'completed_per_s') / of('tide', 60, 'completed_per_s') < 1.05",
        "all(of('close-probe', load, 'completed_per_s') < 0.7 * of('close-probe', 60,"
        " 'completed_per_s') for load in LOADS[2:])",
        "0.3 < of('tide', 240, 'fct_p50_s') < 0.4",
        "all(3.7 < of('close-probe', load, 'fct_p50_s') < 4.7 for load in LOADS[2:])",
        "all(0.75 < of(law, 240, 'never_admitted_share') < 0.9 for law in ('close-probe', 'tide'))",
    },
}
MORE = {
    "bufferbloat": """
def of(run, name, metric):
    return next(each for each in run.summary["classes"] if each["name"] == name)[metric]

def page_of(run):
    return of(run, "page", "fct_p50_s")

def upload_of(run):
    return of(run, "upload", "throughput_bps")
""",
    "admission": """
def of(law, load, metric):
    return mean.filter(gate=law, offered=f"{load}/s")[metric][0]
""",
}
"""What claims are written with."""


def checked(name: str) -> str:
    """Code that refuses a claim that is not so."""
    claims = sorted(CLAIMS[name])
    return f"{MORE.get(name, '')}\nassert [each for each in {claims!r} if not eval(each)] == []"


def test_there_are_seven_and_each_has_claims():
    assert {path.stem for path in lessons()} == CLAIMS.keys()
    assert len(CLAIMS) == 7


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_a_lesson_runs_and_says_what_is_so(name):
    path = ROOT / "docs" / "lessons" / f"{name}.ipynb"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries that talk to the kernel
        book = cleaned(executed(path, checked(name)))
    pictures = [
        output
        for cell in book.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert pictures


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_a_lesson_has_its_parts_and_is_kept_with_its_picture(path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    first, last = book.cells[0].source, book.cells[-1].source
    assert first.startswith("# ")
    assert "**Question.**" in first.split("\n\n")[1]
    assert last.startswith("## What to see")
    assert "## What to try" in last
    assert last.count("\n- ") >= 5
    kept = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in kept)
    assert not any(output.output_type == "error" for output in kept)
    assert cleaned(nbformat.read(path, as_version=4)) == book, "run python -m tools.lessons"


def test_the_entry_pages_lead_to_every_lesson():
    for page in ("README.md", "for-teachers.md", "index.md", "lessons/README.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert [path.stem for path in lessons() if path.stem not in text] == [], page
