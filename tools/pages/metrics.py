"""The reference of the metrics."""

from collections.abc import Iterator, Mapping

from tools.pages import MARK


def page() -> str:
    """Return every metric with its unit, as Markdown."""
    from tidegate.results import meanings
    from tidegate.results.statistics import metric_names

    lines = ["# Metrics", "", MARK]
    lines += [
        "The numbers of a run under one name each: in `--json`, in `table.csv`, in the frame of a"
        " comparison or a sweep, and for `--metrics`. Averages over seeds have a mean and a 95 %"
        " interval. The window goes from the warm-up to the end of the run; a metric that is not"
        " defined in a run is empty.",
        "",
        "## Of all flows, or of one class",
        "",
        "`fct_mean_s` is that of all flows together; where there are several classes,"
        " `CLASS.fct_mean_s` is that of one.",
        "",
        *_table(meanings.FLOWS),
        "",
        "## Of the packets of UDP",
        "",
        "Of a class of UDP, as in `voice.delay_p95_s`; without the class's name where it is the"
        " only one. What is under way at the end is neither received nor lost.",
        "",
        *_table(meanings.DATAGRAMS),
        "",
        "## Of viewers of video",
        "",
        "Of a class with `video`, as in `film.stalled_share`; without the class's name where it is"
        " the only one. A viewer counts from its first SYN on, as things stand when it leaves or"
        " the run ends.",
        "",
        *_table(meanings.VIEWERS),
        "",
        "## By size",
        "",
        "Of the flows of all classes up to 10 kB (`to_10kB`), from there to 100 kB (`to_100kB`), to"
        " 1 MB (`to_1MB`) and beyond (`above_1MB`), as in `to_10kB.fct_p95_s`.",
        "",
        *_table({f"SIZE.{name}": each for name, each in meanings.SIZES.items()}),
        "",
        "## Of the whole run",
        "",
        *_table(meanings.WHOLE),
        "",
        "## Of a port",
        "",
        "As in `bottleneck.utilisation`. Counts are those of the window.",
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
