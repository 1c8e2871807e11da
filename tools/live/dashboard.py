"""Draw the Grafana dashboard of the gate from a real run, without Grafana.

    python -m tools.live.dashboard [--seconds 120] [--out docs/pictures/dashboard.png]

A gate with `tide` shapes the link of the lab, and users load pages: half as many as the link
carries for a third of the time, then two and a half times as many, then half again. A Prometheus
asks the gate every second. Then each query of `crates/gate/etc/grafana-gate.json` is asked as
Grafana would ask it, and each panel is drawn at its place.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
import urllib.parse
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from tidegate.hosts.lab import LEFT, PORT, Lab, LabError, interrupted, need
from tidegate.show.style import GREY, RULES, colour, line
from tools.live.page_users import Plan
from tools.live.pages import CLIENTS, PAGE_ON_LINK, SCENARIO

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = Path(__file__).parents[2]
BOARD = ROOT / "crates/gate/etc/grafana-gate.json"
ALERTS = ROOT / "crates/gate/etc/alerts.yml"
GATE = "127.0.0.1:9477"
PROMETHEUS = "127.0.0.1:9490"
SCRAPE = 1
"""Seconds from one question of Prometheus to the next."""

MBIT = 5
"""Rate of the link."""
LOADS = (0.5, 2.5, 0.5)
"""Users of each third of the run, of what the link carries."""

ASK = """
import json, sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(sys.argv[1], timeout=5).read().decode()
except urllib.error.HTTPError as error:
    answer = error.read().decode()
except OSError as error:
    answer = json.dumps({"status": "error", "error": str(error)})
print(answer)
"""


class Host(Protocol):
    """What Prometheus needs of a lab."""

    folder: Path

    def within(self, namespace: str, /, *command: str) -> str:
        """Run a command in a namespace."""

    def start(self, namespace: str, /, *command: str) -> subprocess.Popen[str]:
        """Start a process there."""

    def until(
        self,
        done: Callable[[], object],
        what: str,
        process: subprocess.Popen[str],
        seconds: float,
        /,
    ) -> None:
        """Wait for a condition."""


@dataclass(frozen=True)
class Prometheus:
    """A Prometheus that asks a gate of the same namespace."""

    host: Host
    namespace: str

    @classmethod
    def started(cls, host: Host, namespace: str) -> Prometheus:
        """Start it, and wait until it has asked the gate four times."""
        config = host.folder / "prometheus.yml"
        config.write_text(
            f"global: {{ scrape_interval: {SCRAPE}s, evaluation_interval: {SCRAPE}s }}\n"
            f"rule_files: [ {ALERTS} ]\n"
            "scrape_configs:\n  - job_name: tidegate\n    static_configs:\n"
            f"      - targets: [ '{GATE}' ]\n",
            encoding="utf-8",
        )
        process = host.start(
            namespace,
            *("prometheus", f"--config.file={config}", f"--storage.tsdb.path={host.folder}/data"),
            *(f"--web.listen-address={PROMETHEUS}", "--log.level=error"),
        )
        itself = cls(host, namespace)
        host.until(itself.has_asked, "answer of the gate to Prometheus", process, 60)
        return itself

    def has_asked(self) -> bool:
        """Return whether it has asked the gate four times."""
        query = "count_over_time(tidegate_gate_attached[1m])"
        try:
            found = self.ask("query", query=query)["result"]
        except LabError:
            return False
        return bool(found) and int(found[0]["value"][1]) >= 4

    def ask(self, what: str, **words: str | float) -> Any:  # noqa: ANN401
        """Return the data of an answer of its HTTP API."""
        url = f"http://{PROMETHEUS}/api/v1/{what}?{urllib.parse.urlencode(words)}"
        said = self.host.within(self.namespace, sys.executable, "-c", ASK, url)
        try:
            answer = json.loads(said)
        except json.JSONDecodeError:  # "Service Unavailable", while it starts
            raise LabError(f"Prometheus, {what}: {said.strip()}") from None
        if answer["status"] != "success":
            raise LabError(f"Prometheus, {what}: {answer['error']}")
        return answer["data"]

    def variables(self, board: Mapping[str, Any]) -> dict[str, str]:
        """Return the variables of a dashboard; of several values Grafana chooses the first."""
        chosen: dict[str, str] = {}
        for each in board["templating"]["list"]:
            if each["type"] != "query":
                continue
            found = re.fullmatch(r"label_values\((.*), (\w+)\)", each["query"])
            if found is None:
                raise LabError(f"${each['name']} is no label_values(METRIC, LABEL)")
            series = self.ask("series", **{"match[]": filled(found[1], chosen)})
            values = sorted({one[found[2]] for one in series})
            if not values:
                raise LabError(f"${each['name']} has no value")
            chosen[each["name"]] = values[0]
        return chosen


def intervals(seconds: float, points: int, scrape: int = SCRAPE) -> dict[str, str]:
    """Return Grafana's own variables: time between two points, window of a rate, and all time."""
    step = max(math.ceil(seconds / points), scrape)
    return {
        "__interval": f"{step}s",
        "__rate_interval": f"{max(step + scrape, 4 * scrape)}s",
        "__range": f"{seconds:.0f}s",
    }


