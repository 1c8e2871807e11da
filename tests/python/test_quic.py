"""QUIC by a real stack, as a user of the package meets it."""

from pathlib import Path

import pytest

import tidegate
from tidegate import ScenarioError, _native

OVERLOAD = """
name = "overload"
duration = "10s"
[topology.dumbbell]
pairs = 4
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "20Mbit", delay = "18ms", buffer = "100packets" }
[traffic.small]
arrivals = { uniform = 300, within = "8s" }
size = "20kB"
direction = "download"
transport = { quic = { stack = "quinn" } }
[traffic.large]
arrivals = { uniform = 20, within = "1s" }
size = "20MB"
transport = { quic = { control = "new-reno" } }
"""
BUILT_IN = bool(_native.STACKS)


# `check` ends with code 0 if everything can be run
@pytest.mark.parametrize("words", [("check",), ("compare", "--vary", "warmup=0s,1s", "--dry-run")])
def test_what_names_no_stack_that_is_built_in_cannot_be_run(tidegate, tmp_path, words) -> None:
    (tmp_path / "a.toml").write_text(OVERLOAD.replace("quinn", "quiche"), encoding="utf-8")
    done = tidegate(words[0], "a.toml", *words[1:])
    assert done.returncode == 2
    assert "no stack of QUIC is named `quiche`" in done.stderr


@pytest.mark.skipif(BUILT_IN, reason="the simulator is built with stacks")
def test_a_build_without_stacks_names_the_command_that_builds_them() -> None:
    with pytest.raises(ScenarioError, match="make stacks"):
        tidegate.run(OVERLOAD)


def test_a_stack_that_nobody_has_is_named() -> None:
    with pytest.raises(ScenarioError, match="no stack of QUIC is named `quiche`"):
        tidegate.run(OVERLOAD.replace("quinn", "quiche"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("quiche:cubic", "quinn:cubic" if BUILT_IN else "make stacks"),
        ("", "a law needs a name"),
    ],
)
def test_a_control_out_of_a_crate_that_is_not_there_is_named(name: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        tidegate.run(
            OVERLOAD,
            settings={"traffic.small.transport": f'{{ crate = {{ name = "{name}" }} }}'},
        )


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ('{ quic = { packet = "1kB" } }', "1228B to 9000B"),
        ('{ quic = { control = "bbr" } }', "cubic"),
        ('{ quic = { crypto = "tls" } }', "rustls"),
        ('{ quic = { stack = "" } }', "quinn"),
        ("{ quic = { mss = 1 } }", "mss"),
    ],
)
def test_what_is_wrong_with_the_transport_is_said(what: str, message: str) -> None:
    text = OVERLOAD.replace('{ quic = { stack = "quinn" } }', what)
    with pytest.raises(ScenarioError, match=message):
        tidegate.run(text)


@pytest.mark.parametrize("crypto", ["null", "rustls"])
@pytest.mark.skipif(not BUILT_IN, reason="the simulator is built without stacks: make stacks")
def test_workers_and_repeats_give_the_same_columns(tmp_path: Path, crypto: str) -> None:
    """One process with one worker, and one with two, on two seeds."""
    hashes = []
    text = OVERLOAD.replace("quic = {", f'quic = {{ crypto = "{crypto}",')
    for workers in (1, 2):
        rows = tidegate.compare(
            text, gates=["none"], seeds=2, workers=workers, out=tmp_path / str(workers)
        ).rows
        hashes.append([row["result_hash"] for row in rows])
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == 2


@pytest.mark.skipif(not BUILT_IN, reason="the simulator is built without stacks: make stacks")
def test_a_gate_sees_quic_only_if_it_is_told_to() -> None:
    """One session a second at an overloaded port, of some 30 that come."""
    gate = {"law": "fixed-rate", "rate": "1/s"}
    admitted = []
    for more in ({}, {"quic": {}}):
        settings = {"port.bottleneck.gate": {**gate, **more}}
        summary = tidegate.run(OVERLOAD, settings=settings).summary
        admitted.append(summary["all"]["admitted"])
        warned = any("write quic = {}" in said for said in summary["warnings"])
        assert warned == (not more)
    assert admitted[0] == 320
    assert admitted[1] <= 12


PAGES = """
name = "pages"
duration = "5s"
[topology.dumbbell]
pairs = 1
access = { rate = "100Mbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "18ms" }
[traffic.web]
arrivals = { at = ["0s"] }
size = "10kB"
pages = { objects = 20, document = "10kB" }
transport = { quic = {} }
"""


@pytest.mark.skipif(not BUILT_IN, reason="the simulator is built without stacks: make stacks")
def test_users_upload_pages_over_quic() -> None:
    """The 210 kB of the download below, with no request before the document."""
    results = tidegate.run(PAGES + 'direction = "upload"\n')
    assert results.flows["delivered_bytes"].to_list() == [210_000]
    assert results.objects["first_byte_s"].null_count() == 21
    # a handshake, a round trip for the document and one for the objects, and 0.17 s at 10 Mbit/s
    assert 0.17 + 3 * 0.04 < results.pages["load_time_s"][0] < 0.6


@pytest.mark.skipif(not BUILT_IN, reason="the simulator is built without stacks: make stacks")
def test_a_page_over_quic_has_the_tables_of_one_over_tcp() -> None:
    """One connection by default, with all objects at once: a few round trips of 40 ms."""
    over = {name: tidegate.run(PAGES, settings=settings) for name, settings in SETTINGS.items()}
    for table in ("pages", "objects"):
        tcp, quic = (getattr(over[name], table) for name in ("tcp", "quic"))
        assert (tcp.columns, tcp.height) == (quic.columns, quic.height)
    assert over["quic"].pages["connections"].to_list() == [1]
    # 210 kB take 0.17 s at 10 Mbit/s, beside a handshake and two requests
    assert 0.17 + 3 * 0.04 < over["quic"].pages["load_time_s"][0] < 0.6


SETTINGS: dict[str, dict[str, object]] = {
    "tcp": {"traffic.web.transport": {"tcp": {"profile": "linux"}}},
    "quic": {},
}
