"""JSON of irtt (`irtt client -o FILE`): round trips of UDP, and which way packets were lost."""

from __future__ import annotations

from tidegate.advise.facts import DOWN, UP, Fact, What, share_of
from tidegate.advise.readers.phases import of_unknown_load
from tidegate.scenario.tree import Tree, of_json

_HOUR_NS = 3.6e12


def knows(tree: Tree) -> bool:
    """Tell whether this is JSON of irtt."""
    return tree.has("stats") and tree.has("round_trips")


def read(text: str, source: str) -> list[Fact]:
    """Read it; times are in nanoseconds."""
    tree = of_json(text)
    trips = []
    lost = {"": 0, DOWN: 0, UP: 0}
    sent = 0
    for each in tree.at("round_trips").listed():
        sent += 1
        state = each.at("lost").value
        if state in (True, "true"):
            lost[""] += 1
        elif state in ("true_down", "true_up"):
            lost[DOWN if state == "true_down" else UP] += 1
        elif each.at("delay").has("rtt"):
            trips.append(each.at("delay").at("rtt").number(0.0, _HOUR_NS) * 1e-9)
    facts = of_unknown_load(trips, source)
    if lost[DOWN] or lost[UP]:
        for way in (DOWN, UP):
            facts.append(share_of(What.LOSS, way, lost[way], sent, source))
    elif sent:
        facts.append(share_of(What.LOSS, "", lost[""], sent, source))
    return facts
