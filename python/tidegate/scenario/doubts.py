"""What gives reason to doubt that a scenario means what it says, for many settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def lines(doubts: Mapping[str, Iterable[str]]) -> list[str]:
    """Return each doubt once, with the settings that it is about if it is not about all."""
    about: dict[str, list[str]] = {}
    for label, said in doubts.items():
        for doubt in said:
            about.setdefault(doubt, []).append(label)
    return [
        doubt if len(labels) == len(doubts) else f"{', '.join(labels)}: {doubt}"
        for doubt, labels in about.items()
    ]
