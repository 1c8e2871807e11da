"""The link that fits facts, and what is said where they do not bear it."""

import pytest

import link_files
from tidegate.advise.facts import BOTH, DOWN, UP, Fact, What
from tidegate.advise.fit import ASSUMED, GIVEN, MEASURED, SET, Given, fit
from tidegate.advise.readers import Interfaces, facts_of


def of(*names: str, **given: float):
    facts = [
        fact for name in names for fact in facts_of(link_files.FILES[name], name, Interfaces())
    ]
    return fit(facts, Given(**given))


def rate(direction: str, bps: float, *, full: bool = True, around: float = 0.05) -> Fact:
    return Fact(
        *(What.RATE, direction, bps, (1 - around) * bps, (1 + around) * bps, "test", 30, full)
    )


def test_a_full_link_has_the_rate_that_it_carried_and_the_delay_that_it_added():
    link = of("flent")
    assert link.down.rate.value == pytest.approx(48e6 * 1500 / 1448, rel=0.01)
    assert link.down.rate.origin == MEASURED
    assert link.rtt_s.value == pytest.approx(0.020)
    assert link.down.queue_s.value == pytest.approx(0.100)
    assert link.loaded_s(DOWN) == pytest.approx(0.120)
    # a test of downloads says nothing of uploads
    assert link.up.rate is None
    assert not link.complete
    assert any(each.startswith("the rate up: no file") for each in link.unknown)
    assert link.up.queue_s.origin == ASSUMED


@pytest.mark.parametrize("name", ["ping", "irtt", "ping-windows"])
def test_probes_alone_give_no_rate(name):
    link = of(name)
    assert link.down.rate is None
    assert link.up.rate is None
    told = [each for each in link.unknown if each.startswith("the rate")]
    assert len(told) == 2
    assert all("Give --" in each for each in told)


def test_a_link_that_was_not_full_may_carry_more():
    idle = Fact(What.IDLE, "", 0.02, 0.02, 0.021, "test", 50)
    link = fit([idle, rate(DOWN, 50e6, full=False)], Given())
    assert link.down.rate is None
    [told] = [each for each in link.unknown if each.startswith("the rate down")]
    assert "so it may carry more" in told
    assert "50 Mbit/s" in told


def test_of_several_tests_that_filled_a_link_the_one_that_carried_most_counts():
    facts = [rate(DOWN, 40e6), rate(DOWN, 48e6), rate(DOWN, 60e6, full=False)]
    assert fit(facts, Given()).down.rate.value == 48e6


def test_a_rate_between_wide_bounds_is_none():
    link = fit([rate(DOWN, 40e6, around=0.5)], Given())
    assert link.down.rate is None
    assert any("too far apart" in each for each in link.unknown)


def test_a_shaper_hides_what_the_link_could_carry():
    link = of("tc")
    assert link.up.rate.value == 19e6
    assert link.up.rate.origin == SET
    assert link.up.law == "cake"
    assert any("whether the link can carry more up" in each for each in link.unknown)


def test_what_the_user_says_counts_more_than_a_file():
    link = of("network-quality", down_bps=100e6, rtt_s=0.03, queue_s=0.5)
    assert link.down.rate.value == 100e6
    assert link.rtt_s.origin == GIVEN
    assert link.loaded_s(UP) == pytest.approx(0.53)


def test_both_directions_at_once_leave_open_where_packets_wait():
    link = of("network-quality")
    # 100 ms in both together, so 0 to 100 in each
    for way in (link.down, link.up):
        assert way.queue_s.value == pytest.approx(0.0504, rel=0.02)
        assert way.queue_s.low == 0
        assert way.queue_s.high >= 0.1
    assert any(each.startswith("in which direction") for each in link.unknown)


def test_a_test_of_each_direction_settles_it():
    facts = [
        Fact(What.IDLE, "", 0.02, 0.02, 0.02, "test", 50),
        Fact(What.LOADED, BOTH, 0.32, 0.3, 0.34, "test", 50),
        Fact(What.PEAK, DOWN, 0.12, 0.11, 0.13, "test", 50),
        Fact(What.LOADED, DOWN, 0.11, 0.10, 0.12, "test", 50),
        Fact(What.PEAK, UP, 0.22, 0.21, 0.23, "test", 50),
        Fact(What.LOADED, UP, 0.21, 0.20, 0.22, "test", 50),
    ]
    link = fit(facts, Given())
    assert link.down.queue_s.value == pytest.approx(0.1)
    assert link.up.queue_s.value == pytest.approx(0.2)
    assert not any(each.startswith("in which direction") for each in link.unknown)


def test_losses_of_probes_are_the_links_only_where_nothing_waits():
    quiet = [
        Fact(What.IDLE, "", 0.02, 0.02, 0.02, "quiet", 500),
        Fact(What.LOSS, "", 0.01, 0.004, 0.02, "quiet", 500),
    ]
    # a probe crosses both directions, and half of the losses are in each
    assert fit(quiet, Given()).down.loss.value == pytest.approx(0.005)
    busy = [*quiet, Fact(What.PEAK, "", 0.3, 0.3, 0.3, "quiet", 500)]
    assert fit(busy, Given()).down.loss is None


def test_without_a_probe_there_is_no_round_trip():
    link = fit([rate(DOWN, 40e6), rate(UP, 4e6)], Given())
    assert link.rtt_s is None
    assert not link.complete
    assert any("Give --rtt" in each for each in link.unknown)
