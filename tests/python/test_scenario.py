"""How a request becomes settings of a document; whether they are right, the native module says."""

import json
import re
import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidegate.errors import TidegateError, UsageError
from tidegate.scenario import document as scenario
from tidegate.scenario import overrides, toml

PLAIN = scenario.read("# no port has anything written\n")

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
@example("\x7f")
def test_inline_values_are_read_back_by_tomllib(value):
    assert tomllib.loads(f"value = {toml.inline(value)}")["value"] == value


@given(st.lists(NAMES, min_size=1, max_size=4))
@example([""])
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
    (cell,) = overrides.law_cells("gate", [text], ["bottleneck"], PLAIN)
    ((key, value),) = cell.settings
    assert key == "port.bottleneck.gate"
    assert tomllib.loads(f"gate = {value}")["gate"] == gate
    assert cell.label == text


def test_a_law_of_ones_own_goes_by_its_plain_name():
    """As `python:NAME`, with settings too; a name that the native module also has says nothing."""

    def cell(stage, text, *own):
        return overrides.law_cells(stage, [text], ["bottleneck"], PLAIN, own)[0]

    assert cell("gate", "mine", "mine").settings == cell("gate", "python:mine").settings
    limited = cell("gate", "mine:limiter=counter", "mine")
    assert limited.settings == cell("gate", "python:mine:limiter=counter").settings
    assert limited.label == "mine:limiter=counter"
    assert cell("gate", "codel", "codel").settings == cell("gate", "python:codel").settings
    for name in ("codel", "dual-queue"):
        with pytest.raises(UsageError, match=f"you have a law {name}") as refused:
            cell("queue", name, name)
        assert f"python:{name}" in str(refused.value)
        assert cell("queue", f"python:{name}", name).label == f"python:{name}"


def test_an_argument_that_a_law_has_no_place_for_is_refused():
    with pytest.raises(UsageError, match="close-probe:5"):
        overrides.law_cells("gate", ["close-probe:5"], ["bottleneck"], PLAIN)


# the second value took the place of the first, and the name of the setting had both
@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("fixed-rate:rate=3/s:rate=4/s", "rate"),
        ("fixed-rate:3:rate=4/s", "rate"),
        ("tide:law=none", "law"),
    ],
)
def test_a_setting_of_a_law_is_given_once(text, twice):
    with pytest.raises(UsageError, match=f"The gate {text} has {twice} twice"):
        overrides.law_cells("gate", [text], ["bottleneck"], PLAIN)


PORT = """
[port.b]
gate = { law = "close-probe", alpha_min = 10, admit = "syn-ack" }
queue = { law = "red", min_th = 5, max_th = 15 }
"""


def laws(stage, asked, *settings):
    document = scenario.read(PORT).having(*settings)
    cells = overrides.law_cells(stage, asked, ["b"], document)
    return [tomllib.loads(f"law = {cell.settings[0][1]}")["law"] for cell in cells]


def test_gates_keep_what_belongs_to_the_port_and_the_parameters_of_their_own_law():
    written = {"law": "close-probe", "alpha_min": 10, "admit": "syn-ack"}
    assert laws("gate", ["close-probe", "gss-ga", "none"]) == [
        written,
        {"law": "gss-ga", "admit": "syn-ack"},
        {"law": "none"},
    ]


def test_queues_keep_the_parameters_of_their_own_law():
    assert laws("queue", ["drop-tail", "red", "red:max_th=9"]) == [
        {"law": "drop-tail"},
        {"law": "red", "min_th": 5, "max_th": 15},
        {"law": "red", "min_th": 5, "max_th": 9},
    ]


def test_what_is_set_from_outside_counts_as_written():
    refuse = ("port.b.gate.refuse", '"rst"')
    assert laws("gate", ["gss-ga"], refuse) == [
        {"law": "gss-ga", "admit": "syn-ack", "refuse": "rst"}
    ]
    whole = ("port.b.gate", '{ law = "gss-ga", admit = "syn" }')
    assert laws("gate", ["none", "gss-ga"], whole) == [
        {"law": "none"},
        {"law": "gss-ga", "admit": "syn"},
    ]


