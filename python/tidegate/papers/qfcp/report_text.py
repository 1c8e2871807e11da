"""The report: its opening, its parts in the paper's order, and what they say of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.qfcp import measures as m
from tidegate.papers.qfcp.cases import FOUR, fct
from tidegate.papers.report import number
from tidegate.papers.report_text import good
from tidegate.papers.study import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.runs import Measure, Runs
    from tidegate.papers.verdicts import ClaimResult
    from tidegate.results.run_files import SavedRun

FIVE = (*FOUR, "vcp")
FCT_CASES = (*(fct(name) for name in FIVE), "fct/rcp-2006", "fct/rcp-own", "fct/without/pacing")
BEYOND = (
    *(f"row/{name}" for name in ("qfcp", "rcp", "xcp")),
    *(f"mixed/{name}/{queue}" for name in ("qfcp", "xcp") for queue in ("drop-tail", "red")),
    "halved/qfcp",
    "halved/xcp",
)


def _row(runs: Runs, what: str, case: str) -> str:
    values = [
        runs.mean(case, "fct_mean_s"),
        runs.mean(case, m.short_fct),
        runs.mean(case, m.long_fct),
    ]
    cells = " | ".join(f"{value:.3f}" for value in values)
    lost, again = runs.mean(case, m.lost_at_bottleneck), runs.mean(case, m.timeouts)
    done = runs.mean(case, m.finished)
    return f"| {what} | {cells} | {number(lost)} | {number(again)} | {number(done)} |"


def completion(runs: Runs) -> str:
    """Return the table of mean completion times."""
    names = {
        "qfcp": "QFCP",
        "rcp": "RCP (alpha 0.4, beta 0.4)",
        "fct/rcp-2006": "RCP (alpha 0.1, beta 1)",
        "fct/rcp-own": "RCP with its own reliability",
        "xcp": "XCP",
        "tcp": "TCP Reno over RED",
        "vcp": "VCP",
        "fct/without/pacing": "QFCP without pacing",
    }
    lines = [
        "| | mean FCT, s | up to 100 packets | above | packets lost | timeouts | finished |",
        "|---|---|---|---|---|---|---|",
    ]
    for key, what in names.items():
        lines.append(_row(runs, what, key if "/" in key else fct(key)))
    return "\n".join(lines)


def _rates(record: SavedRun, duration: float) -> np.ndarray:
    bits = [each["delivered_bytes"] * 8e-6 for each in record.summary["classes"]]
    return np.array(bits) / duration * m.PACKET / m.PAYLOAD


def _mean_rates(runs: Runs, case: str, duration: float) -> list[float]:
    found = np.mean([_rates(record, duration) for record in runs.records(case)], axis=0)
    return [float(each) for each in found]


def beyond(runs: Runs) -> str:
    """Return what goes beyond the paper, in numbers."""
    lines = [
        "Several bottlenecks in a row (45, 20 and 30 Mbit/s; max-min shares are 10, 35, 10 and"
    ]
    lines.append("20 Mbit/s; start included):\n")
    for name in ("qfcp", "rcp", "xcp"):
        rates = ", ".join(f"{rate:.1f}" for rate in _mean_rates(runs, f"row/{name}", 30.0))
        lines.append(f"- {name.upper()}: {rates} Mbit/s.")
    lines.append("\nFour flows beside four of TCP on 45 Mbit/s, Mbit/s of all four together:\n")
    for name in ("qfcp", "xcp"):
        for queue in ("drop-tail", "red"):
            own, tcp = _mean_rates(runs, f"mixed/{name}/{queue}", 60.0)
            lines.append(f"- {name.upper()} over {queue}: {own:.1f}, TCP {tcp:.1f}.")
    lines.append("\nThe capacity halves from 20 to 40 s (ten flows of Figure 3):\n")
    for name in ("qfcp", "xcp"):
        lines.append(f"- {name.upper()}: {_halved(runs, f'halved/{name}')}")
    return "\n".join(lines)


def _halved(runs: Runs, case: str) -> str:
    full, lost, queue = [], [], []
    for record in runs.records(case):
        table = record.ports("middle")
        inside = (table["time_s"] > 20.0) & (table["time_s"] <= 40.0)
        full.append(table["utilisation"][inside].mean())
        lost.append(table["drops_queue_full"][inside].sum())
        queue.append(table["queue_mean_packets"][inside].mean())
    return (
        f"utilisation {np.mean(full):.3f} meanwhile, {number(float(np.mean(lost)))} packets lost,"
        f" mean queue {number(float(np.mean(queue)))}."
    )


def crowd(runs: Runs) -> str:
    """Return what a crowd costs."""
    lines = [
        "100 flows of 500 packets at once beside four long ones, on 45 Mbit/s (two packets a round",
        "trip for each):\n",
        "| | lost in 2 s | timeouts | mean FCT of the crowd, s |",
        "|---|---|---|---|",
    ]
    for name in FIVE:
        records = runs.records(f"crowd/{name}")
        lost = [_lost(record, 5.0, 7.0) for record in records]
        fcts = [record.traffic("crowd")["fct_mean_s"] for record in records]
        cut = runs.mean(f"crowd/{name}", m.timeouts)
        mean = float(np.mean([each for each in fcts if each is not None]))
        lines.append(
            f"| {name} | {number(float(np.mean(lost)))} | {number(cut)} | {number(mean)} |"
        )
    lines += ["", _pacing(runs)]
    return "\n".join(lines)


def _pacing(runs: Runs) -> str:
    """Return why the queue of a crowd is longer with pacing."""

    def queue(case: str) -> str:
        means = []
        for record in runs.records(case):
            table = record.ports("bottleneck")
            inside = (table["time_s"] > 5.0 + 1e-6) & (table["time_s"] <= 7.0 + 1e-6)
            means.append(float(table["queue_mean_packets"][inside].mean()))
        return number(float(np.mean(means)))

    def lost(case: str) -> str:
        each = [_lost(record, 5.0, 7.0) for record in runs.records(case)]
        return number(float(np.mean(each)))

    def took(case: str) -> str:
        means = [record.traffic("crowd")["fct_mean_s"] for record in runs.records(case)]
        return number(float(np.mean([each for each in means if each is not None])))

    paced, bursts = "crowd/qfcp", "crowd/without/pacing"
    deep, deep_bursts = "crowd/deep/pacing", "crowd/deep/none"

    def again(case: str) -> str:
        each = [
            float(record.traffic("crowd")["retransmitted_packets"]) for record in runs.records(case)
        ]
        return number(float(np.mean(each)))

    return (
        f"**Why pacing lengthens the queue.** With pacing {queue(paced)} packets wait on average in"
        f" those two seconds, without {queue(bursts)}. What waits are repairs: paced senders lose"
        f" {lost(paced)} packets in the full buffer meanwhile and send {again(paced)} again in all,"
        " at the rate that is granted and into the same buffer; without pacing they lose"
        f" {lost(bursts)} and send {again(bursts)} again. Where nothing is lost (a buffer of 20,000"
        f" packets) pacing shortens the queue, to {queue(deep)} packets from {queue(deep_bursts)},"
        f" and the crowd takes {took(deep)} s in place of {took(deep_bursts)} s."
    )


def _lost(record: SavedRun, begin: float, end: float) -> float:
    table = record.ports("bottleneck")
    inside = (table["time_s"] > begin + 1e-6) & (table["time_s"] <= end + 1e-6)
    return float((table["drops_queue_full"] + table["drops_early"])[inside].sum())


SECTIONS = (
    Section(
        "Flow completion time (3.1; Figure 1)",
        ("fig1",),
        ("fig1",),
        (),
        completion,
        FCT_CASES,
    ),
    Section("Adaptability (3.2; Figure 2)", ("fig2", "text.same_rate"), ("fig2",)),
    Section("Different round trips (3.3; Figure 3)", ("fig3",), ("fig3",)),
    Section(
        "A lossy link (3.4; Figure 4)",
        ("fig4", "text.dupack", "text.timeout", "text.redundant"),
        ("fig4",),
    ),
    Section(
        "The parts of the design (1, 2.2, 2.3)",
        (
            "text.no_state",
            "text.beta",
            "text.stabilisation",
            "text.virtual_queue",
            "intro.short_hurt_long",
        ),
        ("parts", "beta"),
    ),
    Section(
        "Beyond the paper: a crowd",
        (),
        ("crowd",),
        (),
        crowd,
        (
            *(f"crowd/{name}" for name in FIVE),
            "crowd/without/pacing",
            "crowd/deep/pacing",
            "crowd/deep/none",
        ),
    ),
    Section(
        "Beyond the paper: several bottlenecks, TCP beside it, a capacity that changes",
        (),
        (),
        (),
        beyond,
        BEYOND,
    ),
)

_TOPICS = (
    ("fig1", "**Completion times** (Figure 1)"),
    ("fig2", "**Joining and leaving** (Figure 2)"),
    ("fig3", "**Different round trips** (Figure 3)"),
    ("fig4", "**Lossy links** (Figure 4)"),
    ("text", "**What the text says**"),
)


def opening(outcomes: Sequence[ClaimResult], runs: Runs) -> str:
    """Return it in Markdown; a part whose claims were not asked for is left out."""
    found = [each for each in outcomes if not each.apart]
    lines = [_mean(runs)] if {"fig1.qfcp_best"} <= {each.claim.short for each in found} else []
    for group, title in _TOPICS:
        mine = [each for each in found if each.claim.short.startswith(f"{group}.")]
        if mine:
            lines.append(f"- {title}: {_fares(mine)}")
    return "\n".join(lines) or f"{len(outcomes)} claims, {runs.seeds} seeds."


def _mean(runs: Runs) -> str:
    """Return the mean FCT over all flows, which the paper does not print."""
    means = {name: runs.mean(fct(name), "fct_mean_s") for name in ("qfcp", "rcp", "xcp", "tcp")}
    qfcp, rcp = means["qfcp"], means["rcp"]
    less = "less" if rcp < qfcp else "more"
    unpaced = ""
    if runs.has("fct/without/pacing"):
        seconds = number(runs.mean("fct/without/pacing", "fct_mean_s"))
        unpaced = f" (without pacing QFCP takes {seconds} s)"
    return (
        f"- **Does QFCP finish flows soonest?** Sooner than TCP ({number(means['tcp'])} s on"
        f" average over all flows) and XCP ({number(means['xcp'])} s) by far: {number(qfcp)} s."
        f" RCP takes {number(rcp)} s, {less} than QFCP{unpaced}:{_by_size(runs)}."
    )


def _by_size(runs: Runs) -> str:
    """Return which of the two flows of each size finish sooner under."""

    def sooner(measure: Measure) -> str:
        qfcp, rcp = (runs.mean(fct(name), measure) for name in ("qfcp", "rcp"))
        return "QFCP" if qfcp < rcp else "RCP"

    few, many = sooner(m.long_fct), sooner(m.short_fct)
    return (
        f" the few flows of over {m.SHORT} packets finish sooner under {few}, the many shorter"
        f" ones under {many}"
    )


def _fares(outcomes: Sequence[ClaimResult]) -> str:
    hold = [each for each in outcomes if good(each)]
    text = f"{len(hold)} of {len(outcomes)} statements hold."
    rest = [each for each in outcomes if each not in hold]
    for each in rest:
        text += (
            f" {each.claim.value[:1].upper()}{each.claim.value[1:]}: {each.verdict}. {_short(each)}"
        )
    return text


def _short(outcome: ClaimResult) -> str:
    if isinstance(outcome.measured, float) and np.isfinite(outcome.measured):
        return outcome.reason.split(". ")[0].rstrip(".") + "."
    return outcome.reason