def filled(text: str, values: Mapping[str, str]) -> str:
    """Put values in the place of `$name` and `${name}`; an unknown name stays."""
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda at: values.get(at[1] or at[2], at[0]), text)


def legend(form: str, labels: Mapping[str, str]) -> str:
    """Return the name of a line: labels in the place of `{{label}}`, nothing for a missing one."""
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda at: labels.get(at[1], ""), form)


UNITS = {
    "bps": (" b/s", " kb/s", " Mb/s", " Gb/s"),
    "pps": (" p/s", "K p/s", "M p/s", "B p/s"),
    "short": ("", " K", " Mil", " Bil"),
}
"""Endings of a value, of a thousand, of a million and of a thousand millions."""


def shown(value: float, unit: str) -> str:
    """Return a value in a unit, as Grafana writes it."""
    if unit == "percentunit":
        return f"{100 * value:.3g}%"
    if unit == "none":
        return f"{value:.0f}"
    counted = unit.removeprefix("count:")
    endings = UNITS.get(unit) or tuple(f"{prefix} {counted}" for prefix in ("", "K", "M", "B"))
    if unit not in UNITS and counted == unit:
        raise LabError(f"the unit {unit} is not known here")
    power = 0
    while abs(value) >= 1000 and power < 3:
        value, power = value / 1000, power + 1
    return f"{value:.4g}{endings[power]}"


