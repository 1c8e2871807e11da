"""The reference of the metrics."""

from collections.abc import Iterator, Mapping

from tools.pages import MARK


def page() -> str:
    """Return every metric with its unit, as Markdown."""
    from tidegate.results import meanings
    from tidegate.results.statistics import metric_names

    lines = ["# Metrics", "", MARK]
    lines += [
        "Every metric of a run has one name: in `--json`, in `table.csv`, in the frame of a"
        " comparison or a sweep, and for `--metrics`. FCT is the flow completion time. Averages"
        " over seeds have a mean and a 95 % interval. The window is from the warm-up to the end of"
        " the run. A metric that is not defined in a run is empty.",
        "",
        "## All flows, or one class",
        "",
        "`fct_mean_s` is of all flows together. With several classes, `CLASS.fct_mean_s` is of one"
        " class.",
        "",
        *_table(meanings.FLOWS),
        "",
        "## Round trips",
        "",
        "Of a class of TCP, as in `web.rtt_mean_s`; without the name of the class if it is the only"
        " one.",
        "",
        *_table(meanings.RTTS),
        "",
        "## Packets of UDP",
        "",
        "Of a class of UDP, as in `voice.delay_p95_s`; without the name of the class if it is the"
        " only one. Packets in flight at the end are neither received nor lost.",
        "",
        *_table(meanings.DATAGRAMS),
        "",
        "## Viewers of video",
        "",
        "Of a class with `video`, as in `film.stalled_share`; without the name of the class if it"
        " is the only one. A viewer counts from its first SYN until it leaves or the run ends.",
        "",
        *_table(meanings.VIEWERS),
        "",
        "## Pages",
        "",
        "Of a class with `pages`, as in `web.page_load_p95_s`; without the name of the class if it"
        " is the only one. The connections of such a class count as sessions above, without FCT.",
        "",
        *_table(meanings.PAGES),
        "",
        "## By size",
        "",
        "Flows of all classes up to 10 kB (`to_10kB`), above that up to 100 kB (`to_100kB`), up to"
        " 1 MB (`to_1MB`), and larger (`above_1MB`), as in `to_10kB.fct_p95_s`.",
        "",
        *_table({f"SIZE.{name}": each for name, each in meanings.SIZES.items()}),
        "",
        "## The whole run",
        "",
        *_table(meanings.WHOLE),
        "",
        "## A port",
        "",
        "As in `bottleneck.utilisation`. Counts are of the window.",
        "",
        *_table({f"PORT.{name}": each for name, each in meanings.PORTS.items()}),
    ]
    reasons = [
        name.split(".", 2)[2]
        for name in metric_names(("a",), ("p",))
        if name.startswith("p.drops.")
    ]
    named = ", ".join(f"`{reason}`" for reason in reasons)
    lines.append(f"| `PORT.drops.REASON` | packets | {meanings.DROPS}: {named} |")
    return "\n".join(lines) + "\n"


def _table(metrics: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    yield "| metric | unit | |"
    yield "|---|---|---|"
    for name, (unit, meaning) in metrics.items():
        yield f"| `{name}` | {unit} | {meaning} |"
