"""Visits help users who stay as connections do, and users who come once as clients do."""

from pathlib import Path

import pytest

import tidegate

SCENARIOS = Path(__file__).parents[2] / "scenarios"
LEAST = 0.95
"""Of the better of the two: what the law was made for."""
SEEDS = range(1, 11)
"""One run says little: visits load 95 to 101 % of what clients load, 97.5 % over these."""


def loaded(scenario: str, admit: str, seed: int = 1) -> int:
    """Return how many got all of their page or file, under tide that admits these."""
    text = (SCENARIOS / scenario).read_text(encoding="utf-8").split("[variant.")[0]
    gate = f'[port.bottleneck]\ngate = {{ law = "tide", admit = "{admit}" }}\n'
    settings = {"duration": "100s", "warmup": "0s"}
    result = tidegate.run(text + gate, seed=seed, settings=settings)
    times = result.pages["load_time_s"] if len(result.pages) else result.flows["fct_s"]
    return len(times.drop_nulls())


# Each of fifty clients opens a connection every six seconds, and is in for fifteen after each.
def test_users_who_stay_load_as_many_as_by_connections() -> None:
    by = {who: loaded("users-who-stay.toml", who) for who in ("connections", "clients", "visits")}
    assert by["visits"] >= LEAST * by["connections"]
    assert by["visits"] >= 1.4 * by["clients"], "of which the link carries two thirds"


# A page that needs eleven connections, of a user who comes once: some of them are refused to all.
@pytest.mark.slow
def test_users_who_come_once_load_as_many_as_by_clients() -> None:
    whose = ("connections", "clients", "visits")
    by = {who: sum(loaded("pages-by-client.toml", who, seed) for seed in SEEDS) for who in whose}
    assert by["visits"] >= LEAST * by["clients"]
    assert by["visits"] >= 8 * by["connections"]
