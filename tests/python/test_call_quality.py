"""How a call sounds, beside the tables of ITU-T G.107 and by hand."""

import pytest

from tidegate.results.call_quality import mean_opinion, opinion, rating


# G.107, annex B, table B.1: ratings and the lower limits of mean opinion score
@pytest.mark.parametrize(("r", "mos"), [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)])
def test_opinions_are_those_of_the_table(r, mos):
    assert opinion(r) == pytest.approx(mos, abs=0.0075)


def test_a_perfect_path_has_the_rating_of_all_defaults():
    assert rating(0, 0) == 93.2
    assert mean_opinion(0, 0) == pytest.approx(4.41, abs=0.005)


# G.107, 7.4, by hand: x = log2(4) = 2, 25 (65^(1/6) - 3 (1 + (2/3)^6)^(1/6) + 2) = 24.0
def test_a_delay_of_400_ms_costs_24():
    assert rating(0, 0.4) == pytest.approx(93.2 - 24.0, abs=0.1)
    assert rating(0, 0.1) == rating(0, 0.02) == 93.2


# G.107, 7.5 with Ie = 0, Bpl = 25.1: 95 * 5 / (5 + 25.1) = 15.8
def test_five_percent_lost_cost_15_8():
    assert rating(0.05, 0) == pytest.approx(93.2 - 15.8, abs=0.05)


def test_scores_stay_between_their_ends():
    assert mean_opinion(1, 3) == 1
    assert opinion(101) == 4.5
    assert mean_opinion(None, 0.1) is None
    assert mean_opinion(0.1, None) is None
