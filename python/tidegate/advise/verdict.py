"""Which control to take at a link with people: the rule of every comparison, and the first step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidegate.advise.scene import CONTROLS, NOW
from tidegate.results.digits import significant
from tidegate.results.statistics import interval, metrics
from tidegate.show.advice import Advice, Setting, advise, keeps_limits, users_of
from tidegate.show.recommendation import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.grid.grid_result import GridResult
    from tidegate.show.advice import Users
    from tidegate.show.experience import Measure


DELAY = "delay_p95_s"
"""The delay of a call, one way."""
SEEDS = (5, 10, 20)
"""How many seeds are run, one number after the other, until advice is settled (chosen)."""


def attempts(asked: int | None) -> tuple[int, ...]:
    """Return with how many seeds to try, one number after the other."""
    return SEEDS if asked is None else (asked,)


def settled(before: LinkAdvice | None, now: LinkAdvice) -> bool:
    """Tell whether fewer seeds recommended a control that more recommend as well.

    With few seeds a difference that is there may not be significant. Then a control that helps is
    not found, or one that harms somebody is recommended.
    """
    if before is None or not (before.helps and now.helps):
        return False
    return not set(before.taken).isdisjoint(now.taken)


@dataclass(frozen=True)
class LinkAdvice:
    """What people feel under each control, and which to take."""

    settings: tuple[Setting, ...]
    users: tuple[Users, ...]
    found: Advice
    text: str

    @property
    def taken(self) -> tuple[str, ...]:
        """The controls that are recommended, that with the least to type first."""
        names = {setting.name for setting in self.found.taken}
        return tuple(name for name in CONTROLS if name in names)

    @property
    def first(self) -> str:
        """The control to try first; as it is, where nothing is recommended."""
        return self.taken[0] if self.taken else NOW

    @property
    def helps(self) -> bool:
        """Whether a control is better than the link as it is."""
        return self.first != NOW

    @property
    def searched(self) -> tuple[str, ...]:
        """The controls of `--how-many`: as it is and what is recommended, or else every one.

        That none is recommended for so many people does not say that none helps fewer.
        """
        every = (setting.name for setting in self.settings)
        return tuple(dict.fromkeys((NOW, *(self.taken[:1] or every))))

    def beyond(self) -> list[str]:
        """Return which limits are broken even under what is recommended."""
        setting = next(each for each in self.settings if each.name == self.first)
        found = []
        for users in self.users:
            for measure in users.kind.measures:
                mean = value(setting, users, measure)["mean"]
                if measure.limits and mean is not None and mean > min(measure.limits):
                    numbers = (mean * measure.scale, min(measure.limits) * measure.scale)
                    said = f"{users.said}: {measure.words} {significant(numbers[0])} {measure.unit}"
                    found.append(f"{said} (limit {numbers[1]:g})")
        return found

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        return {
            "recommended": list(self.taken),
            "in_words": self.text,
            "felt": {
                setting.name: {
                    f"{users.prefix}{measure.metric}": value(setting, users, measure)
                    for users in self.users
                    for measure in users.kind.measures
                }
                for setting in self.settings
            },
        }


def value(setting: Setting, users: Users, measure: Measure) -> dict[str, float | None]:
    """Return mean and interval of what users feel by one measure."""
    name = f"{users.prefix}{measure.metric}"
    return interval(run.get(name) for run in setting.runs.values())


def within_reach(users: Sequence[Users], rtt_s: float) -> list[Users]:
    """Return the users without the limits of delay that distance alone breaks."""

    def kept(measure: Measure) -> Measure:
        if measure.metric != DELAY or max(measure.limits) > rtt_s / 2:
            return measure
        return replace(measure, limits=(), within=False)

    return [
        each._replace(kind=replace(each.kind, measures=tuple(map(kept, each.kind.measures))))
        for each in users
    ]


def verdict(done: GridResult, rtt_s: float) -> LinkAdvice:
    """Judge the runs of a comparison of the controls on a link with a round trip."""
    by_name: dict[str, dict[int, Any]] = {}
    for row in done.rows:
        name = next(iter(row["settings"].values()))
        by_name.setdefault(name, {})[row["seed"]] = metrics(row)
    settings = [Setting(name, runs) for name, runs in by_name.items()]
    runs = [run for setting in settings for run in setting.runs.values()]
    users = users_of(done.subject.classes, None, runs, done.rows[0].get("people", ()))
    return judged(settings, within_reach(users, rtt_s))


def judged(settings: Sequence[Setting], users: Sequence[Users]) -> LinkAdvice:
    """Apply the rule; the runs of one seed met the same people."""
    found = advise(settings, users, paired=True)
    seeds = max(len(setting.runs) for setting in settings)
    basis = f"{seeds} seeds, the same people"
    text = in_words(found, settings, basis, paired=True)
    if _is_hopeless(found, settings, users):
        found = Advice(unknown=found.unknown)
        text = f"No recommendation: {HOPELESS}. Basis: {basis}."
    return LinkAdvice(tuple(settings), tuple(users), found, text)


HOPELESS = (
    "no control helps enough, and the link as it is serves as well as any of them. It takes fewer"
    " people or a faster link"
)


def _is_hopeless(found: Advice, settings: Sequence[Setting], users: Sequence[Users]) -> bool:
    """Tell whether the present state is among the best, and all break a last limit."""
    names = {setting.name for setting in found.taken}
    return NOW in names and not any(keeps_limits(each, users) for each in settings)
