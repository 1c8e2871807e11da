"""Texts of the report with numbers from the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate.papers.report import number
from tidegate.papers.session.cases import OTHER_LOADS, TUNED, threshold
from tidegate.papers.session.measures import served

if TYPE_CHECKING:
    from tidegate.papers.runs import Runs


CASES = (
    *(f"paths/{rate}/{way}" for rate in (100, 1000) for way in ("all", "fin5", "fin15")),
    "paths/1000/syn15",
    "opaque/0.15",
)
"""What is in no picture and no claim."""


def _rate(runs: Runs, case: str) -> str:
    return number(runs.mean(case, served) / 250.0)


def _fct(runs: Runs, case: str) -> str:
    values = [record.traffic("web")["fct_mean_s"] for record in runs.records(case)]
    return number(float(np.mean(values)))


def _pair(runs: Runs, case: str) -> str:
    return f"{_rate(runs, case)}/s at {_fct(runs, case)} s"


def _cases(runs: Runs) -> str:
    """Return a line for each case that the paper names and does not run."""

    def pair(case: str) -> str:
        return _pair(runs, case)

    def fins(share: str) -> str:
        both = (_rate(runs, f"paths/{rate}/{share}") for rate in (1000, 100))
        return " and ".join(f"{rate}/s" for rate in both)

    return f"""\
Completions and mean FCT at 1000 arrivals/s of 10 kB, 50 to 300 s:

- **Downloads** (footnote 5), gated by their SYN+ACKs at the congested port:
  {pair("downloads/cp")} under CP, {pair("downloads/none")} without.
- **RST instead of a dropped SYN**: {pair("refuse/rst")}; dropping gives
  {pair("static/10k-1000/cp")}. Who is reset gives up: nothing comes again, and nobody waits.
- **Two controlled routers in series**, 10 and 5 Mbit/s: {pair("series/both")} with both gates,
  {pair("series/second")} with that of the second link alone, {pair("series/first")} with that
  of the first alone, {pair("series/none")} with none.
- **UDP takes half of the link**: {pair("udp/cp")} under CP, {pair("udp/none")} without.
- **Encrypted sessions** pass uncounted: with 0.15 % of them {pair("opaque/0.15")}, with 10 %
  {pair("opaque/10")}.
- **FINs that take another way** look like sessions that never end. CP completes {fins("all")}
  of 1000 and of 100 arrivals/s when it sees all FINs, {fins("fin5")} when it misses 5 %, and
  {fins("fin15")} when it misses 15 %: a probe adds 10 %, and a gate that sees less than
  it admits closes step by step. **SYNs that take another way** come in uncounted: with 15 % of
  them CP completes {pair("paths/1000/syn15")} of 1000 arrivals/s.
- **Other SYN timers at the hosts** (see the picture). Alone, longer waits help:
  {pair("hosts/15s/none")} with waits from 15 s on, {pair("hosts/1s/none")} from 1 s on.
  Together with CP it matters whether they are multiples of the epoch:
  {pair("hosts/1s/cp")} from 1 s on, {pair("hosts/15s/cp")} from 15 s on, but
  {pair("hosts/jitter/cp")} with waits up to half as long again at random, by which a retry
  comes at another phase of an epoch and old sessions get in.

**Thresholds**, tuned at 1000 arrivals/s of 10 kB on 10 Mbit/s (the most completions of those
tried), then used elsewhere: completions and mean FCT.
"""


def beyond(runs: Runs) -> str:
    """Return what came of the cases beyond the paper, and of the baselines."""

    def pair(case: str) -> str:
        return _pair(runs, case)

    lines = [
        _cases(runs),
        f"| load | optimum | {' | '.join(f'{law} {value:g}' for law, value in TUNED.items())}"
        " | GSS+GA | CP |",
        "|---|---|---|---|---|---|",
    ]
    from tidegate.papers.session.statements import OPTIMA

    names = {"30k": "30 kB", "300": "300 arrivals/s", "5M": "5 Mbit/s", "100": "100 arrivals/s"}
    for load in OTHER_LOADS:
        _, best = runs.best(f"optimum/{OPTIMA[load]}")
        cells = [f"{number(runs.mean(best, 'completed') / 250)}/s"]
        cells += [pair(threshold(law, value, load).key) for law, value in TUNED.items()]
        cells += [pair(f"other/{load}/{name}") for name in ("gssga", "cp")]
        lines.append(f"| {names[load]} | {' | '.join(cells)} |")
    return "\n".join(lines)
