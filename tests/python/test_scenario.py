"""How a request becomes settings of a document; whether they are right, the native module says."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import scenario, toml
from tidegate.errors import TidegateError, UsageError

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_inline_values_are_read_back_by_tomllib(value):
    assert tomllib.loads(f"value = {toml.inline(value)}")["value"] == value


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_keys_are_read_back_by_tomllib(parts):
    table = tomllib.loads(f"{toml.key(*parts)} = 1")
    for part in parts:
        table = table[part]
    assert table == 1


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("none", {"law": "none"}),
        ("fixed-rate:100", {"law": "fixed-rate", "rate": "100/s"}),
        ("fixed-rate:0.5", {"law": "fixed-rate", "rate": "0.5/s"}),
        ("fixed-rate:6/min", {"law": "fixed-rate", "rate": "6/min"}),
        (
            "fixed-rate:100:limiter=token-bucket",
            {"law": "fixed-rate", "rate": "100/s", "limiter": "token-bucket"},
        ),
        (
            "close-probe:alpha_min=5:guard=false",
            {"law": "close-probe", "alpha_min": 5, "guard": False},
        ),
        ("python:mine", {"law": "python", "name": "mine"}),
    ],
)
def test_shorthands_of_gates(text, gate):
    (cell,) = scenario.gate_cells([text], "bottleneck", {})
    ((key, value),) = cell.settings
    assert key == "port.bottleneck.gate"
    assert tomllib.loads(f"gate = {value}")["gate"] == gate
    assert cell.label == text


def test_an_argument_that_a_law_has_no_place_for_is_refused():
    with pytest.raises(UsageError, match="close-probe:5"):
        scenario.gate_cells(["close-probe:5"], "bottleneck", {})


def test_gates_keep_what_belongs_to_the_port_and_the_parameters_of_their_own_law():
    written = {"law": "close-probe", "alpha_min": 10, "admit": "syn-ack"}
    same, other, none = scenario.gate_cells(["close-probe", "gss-ga", "none"], "b", written)
    gates = [tomllib.loads(f"gate = {cell.settings[0][1]}")["gate"] for cell in (same, other, none)]
    assert gates == [written, {"law": "gss-ga", "admit": "syn-ack"}, {"law": "none"}]


def test_names_of_ports_are_quoted():
    (cell,) = scenario.gate_cells(["none"], "bottleneck.reverse", {})
    assert cell.settings[0][0] == 'port."bottleneck.reverse".gate'


def test_split_leaves_brackets_and_quotes_whole():
    text = 'a, { x = 1, y = [2, 3] }, "p,q"'
    assert scenario.split(text) == ["a", "{ x = 1, y = [2, 3] }", '"p,q"']


def test_vary_makes_a_cell_of_each_value():
    cells = scenario.vary_cells("traffic.web.size.pareto.mean=10kB,30kB")
    assert [cell.settings for cell in cells] == [
        (("traffic.web.size.pareto.mean", "10kB"),),
        (("traffic.web.size.pareto.mean", "30kB"),),
    ]
    assert cells[0].says == {"traffic.web.size.pareto.mean": "10kB"}


def test_variants_are_settings(overload):
    text = (
        overload
        + """
[variant.slow.topology.dumbbell.bottleneck]
rate = "5Mbit"
[variant.fixed.port.bottleneck]
gate = { law = "fixed-rate", rate = "9/s" }
"""
    )
    document = scenario.read(text)
    slow, fixed = scenario.variant_cells(document)
    assert slow.settings == (("topology.dumbbell.bottleneck.rate", '"5Mbit"'),)
    assert fixed.settings == (("port.bottleneck.gate", '{ law = "fixed-rate", rate = "9/s" }'),)
    assert fixed.says == {"variant": "fixed"}
    assert 'rate = "9/s"' in document.having(*fixed.settings).load().show().replace("'", '"')


def test_a_missing_file_says_where_and_what_to_do(tmp_path):
    with pytest.raises(TidegateError, match=r"nowhere\.toml: No such file") as caught:
        scenario.read(tmp_path / "nowhere.toml")
    assert "spelling" in caught.value.remedy


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "binary.toml"
    path.write_bytes(b"name = \xff\xfe")
    with pytest.raises(TidegateError, match="not UTF-8"):
        scenario.read(path)


def test_a_dict_is_a_scenario_too(overload):
    from_dict = scenario.read(tomllib.loads(overload)).load()
    from_text = scenario.read(overload).load()
    assert from_dict.show() == from_text.show()


def test_settings_override_the_document(overload):
    shorter = scenario.read(overload, {"duration": "7s", "traffic.web.arrivals.poisson": "9/s"})
    assert shorter.load().duration_s == 7.0


def test_files_are_found_beside_the_scenario(overload, tmp_path):
    (tmp_path / "sizes.csv").write_text("1000,0.5\n20000,1\n", encoding="utf-8")
    path = tmp_path / "s.toml"
    sizes = 'size      = { empirical = { file = "sizes.csv" } }'
    path.write_text(overload.replace(overload.splitlines()[14], sizes), encoding="utf-8")
    assert scenario.read(path).load().classes == ["web"]
    (tmp_path / "sizes.csv").unlink()
    with pytest.raises(TidegateError, match=r"sizes\.csv: No such file"):
        scenario.read(path).load()


def test_the_effective_scenario_loads_to_itself(overload):
    effective = scenario.read(overload).load().show()
    assert scenario.read(effective).load().show() == effective
