"""Links of known truth, measured in the simulator: a small part of `tools.validate.advised`."""

import pytest
from tools.validate import advised

from tidegate.advise.verdict import judged
from tidegate.show.advice import Setting, Users
from tidegate.show.experience import PAGES

CASES = {case.name: case for case in advised.CASES}


def test_there_are_twenty_links_and_some_of_which_files_tell_no_rate() -> None:
    assert len(CASES) == 20
    assert sum(not case.told for case in CASES.values()) >= 4


# the bounds are those of the tool; the truth is what is simulated
@pytest.mark.slow
@pytest.mark.parametrize("name", ["dsl", "cable", "lte", "village", "managed", "at-once"])
def test_rate_and_delay_are_found_from_files(name: str) -> None:
    found = advised.row(CASES[name], 29, controls=False)
    assert found.good, advised.line(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["window", "ping-alone", "irtt-alone", "ss-alone"])
def test_no_rate_is_told_where_files_do_not_bear_it(name: str) -> None:
    found = advised.row(CASES[name], 29, controls=False)
    assert found.rates == (None, None)
    assert found.good


def test_a_row_that_is_off_is_no_good() -> None:
    case = CASES["dsl"]
    right = advised.held(case, advised.true_link(case.truth), 1)
    assert right.good
    wrong = advised.drop(20, 1, 30, 300, 800)
    assert not advised.held(case, advised.true_link(wrong), 1).good
    longer = advised.drop(16, 1, 30, 800, 800)
    assert not advised.held(case, advised.true_link(longer), 1).good


# the first twenty seeds alone have the gain
def test_other_seeds_advise_by_their_own_runs() -> None:
    def pages(first: float, then: float) -> dict[int, dict[str, float]]:
        return {
            seed: {
                "pages": 100.0,
                "pages_loaded": 99.0,
                "pages_loaded_share": 0.99,
                "page_load_mean_s": (first if seed <= 20 else then) + 0.001 * (seed % 3),
            }
            for seed in range(1, 41)
        }

    settings = [Setting("now", pages(2.0, 2.0)), Setting("cake", pages(1.0, 2.0))]
    whole = judged(settings, [Users("pages", "", PAGES)])
    assert advised.with_other_seeds(whole, 0).first == "cake"
    assert advised.with_other_seeds(whole, 20).first == "now"