def settings(panel: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the settings of a line: the defaults of its panel, and what is set by its name."""
    found = dict(panel["fieldConfig"]["defaults"])
    for each in panel["fieldConfig"]["overrides"]:
        if each["matcher"] == {"id": "byName", "options": name}:
            found |= {one["id"]: one["value"] for one in each["properties"]}
    return found


def mapped(value: float, found: Mapping[str, Any]) -> tuple[str, str]:
    """Return text and colour of a value: by its mapping, else by its threshold."""
    for each in found.get("mappings", []):
        one = each["options"].get(f"{value:g}") if each["type"] == "value" else None
        if one:
            return one["text"], one["color"]
    steps = found.get("thresholds", {}).get("steps", [])
    reached = [step["color"] for step in steps if step["value"] is None or step["value"] <= value]
    return shown(value, found.get("unit", "none")), [*["text"], *reached][-1]


@dataclass(frozen=True)
class Line:
    """What a query returned for one set of labels."""

    name: str
    times: Sequence[float]
    """Seconds since the begin."""
    values: Sequence[float]

    def unbroken(self, step: float) -> tuple[list[float], list[float]]:
        """Return times and values, with a NaN where values are missing: the line ends there."""
        times, values = list(self.times[:1]), list(self.values[:1])
        for at, value in zip(self.times[1:], self.values[1:], strict=True):
            if at - times[-1] > 1.5 * step:
                times.append(at)
                values.append(math.nan)
            times.append(at)
            values.append(value)
        return times, values


def answer(
    prometheus: Prometheus,
    target: Mapping[str, Any],
    values: Mapping[str, str],
    begin: float,
    end: float,
) -> list[Line]:
    """Ask a query of a panel, as Grafana would: over a time, or of its end alone."""
    since = end if target.get("instant") else begin
    found = prometheus.ask(
        "query_range",
        query=filled(target["expr"], values),
        start=since,
        end=end,
        step=values["__interval"],
    )
    return [
        Line(
            legend(target["legendFormat"], one["metric"]),
            [at - begin for at, _ in one["values"]],
            [float(value) for _, value in one["values"]],
        )
        for one in found["result"]
    ]


@dataclass(frozen=True)
class Seen:
    """A run, as the dashboard shows it."""

    board: dict[str, Any]
    variables: Mapping[str, str]
    seconds: float
    panels: Sequence[Sequence[Line]]
    """The lines of each panel."""

    @property
    def step(self) -> float:
        """Seconds between two points."""
        return float(self.variables["__interval"].removesuffix("s"))


def watched(lab: Lab, seconds: float) -> Seen:
    """Let users load pages through a gate that Prometheus asks; return what the dashboard shows."""
    prepare(lab)
    text = f"mode = 'enforce'\nlaw = {{ law = 'tide' }}\nshape = '{MBIT}Mbit'\n"
    lab.gate(text, metrics=GATE)
    prometheus = Prometheus.started(lab, lab.router)
    begin = time.time()
    users(lab, seconds)
    end = time.time()
    board = json.loads(BOARD.read_text(encoding="utf-8"))
    values = prometheus.variables(board) | intervals(seconds, PIXELS)
    panels = [
        [
            each
            for target in panel["targets"]
            for each in answer(prometheus, target, values, begin, end)
        ]
        for panel in board["panels"]
    ]
    return Seen(board, values, seconds, panels)


def prepare(lab: Lab) -> None:
    """Make the link, the addresses of the users, and the server of pages."""
    lab.link(lab.write(SCENARIO)[0])
    lab.users(f"{CLIENTS}.0.0/16")
    lab.ready(lab.left, sys.executable, "-m", "tools.live.page_server", LEFT, str(PORT))


def users(lab: Lab, seconds: float) -> None:
    """Let users come; their number changes with each third of the time."""
    carries = MBIT * 1e6 / PAGE_ON_LINK
    steps = tuple((seconds * n / len(LOADS), of * carries) for n, of in enumerate(LOADS))
    plan = json.dumps(asdict(Plan(LEFT, PORT, CLIENTS, seconds, steps)))
    lab.ended(lab.start(lab.right, sys.executable, "-m", "tools.live.page_users", plan))


PIXELS = 700
"""Points of a panel of half of the picture."""
WIDTH, COLUMNS = 1440, 24
ROW, GAP, HEAD = 38, 8, 64
"""Height of a row of the grid, space between two panels, height of the header, in pixels."""
DPI = 100
FRAME, INK = "#d0d3d8", "#24292e"
NAMED = {
    "red": "#e02f44",
    "orange": "#ff780a",
    "yellow": "#e0b400",
    "green": "#56a64b",
    "blue": "#3274d9",
    "text": "#9a9ea6",
}
"""Grafana's colours, in its light theme."""


@dataclass(frozen=True)
class Box:
    """Place of a panel on the picture, in pixels from the upper left corner."""

    x: float
    y: float
    wide: float
    high: float

    @classmethod
    def of(cls, panel: Mapping[str, Any]) -> Box:
        """Return the place that a dashboard says."""
        at = panel["gridPos"]
        column = WIDTH / COLUMNS
        wide, high = at["w"] * column - GAP, at["h"] * ROW - GAP
        return cls(at["x"] * column + GAP / 2, HEAD + at["y"] * ROW, wide, high)

    def inner(self, left: float, top: float, right: float, bottom: float) -> Box:
        """Return what is left within margins."""
        wide, high = self.wide - left - right, self.high - top - bottom
        return Box(self.x + left, self.y + top, wide, high)

    def shares(self, figure: Figure) -> tuple[float, float, float, float]:
        """Return it as left, bottom, width and height, of those of the figure."""
        wide, high = figure.get_size_inches() * DPI
        return self.x / wide, 1 - (self.y + self.high) / high, self.wide / wide, self.high / high


def draw(seen: Seen, picture: Path) -> None:
    """Draw all panels at their places."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    look = {**RULES, "figure.constrained_layout.use": False, "text.color": INK}
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in seen.board["panels"])
    with mpl.rc_context(cast("Any", look)):
        figure = plt.figure(figsize=(WIDTH / DPI, (HEAD + rows * ROW) / DPI), dpi=DPI)
        for panel, found in zip(seen.board["panels"], seen.panels, strict=True):
            box = Box.of(panel)
            frame = figure.add_axes(box.shares(figure), xticks=[], yticks=[])
            frame.spines[:].set(visible=True, color=FRAME)
            _say(figure, box.x + 10, box.y + 9, panel["title"], size=10.5, weight="bold")
            if not found:
                nothing = panel["fieldConfig"]["defaults"].get("noValue", "No data")
                _say(figure, box.x + 10, box.y + box.high / 2, nothing, color=GREY)
                continue
            KINDS[panel["type"]](figure, box, panel, found, seen)
        _header(figure, seen)
        figure.savefig(picture, dpi=DPI, format="png")
        plt.close(figure)
    # a third of the size, and it looks the same
    with Image.open(picture) as drawn:
        few = drawn.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(picture, format="PNG", optimize=True)


def _say(figure: Figure, x: float, y: float, text: str, **look: Any) -> None:  # noqa: ANN401
    """Write a text whose left end is there, in pixels; its top, if `va` does not say otherwise."""
    left, _, _, _ = Box(x, y, 0, 0).shares(figure)
    top = 1 - y / (figure.get_size_inches()[1] * DPI)
    figure.text(left, top, text, **{"va": "top", **look})


def _header(figure: Figure, seen: Seen) -> None:
    chosen = ", ".join(
        f"{name} {value}" for name, value in seen.variables.items() if name[0] != "_"
    )
    _say(figure, 8, 12, f"{seen.board['title']} ({chosen})", size=13, weight="bold")
    loads = ", then ".join(f"{load:g}" for load in LOADS)
    text = (
        f"Drawn from the dashboard's own queries, not by Grafana. Users load pages over {MBIT} "
        f"Mbit/s: {loads} times what the link carries, {seen.seconds / len(LOADS):.0f} s each."
    )
    _say(figure, 8, 38, text, color=GREY, size=9.5)


def _curves(
    figure: Figure, box: Box, panel: Mapping[str, Any], found: Sequence[Line], seen: Seen
) -> None:
    """Draw a panel of lines over time."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    at = box.inner(64, 36, 16, 32 + 20 * _legend_rows(found, box))
    axes = figure.add_axes(at.shares(figure))
    default = panel["fieldConfig"]["defaults"]
    custom = default["custom"]
    for number, each in enumerate(found):
        look: dict[str, Any] = {"color": colour(number), "linestyle": line(number // 7)}
        times, values = each.unbroken(seen.step)
        axes.plot(times, values, **look, linewidth=1.4 * custom["lineWidth"], label=each.name)
        opacity = custom["fillOpacity"] / 100
        axes.fill_between(times, values, color=colour(number), alpha=opacity, linewidth=0)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value, default["unit"])))
    axes.set_ylim(default.get("min"), default.get("max"))
    _times(axes, seen.seconds)
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(-54 / at.wide, -30 / at.high),
        ncols=_per_row(box),
        frameon=False,
        borderaxespad=0,
        handlelength=1.2,
        columnspacing=1.4,
    )


