"""What the users of a link feel: for each kind of user the measures, their limits, the least felt.

The limits are below. From what difference on a measure is noticed, and from what difference on it
harms, was chosen.

- What takes less than 0.1 s feels instantaneous (Nielsen, 1993): nobody notices such a difference
  in the load time of a page, or at the start of a video. As with other measures it takes five
  times what is noticed to harm: 0.5 s. Else 0.12 s, a third of 0.38 s, would outweigh much.
- A page: a load time of 3 s, at which half of the visits over mobile networks had ended (Google
  DoubleClick, 2016), and of 10 s, the limit of a user's attention (Nielsen, 1993).
- A call: 150 ms one way (ITU-T G.114), and 1 % of its packets, which cost 3.6 of 93 points of the
  rating of ITU-T G.107; beside them its mean opinion score by G.107. Below a rating of 50, a score
  of 2.58, a call is of no use (table B.1 of G.107 ends there): how bad it is does not count.
- A video: a start-up delay of 2 s, after which viewers begin to leave (Krishnan and Sitaraman,
  2012), and 1 % of the time in stalls (Dobrian and others, 2011). Of all measures stalls drive
  viewers away most (the same), so a lower rate with fewer stalls harms nobody.
- Updates of guests load in the background: nobody waits for them. How many end within a run says
  how long it was; what counts is what they are delivered, and whether they are admitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Measure:
    """One thing that users of a kind feel."""

    metric: str
    words: str
    sign: float
    """1 where more is better, -1 where less is."""
    unit: str
    scale: float
    notice: float
    """The least difference that is noticed, and `harm`, the least that harms."""
    harm: float
    relative: bool = False
    """Whether both are parts of the larger value."""
    limits: tuple[float, ...] = ()
    """A difference across one of these harms, however small it is."""
    sums_up: bool = False
    """Whether the measures behind it count only where they do not point against it."""
    fates: bool = False
    """Whether it is the share of users who get what they came for."""
    served: bool = False
    """Whether it is a time of those alone who were served, which says nothing against a share."""
    yields: bool = False
    """Whether it harms nobody where what sums up points against it."""
    within: bool = False
    """Whether values that all keep the limits are as good as each other."""
    instant: float = 0.0
    """Nobody notices a smaller difference, however large a part it is."""
    bearable: float = 0.0
    """Nobody is harmed by a smaller difference, however large a part it is."""
    useless: float | None = None
    """Up to this value users have nothing of what they came for, and notice no difference."""


class Counted(NamedTuple):
    """The metrics that tell how many users of a kind were served."""

    number: str
    said: str
    """What the number is of, as in `of video 3 began`."""
    share: str | None = None
    """The metric of the share that was served; None: what is felt is that of all."""
    unserved: bool = False
    """Whether the share is that of who was not served, and the number that of all."""

    def served(self, run: Mapping[str, float | None], prefix: str) -> int:
        """Return how many were served in a run, by its metrics with the prefix of the class."""
        number = run.get(f"{prefix}{self.number}") or 0.0
        if self.unserved:
            number *= 1.0 - (run.get(f"{prefix}{self.share}") or 0.0)
        return round(number)


@dataclass(frozen=True)
class Kind:
    """A kind of user."""

    sign: str
    """The metric that such a class has and no other."""
    measures: tuple[Measure, ...]
    counted: Counted | None = None
    """How many were served; None: they are measured all the time, however few they are."""


def _share(metric: str, words: str, sign: float) -> Measure:
    return Measure(metric, words, sign, "%", 100.0, 0.01, 0.05, sums_up=True, fates=True)


def _wait(metric: str, words: str, limits: tuple[float, ...] = (), instant: float = 0.0) -> Measure:
    return Measure(
        *(metric, words, -1.0, "s", 1.0, 0.05, 0.25, True, limits),
        served=True,
        instant=instant,
        bearable=HARM_OVER_NOTICE * instant,
    )


INSTANT = 0.1
HARM_OVER_NOTICE = 5.0
"""A difference harms from so many times on of what is noticed, here as in parts of the time."""

PAGES = Kind(
    "pages",
    (
        _share("pages_loaded_share", "pages loaded", 1.0),
        _wait("page_load_mean_s", "mean page load time", (3.0, 10.0), INSTANT),
    ),
    Counted("pages_loaded", "loaded", "pages_loaded_share"),
)
VIDEO = Kind(
    "viewers",
    (
        _share("never_started_share", "videos that never began", -1.0),
        _wait("startup_mean_s", "mean start-up delay", (2.0,), INSTANT),
        Measure(
            *("stalled_share", "time in stalls", -1.0, "%", 100.0, 0.002, 0.01),
            limits=(0.01,),
            sums_up=True,
        ),
        Measure(
            *("video_rate_mean_bps", "rate of the video", 1.0, "Mbit/s", 1e-6, 0.05, 0.2, True),
            yields=True,
        ),
    ),
    Counted("viewers", "began", "never_started_share", unserved=True),
)
CALL_DELAY_S = 0.15
"""What a call bears one way."""
CALLS = Kind(
    "call_mos",
    (
        Measure(
            *("call_mos", "mean opinion score", 1.0, "", 1.0, 0.1, 0.5),
            sums_up=True,
            useless=2.58,
        ),
        Measure(
            *("lost_share", "packets lost", -1.0, "%", 100.0, 0.002, 0.01),
            limits=(0.01,),
            within=True,
        ),
        Measure(
            *("delay_p95_s", "delay, p95", -1.0, "ms", 1e3, 0.005, 0.05),
            limits=(CALL_DELAY_S,),
            within=True,
        ),
    ),
    Counted("sent_packets", "packets were sent"),
)
"""A call sends all the time, whatever becomes of it: each packet meets the queue of its instant, so
that one call tells of thousands of instants. What has to be enough is its packets."""
LONG = Kind(
    "endless",
    (
        Measure("throughput_bps", "delivered", 1.0, "Mbit/s", 1e-6, 0.05, 0.2, True),
        Measure("flow_rate_jain", "Jain's index of their rates", 1.0, "", 1.0, 0.05, 0.2),
    ),
)
SESSIONS = Kind(
    "arrived",
    (
        _share("completed_share", "sessions completed", 1.0),
        _wait("fct_mean_s", "mean FCT"),
    ),
    Counted("completed", "completed", "completed_share"),
)
BACKGROUND = Kind(
    "arrived",
    (
        _share("never_admitted_share", "never admitted", -1.0),
        Measure("throughput_bps", "delivered", 1.0, "Mbit/s", 1e-6, 0.05, 0.5, True),
    ),
    Counted("arrived", "arrived"),
)
"""What nobody waits for: it is harmed by half of what it had (chosen)."""
OTHERS = Kind(
    "queue_delay_mean_s",
    (Measure("queue_delay_mean_s", "mean queue delay", -1.0, "ms", 1e3, 0.002, 0.05),),
)
"""Whoever else uses a link that flows without end have for themselves: they meet its queue."""

KINDS = (PAGES, VIDEO, CALLS)
"""Kinds that a metric of their own tells; others have ends or none."""
