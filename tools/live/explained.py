"""Where real hosts and the simulator differ, and the reason is known; docs/emulate.md says more."""

from __future__ import annotations

from tools.validate.judge import Explanation

TIMERS = (
    "Timers of 2 to 16 s fire together, four times a second: in the simulator at exactly one "
    "instant, in Linux one after the other, and the more spread the busier the machine is. A less "
    "dense crowd finds more room in the queue. Without control, at three times the link, Linux "
    "completed 93.5 sessions/s while the machine had most to do and 84.5 while it had least; the "
    "simulator 74.9."
)
WINDOW = (
    "Linux acknowledges segments one by one also later, while the window that its receiver offers "
    "grows (the 33rd to the 56th here): a train, by which HyStart ends slow start at a window of "
    "60, where it ends at 98 in the simulator, by longer round trips. Where the window stops for "
    "good differs, and with it how many are lost when it does."
)
OFFERED = (
    "The window that Linux's receiver offers holds the last doubling of slow start back. With "
    "net.ipv4.tcp_rmem = 4096 16000000 33554432 it sent 136 again and had a mean queue of 23.4; "
    "the simulator, with each segment acknowledged (delayed_ack = false), 137 and 23.3."
)

CONTROLS = ("reno", "cubic", "bbr")
CROWDED = {
    "completed_per_s": 0.12,
    "fct_mean_s": 0.20,
    "fct_p95_s": 0.12,
    "retransmitted_share": 0.12,
}

EXPLANATIONS = (
    *(
        Explanation(f"overload-{one}", measure, at_most, TIMERS)
        for one in CONTROLS
        for measure, at_most in CROWDED.items()
    ),
    *(Explanation("long-cubic", one, 0.30, WINDOW) for one in ("retransmitted", "queue_mean")),
    *(Explanation("long-reno", one, 0.15, OFFERED) for one in ("retransmitted", "queue_mean")),
)