# `admit` names the opener, of the port, or whom the law admits, which is not passed on.
@pytest.mark.parametrize("whom", ["clients", "connections", "visits"])
def test_a_law_for_clients_keeps_the_opener_of_the_port(whom):
    assert laws("gate", [f"tide:admit={whom}"]) == [
        {"law": "tide", "admit": whom, "opener": "syn-ack"}
    ]
    written = ("port.b.gate", f'{{ law = "tide", admit = "{whom}", refuse = "rst" }}')
    assert laws("gate", ["tide", "gss-ga"], written) == [
        {"law": "tide", "admit": whom, "refuse": "rst"},
        {"law": "gss-ga", "refuse": "rst"},
    ]


def test_variants_follow_the_rule_of_the_command_line(overload):
    text = (
        overload.replace(overload[overload.index("[port.") : overload.index("[traffic.")], PORT)
        + """
[variant.same.port.b]
gate = { law = "close-probe", beta = 0.3 }
[variant.other.port.b]
gate = { law = "gss-ga" }
queue = { law = "drop-tail" }
[variant.one-key.port.b.gate]
beta = 0.2
"""
    )
    same, other, one = overrides.variant_cells(scenario.read(text))
    kept = {"law": "close-probe", "alpha_min": 10, "admit": "syn-ack", "beta": 0.3}
    assert tomllib.loads(f"gate = {same.settings[0][1]}")["gate"] == kept
    gate, queue = (tomllib.loads(f"law = {value}")["law"] for _, value in other.settings)
    assert gate == {"law": "gss-ga", "admit": "syn-ack"}
    assert queue == {"law": "drop-tail"}
    assert one.settings == (("port.b.gate.beta", "0.2"),)


def test_names_of_ports_are_quoted():
    (cell,) = overrides.law_cells("gate", ["none"], ["bottleneck.reverse"], PLAIN)
    assert cell.settings[0][0] == 'port."bottleneck.reverse".gate'


def test_split_leaves_brackets_and_quotes_whole():
    text = 'a, { x = 1, y = [2, 3] }, "p,q"'
    assert overrides.split(text) == ["a", "{ x = 1, y = [2, 3] }", '"p,q"']


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
    slow, fixed = overrides.variant_cells(document)
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


VARIED = """
[variant.slow]
topology.dumbbell.bottleneck.rate = "1Mbit"

[variant.twice.traffic.web]
arrivals = { poisson = "120/s" }
"""


@pytest.fixture
def varied_file(overload_file):
    with overload_file.open("a", encoding="utf-8") as file:
        file.write(VARIED)
    return overload_file


def test_a_variant_is_run_by_its_name(request, varied_file):
    run = request.getfixturevalue("tidegate")
    command = ("run", varied_file, "--set", "duration=6s", "--set", "warmup=1s", "--json")
    by_name = run(*command, "--variant", "slow")
    by_hand = run(*command, "--set", "topology.dumbbell.bottleneck.rate=1Mbit")
    assert by_name.returncode == 0, by_name.stderr
    hashes = {json.loads(done.stdout)["result_hash"] for done in (by_name, by_hand)}
    assert len(hashes) == 1
    unknown = run(*command, "--variant", "slaw")
    assert unknown.returncode == 2
    assert "It has slow, twice." in unknown.stderr


def test_variants_are_an_axis_of_a_sweep(request, varied_file):
    run = request.getfixturevalue("tidegate")
    done = run(
        *("sweep", varied_file, "--variant", "all", "--gate", "none,close-probe", "--seeds", 1),
        *("--set", "duration=6s", "--set", "warmup=1s", "--json"),
    )
    assert done.returncode == 0, done.stderr
    settings = [row["settings"] for row in json.loads(done.stdout)["table"]]
    assert settings == [
        {"gate": gate, "variant": variant}
        for gate in ("none", "close-probe")
        for variant in ("slow", "twice")
    ]


def test_examples_are_listed_copied_and_never_written_over(request, tmp_path):
    run = request.getfixturevalue("tidegate")
    listed = run("examples").stdout
    assert "overloaded-access-link.toml" in listed
    # every name is apart from its sentence, which may go on in the next line of the comment
    assert all(re.match(r"\S+\.toml {2,}\S", line) for line in listed.splitlines())
    assert "1000/s at 125 s and fall back at 175 s\n" in listed
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "downloads.toml").write_text("# my own\n", encoding="utf-8")
    done = run("examples", "mine")
    assert done.returncode == 0, done.stderr
    assert "1 were there already" in done.stderr
    assert (tmp_path / "mine" / "downloads.toml").read_text(encoding="utf-8") == "# my own\n"
    assert run("check", "mine/captured-traffic.toml").returncode == 0
    assert not (tmp_path / "mine" / "testbed").exists()