def _per_row(box: Box) -> int:
    return max(1, int(box.wide // 150))


def _legend_rows(found: Sequence[Line], box: Box) -> int:
    return math.ceil(len(found) / _per_row(box))


def _times(axes: Axes, seconds: float) -> None:
    """Write the time as minutes and seconds since the begin."""
    axes.set_xlim(0, seconds)
    step = next(each for each in (5, 10, 20, 30, 60, 120, 300, 1e9) if seconds / each <= 8)
    ticks = [n * step for n in range(int(seconds // step) + 1)]
    axes.set_xticks(ticks, [f"{int(at // 60)}:{int(at % 60):02}" for at in ticks])
    axes.tick_params(colors=GREY, length=0)
    axes.tick_params(axis="x", pad=8)
    axes.spines[:].set_color(FRAME)


def _states(
    figure: Figure, box: Box, panel: Mapping[str, Any], found: Sequence[Line], seen: Seen
) -> None:
    """Draw a panel of states over time."""
    axes = figure.add_axes(box.inner(84, 34, 16, 30).shares(figure))
    for number, each in enumerate(found):
        own = settings(panel, each.name)
        for value, run_of in groupby(zip(each.times, each.values, strict=True), lambda at: at[1]):
            first, *rest = [at for at, _ in run_of]
            last = [first, *rest][-1] + seen.step
            text, name = mapped(value, own)
            axes.barh(number, last - first, left=first, height=0.8, color=NAMED[name], alpha=0.7)
            if last - first > seen.seconds / 20:
                axes.text(first + seen.seconds / 100, number, text, va="center")
    axes.set_yticks(range(len(found)), [each.name for each in found])
    axes.invert_yaxis()
    axes.grid(visible=False)
    _times(axes, seen.seconds)


def _stats(
    figure: Figure, box: Box, panel: Mapping[str, Any], found: Sequence[Line], _: Seen
) -> None:
    """Draw a panel of last values."""
    wide = (box.wide - 20) / len(found)
    for number, each in enumerate(found):
        text, name = mapped(each.values[-1], settings(panel, each.name))
        x, middle = box.x + 10 + number * wide, box.y + 34 + (box.high - 34) / 2
        tint = INK if name == "text" else NAMED[name]
        _say(figure, x, middle - 6, text, size=20, color=tint, weight="bold", va="baseline")
        _say(figure, x, middle + 18, each.name, color=GREY, va="baseline")


KINDS = {"timeseries": _curves, "state-timeline": _states, "stat": _stats}


def main() -> int:
    """Run the lab and draw the picture."""
    parser = argparse.ArgumentParser(
        description="Draw the Grafana dashboard of the gate from a real run, without Grafana.",
        prog="python -m tools.live.dashboard",
    )
    parser.add_argument("--seconds", type=float, default=120, help="of the run; 15 at least")
    default = ROOT / "docs/pictures/dashboard.png"
    parser.add_argument("--out", type=Path, default=default, help="the picture (PNG)")
    given = parser.parse_args()
    if not 15 <= given.seconds <= 3600:
        parser.error(f"--seconds {given.seconds:g}: 15 to 3600")
    need(gate=True, also=["prometheus"])
    try:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        with Lab() as lab:
            print(f"{given.seconds:.0f} s of users who load pages ...", flush=True)
            seen = watched(lab, given.seconds)
        draw(seen, given.out)
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"the picture is {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(interrupted(main))
