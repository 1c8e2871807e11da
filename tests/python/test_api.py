"""What users of the Python interface may rely on."""

import polars as pl
import pytest

import tidegate

QUICK = {"duration": "4s", "warmup": "1s"}


def test_every_error_that_a_user_can_correct_is_a_tidegate_error(overload):
    with pytest.raises(tidegate.TidegateError, match="duratoin") as wrong:
        tidegate.run(overload, settings={"duratoin": "4s"})
    assert isinstance(wrong.value, tidegate.ScenarioError)
    assert isinstance(wrong.value, ValueError)
    assert issubclass(tidegate.LawFault, tidegate.TidegateError)
    assert issubclass(tidegate.LawFault, RuntimeError)


def test_compare_takes_the_axes_of_sweep(overload):
    key = "port.bottleneck.gate.alpha_min"
    asked = {"settings": QUICK, "seeds": 1, "workers": 1}
    mapping = tidegate.compare(overload, vary={key: [5, 10]}, **asked)
    text = tidegate.compare(overload, vary=f"{key}=5,10", **asked)
    assert [row["settings"] for row in mapping.averages] == [{key: "5"}, {key: "10"}]
    assert mapping.averages == text.averages
    assert mapping.frame.drop("seed").equals(text.frame.drop("seed"))


def test_load_reads_what_save_wrote(overload, tmp_path):
    one = tidegate.run(overload, settings=QUICK)
    again = tidegate.load(one.save(tmp_path / "one"))
    assert isinstance(again, tidegate.Result)
    assert again.summary == one.summary
    for name in ("flows", "ports", "events"):
        assert getattr(again, name).equals(getattr(one, name)), name
    assert again.video.equals(pl.DataFrame())
    assert _shown(again.table) == _shown(one.table)
    third = tidegate.load(again.save(tmp_path / "two"))
    assert third.summary == one.summary
    assert third.flows.equals(one.flows)


def _shown(table):
    from rich.console import Console

    console = Console(width=120)
    with console.capture() as shown:
        console.print(table)
    return shown.get()
