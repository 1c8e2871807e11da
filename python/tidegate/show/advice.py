"""Which settings help the users, and whom they harm.

One rule, for comparisons and sweeps:

1. Two settings are compared for each class of users by what its users feel (`experience`). A
   difference counts where it is significant at 95 % and large enough to be noticed. What users feel
   counts where enough were served under both; the share of users served counts also where fewer
   were, as it tells of all who came. A time does not count against that share: of fewer users it
   may be shorter because they are other users. So loss and delay do not count against how a call
   sounds. Where a call is of no use under either setting, nothing of it counts. Of whom too few
   were served under every setting, nothing counts.
2. A setting *beats* another if it is better for somebody and worse for nobody, or if its gains are
   large enough to harm who goes without them, and its losses are not. Where a small gain stands
   against a small loss, neither beats the other.
3. What no other setting beats is recommended, if it beats one itself and nothing that is left
   differs.
4. Where several are left, each better for somebody else, those are recommended that keep all
   limits, if no users go unserved for it. Otherwise nothing is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tidegate.results.statistics import interval, side, unpaired
from tidegate.show.experience import BACKGROUND, KINDS, LONG, OTHERS, SESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidegate.show.experience import Kind, Measure

    Run = Mapping[str, float | None]

FEWEST = 30
"""So many users must have been served in all runs of a setting together, for its mean to tell."""
LEAST_SHARE = 0.1
"""And such a share of them, or those served are too special for their time to say anything."""
SAID = {
    "calls-up": "other end of calls",
    "meetings-up": "other end of meetings",
}
"""Classes of guests whose names do not say who they are: what guests send is heard elsewhere."""
UNATTENDED = ("updates",)
"""Classes of guests that nobody waits for."""


@dataclass(frozen=True)
class Setting:
    """A setting and what was measured under it: the metrics of each run by its seed."""

    name: str
    runs: Mapping[int, Run]

    def mean(self, metric: str) -> float | None:
        """Return the mean over the runs that have the metric."""
        return interval(run.get(metric) for run in self.runs.values())["mean"]


class Users(NamedTuple):
    """A class of users: what it is called, what its metrics begin with, and its kind."""

    name: str
    prefix: str
    kind: Kind

    @property
    def said(self) -> str:
        """The name in a sentence or a line that stands alone."""
        return SAID.get(self.name, self.name)


class Felt(NamedTuple):
    """What users feel of one setting in place of another."""

    users: Users
    measure: Measure
    better: bool
    harms: bool
    """Whether the worse of the two harms them."""

    @property
    def metric(self) -> str:
        """The full name of the metric."""
        return f"{self.users.prefix}{self.measure.metric}"


class Price(NamedTuple):
    """Who is worse off under a setting than under another."""

    under: Setting
    than: Setting
    felt: Felt


@dataclass(frozen=True)
class Advice:
    """What to take, and what it rests on."""

    taken: tuple[Setting, ...] = ()
    """Empty: nothing is recommended."""
    against: Setting | None = None
    """What the first of them is held against: a setting that it is better than."""
    felt: tuple[Felt, ...] = ()
    """What users feel of the first of them in place of `against`."""
    price: tuple[Price, ...] = ()
    """For whom it is worse; where nothing is recommended, for whom each of several settings is."""
    unknown: tuple[Users, ...] = ()
    """Classes of which too few users were served under any setting."""
    useless: tuple[Users, ...] = ()
    """Classes that have nothing of what they came for under any setting."""


def users_of(
    classes: Sequence[str], port: str | None, runs: Sequence[Run], guests: Sequence[str] = ()
) -> list[Users]:
    """Return the classes of users, each with its kind, by what was measured of it.

    `guests`: which of them a scenario's guests are.
    """
    unattended = set(UNATTENDED).intersection(guests)
    named = {name: f"{name}." for name in classes} if len(classes) > 1 else {classes[0]: ""}
    found = [
        Users(name, prefix, BACKGROUND if name in unattended else _kind(prefix, runs))
        for name, prefix in named.items()
    ]
    alone = all(each.kind is LONG for each in found)
    if port and alone and any(run.get(f"{port}.{OTHERS.sign}") is not None for run in runs):
        found.append(Users("others at its queue", f"{port}.", OTHERS))
    return found


def _kind(prefix: str, runs: Sequence[Run]) -> Kind:
    for kind in KINDS:
        if any(run.get(f"{prefix}{kind.sign}") for run in runs):
            return kind
    endless = all(run.get(f"{prefix}endless") == run.get(f"{prefix}flows") for run in runs)
    return LONG if endless and any(run.get(f"{prefix}flows") for run in runs) else SESSIONS


def advise(settings: Sequence[Setting], users: Sequence[Users], *, paired: bool) -> Advice:
    """Return which of these settings to take.

    `paired`: the runs of one seed met the same flows, and are compared seed by seed.
    """
    unknown = tuple(each for each in users if not _told(settings, each))
    known = [each for each in users if each not in unknown]
    useless = tuple(each for each in known if all(_useless(one, each) for one in settings))
    found = {
        (one.name, other.name): tuple(
            felt for each in known for felt in compared(one, other, each, paired=paired)
        )
        for one in settings
        for other in settings
        if one is not other
    }
    won = [pair for pair, felt in found.items() if _beats(felt)]
    better, beaten = {name for name, _ in won}, {name for _, name in won}
    unbeaten = [each for each in settings if each.name not in beaten]
    apart = any(found[one.name, two.name] for one in unbeaten for two in unbeaten if one is not two)
    # what beats none may be as good by chance alone
    best = [each for each in unbeaten if each.name in better]
    taken = _within_limits(unbeaten, known, found) if apart else best
    if not beaten and not apart:
        return Advice(unknown=unknown, useless=useless)
    if not taken:
        price = _prices(unbeaten or settings, settings, found)
        return Advice(price=tuple(price), unknown=unknown, useless=useless)
    first, others = taken[0], [each for each in settings if each not in taken]
    worse = [each for each in others if _gains(found[first.name, each.name])]
    against = (worse or others)[0]
    price = _prices([first], others, found)
    felt = found[first.name, against.name]
    return Advice(tuple(taken), against, felt, tuple(price), unknown, useless)


def _prices(
    these: Sequence[Setting],
    others: Sequence[Setting],
    found: Mapping[tuple[str, str], Sequence[Felt]],
) -> Iterator[Price]:
    """Yield what users feel for the worse, what harms them first."""
    prices = [
        Price(one, other, felt)
        for one in these
        for other in others
        if one is not other
        for felt in found[one.name, other.name]
        if not felt.better
    ]
    return iter(sorted(prices, key=lambda price: not price.felt.harms))


def _beats(felt: Sequence[Felt]) -> bool:
    gains = [each for each in felt if each.better]
    losses = [each for each in felt if not each.better]
    if not losses:
        return bool(gains)
    return any(each.harms for each in gains) and not any(each.harms for each in losses)


def _gains(felt: Sequence[Felt]) -> bool:
    return any(each.better for each in felt)


def _within_limits(
    left: Sequence[Setting],
    users: Sequence[Users],
    found: Mapping[tuple[str, str], Sequence[Felt]],
) -> list[Setting]:
    """Return those that keep all limits, if others do not and nobody goes unserved for it."""
    keeping = [each for each in left if keeps_limits(each, users)]
    if not keeping or len(keeping) == len(left):
        return []
    for one in keeping:
        for other in left:
            felt = found[one.name, other.name] if one is not other else ()
            unserved = any(each.measure.fates and each.harms and not each.better for each in felt)
            if unserved or (other in keeping and felt):
                return []
    return keeping


def keeps_limits(setting: Setting, users: Sequence[Users]) -> bool:
    """Tell whether a setting keeps the last limit of each measure; what is not known breaks it."""
    limited = [
        (setting.mean(f"{each.prefix}{measure.metric}"), measure.limits)
        for each in users
        for measure in each.kind.measures
        if measure.limits
    ]
    return all(value is not None and value <= max(limits) for value, limits in limited)


def served(setting: Setting, users: Users) -> float:
    """Return how many of a class were served in all runs of a setting together."""
    if users.kind.counted is None:
        return math.inf
    return sum(users.kind.counted.served(run, users.prefix) for run in setting.runs.values())


def _told(settings: Sequence[Setting], users: Users) -> bool:
    """Tell whether enough users were served under any setting to say anything."""
    return any(served(each, users) >= FEWEST for each in settings)


def _enough(setting: Setting, users: Users) -> bool:
    """Tell whether enough were served for what they felt to say anything."""
    if served(setting, users) < FEWEST:
        return False
    counted = users.kind.counted
    if counted is None or counted.share is None:
        return True
    share = setting.mean(f"{users.prefix}{counted.share}") or 0.0
    return (1.0 - share if counted.unserved else share) >= LEAST_SHARE


def _useless(setting: Setting, users: Users) -> bool:
    """Tell whether these users have nothing of what they came for."""
    told = ((setting.mean(f"{users.prefix}{each.metric}"), each) for each in users.kind.measures)
    return any(
        each.useless is not None and mean is not None and mean <= each.useless
        for mean, each in told
    )


def compared(one: Setting, other: Setting, users: Users, *, paired: bool) -> Iterator[Felt]:
    """Yield what the users of a class feel of one setting in place of another."""
    if _useless(one, users) and _useless(other, users):
        return
    comparable = _enough(one, users) and _enough(other, users)
    sum_of_all: Felt | None = None
    for measure in users.kind.measures:
        found = _felt(one, other, users, measure, paired=paired)
        if found is None or not (comparable or measure.fates):
            continue
        # a shorter time of fewer users may be that of other users; a call sounds as it sounds
        against = sum_of_all is not None and sum_of_all.better != found.better
        if against and (measure.served or measure.within):
            continue
        if against and measure.yields:
            found = found._replace(harms=False)
        sum_of_all = found if measure.sums_up else sum_of_all
        yield found


def sooner(one: Setting, other: Setting, users: Users, *, paired: bool) -> Felt | None:
    """Return what those who are served feel, whether or not as many are served."""
    times = [measure for measure in users.kind.measures if measure.served]
    found = [_felt(one, other, users, measure, paired=paired) for measure in times]
    return next((each for each in found if each), None)


def _felt(
    one: Setting, other: Setting, users: Users, measure: Measure, *, paired: bool
) -> Felt | None:
    """Return what is felt by one measure: None where it is not significant, or not noticed."""
    metric = f"{users.prefix}{measure.metric}"
    mine, theirs = one.mean(metric), other.mean(metric)
    sign = side(difference(one, other, metric, paired=paired))
    if mine is None or theirs is None or sign == 0:
        return None
    apart = abs(mine - theirs)
    size = apart / max(abs(mine), abs(theirs)) if measure.relative else apart
    crossed = any(min(mine, theirs) <= limit < max(mine, theirs) for limit in measure.limits)
    if measure.within and max(mine, theirs) <= max(measure.limits):
        return None
    if size < measure.notice or apart < measure.instant:
        return None
    harms = crossed or (size >= measure.harm and apart >= measure.bearable)
    return Felt(users, measure, sign * measure.sign > 0, harms)


def difference(
    one: Setting, other: Setting, metric: str, *, paired: bool
) -> dict[str, float | None]:
    """Return mean and 95 % interval of what one setting has more than another."""
    seeds = [seed for seed in one.runs if seed in other.runs]
    pairs = [(one.runs[seed].get(metric), other.runs[seed].get(metric)) for seed in seeds]
    if not paired:
        return unpaired(*zip(*pairs, strict=True)) if pairs else interval([])
    return interval(
        None if mine is None or theirs is None else mine - theirs for mine, theirs in pairs
    )
