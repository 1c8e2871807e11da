"""Where real hosts and the simulator differ, and the reason is known; docs/emulate.md says more."""

from __future__ import annotations

from tools.validate.judge import Explanation

TIMERS = (
    "Linux looks at timers of 2 to 16 s four times a second, and they fire together; the profile's "
    "fire at their time. What is sent again in crowds is lost again, so those who have backed off "
    "seldom finish: fewer complete, and the mean time of those who do is shorter. With "
    "timer_rule = 'linux' the mean times of the three cases differed by +2, +3 and -16 %, and "
    "completions by -9, -9 and -14 %."
)
QUICK = (
    "Linux acknowledges the first segments of a flow one by one, the profile every second one, so "
    "its sender opens the window in larger steps. With delayed_ack = false the simulator has "
    "0.218 packets."
)
UNPACED = (
    "Linux does not pace the first ten segments of a flow, the simulator paces from the first: the "
    "queue in Linux is that of short-reno, to four digits."
)

CONTROLS = ("reno", "cubic", "bbr")

EXPLANATIONS = (
    *(Explanation(f"overload-{one}", "fct_mean_s", 0.40, TIMERS) for one in CONTROLS),
    *(Explanation(f"overload-{one}", "completed_per_s", 0.10, TIMERS) for one in CONTROLS),
    *(Explanation(f"middle-{one}", "queue_mean", 0.10, QUICK) for one in ("reno", "cubic")),
    Explanation("short-bbr", "queue_mean", 1.0, UNPACED),
)
