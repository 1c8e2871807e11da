"""`tidegate against-linux`, as far as it takes no real hosts."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from tidegate.cli import app
from tidegate.errors import UsageError
from tidegate.hosts import addresses, against, lab, lacking, real, sysctl
from tidegate.results.columns import frame
from tidegate.results.simulate import simulate
from tidegate.scenario.document import Document, read

LINK = """
name = "two classes"
duration = "4s"
warmup = "1s"
[topology.dumbbell]
pairs = 1
access = { rate = "1Gbit", delay = "1ms" }
bottleneck = { rate = "10Mbit", delay = "18ms", buffer = "100packets" }
[traffic.web]
arrivals = { poisson = "20/s" }
size = "20kB"
direction = "download"
transport = { tcp = { profile = "linux" } }
[traffic.bulk]
arrivals = { at = ["0s"] }
size = "unlimited"
transport = { tcp = { profile = "linux" } }
"""
CUBIC = ("cubic", "reno")


def scenario(**settings: str) -> Document:
    return read(LINK, {key.replace("__", "."): value for key, value in settings.items()})


def lacks(*settings: tuple[str, str], text: str = LINK) -> dict[str, lacking.Lack]:
    asked = read(text).having(*settings)
    found = lacking.lacking(tomllib.loads(asked.load().show()), CUBIC)
    return {each.place: each for each in found}


def test_hosts_of_linux_over_a_dumbbell_lack_nothing() -> None:
    assert lacks() == {}


BULK, PORT = "traffic.bulk", "port.bottleneck"


# what the lab has: one pair of hosts of this kernel, TCP, one link with its port
@pytest.mark.parametrize(
    ("place", "settings"),
    [
        (f"{BULK}.transport", [(f"{BULK}.transport", '{ udp = { rate = "1Mbit" } }')]),
        (
            f"{BULK}.transport",
            [(f"{BULK}.transport", "qfcp"), (f"{PORT}.stamp", '{ law = "qfcp" }')],
        ),
        (f"{BULK}.transport.tcp.control", [(f"{BULK}.transport.tcp.control", "bbr3")]),
        ("traffic.web.pages", [("traffic.web.pages", "{ objects = 3 }")]),
        (f"{PORT}.gate", [(f"{PORT}.gate", '{ law = "python", name = "mine" }')]),
        (f"{PORT}.gate.admit", [(f"{PORT}.gate", '{ law = "tide", admit = "clients" }')]),
        (
            "topology.dumbbell.access.loss",
            [("topology.dumbbell.access.loss", "0.01")],
        ),
    ],
)
def test_what_real_hosts_cannot_have_is_refused_with_a_remedy(
    place: str, settings: list[tuple[str, str]]
) -> None:
    found = lacks(*settings)[place]
    assert found.refused
    assert found.remedy
    with pytest.raises(UsageError, match=place):
        against.subject(read(LINK).having(*settings), [], 1)


@pytest.mark.parametrize(
    ("place", "setting"),
    [
        ("topology.dumbbell.pairs", ("topology.dumbbell.pairs", "5")),
        (f"{BULK}.transport.tcp.profile", (f"{BULK}.transport", '{ tcp = { profile = "rfc" } }')),
        (f"{BULK}.opaque_share", (f"{BULK}.opaque_share", "0.5")),
        (f"{PORT}.gate.admit", (f"{PORT}.gate", '{ law = "tide" }')),
        (f"{PORT}.gate.admit", (f"{PORT}.gate", '{ law = "tide", admit = "either" }')),
    ],
)
def test_what_differs_besides_the_hosts_is_told(place: str, setting: tuple[str, str]) -> None:
    found = lacks(setting)[place]
    assert not found.refused
    assert against.subject(read(LINK).having(setting), [], 1).lacks == (found,)


def test_a_tandem_has_more_than_one_link() -> None:
    tandem = LINK.replace("[topology.dumbbell]\npairs = 1", "[topology.tandem]\npairs = 1").replace(
        'bottleneck = { rate = "10Mbit", delay = "18ms", buffer = "100packets" }',
        'links = [{ rate = "10Mbit", delay = "9ms", buffer = "100packets" }]',
    )
    assert lacks(text=tandem)["topology"].refused


def test_classes_can_be_compared_alone() -> None:
    """A change of what is left out goes with it; the directions are those of the scenario."""
    text = LINK + '[[change]]\nwhat = "traffic.web.arrivals"\nat = "2s"\nto = "5/s"\n'
    whole = against.subject(read(text), [], 2)
    assert whole.asked == real.Asked({"web": True, "bulk": False}, 2)
    one = against.subject(read(text), ["bulk"], 1)
    assert one.asked.classes == {"bulk": False}
    assert "change" not in tomllib.loads(one.document.text)
    assert "change" in tomllib.loads(whole.document.text)
    with pytest.raises(UsageError, match="no class wab"):
        against.subject(read(text), ["wab"], 1)


def test_measures_are_those_of_the_flows() -> None:
    """By hand, of 10 s: two of three were over, after 1 and 3 s; 4 of 40 packets went again."""
    flows = pl.DataFrame(
        {
            "closed_s": [2.0, 5.0, float("nan")],
            "fct_s": [1.0, 3.0, float("nan")],
            "syn_tries": [1, 1, 4],
            "sent_packets": [10, 20, 10],
            "retransmitted_packets": [0, 4, 0],
            "timeouts": [0, 3, 0],
            "delivered_bytes": [100_000, 150_000, 0],
        }
    )
    assert against.measures(flows, 10) == pytest.approx(
        {
            "flows": 3,
            "completed": 200 / 3,
            "completed_per_s": 0.2,
            "fct_mean_s": 2,
            "fct_p50_s": 2,
            "fct_p95_s": 2.9,
            "syn_tries": 2,
            "sent_again": 10,
            "timeouts": 1,
            "delivered_mbit_s": 0.2,
        }
    )


def test_a_difference_is_of_the_real_hosts() -> None:
    def row(there: float | None, here: float | None) -> against.ComparedMeasure:
        sides = ({"mean": each, "low": None, "high": None} for each in (there, here))
        return against.ComparedMeasure("all", "fct_mean_s", "FCT", *sides)

    assert row(2.0, 3.0).difference == 0.5
    assert row(0.0, 0.0).difference == 0.0
    assert row(0.0, 1.0).difference is None
    assert row(None, 1.0).difference is None


def simulated_in_their_place(folder: Path, _: Callable[[str], object]) -> None:
    """Let simulated hosts take the place of the real ones: they leave the same files."""
    asked = real.Asked(**json.loads((folder / real.ASKED).read_text(encoding="utf-8")))
    subject = read(folder / real.SCENARIO).load()
    for seed in range(1, asked.seeds + 1):
        outcome = simulate(subject, seed)
        frame(outcome.tables["flows"]).write_csv(real.table(folder, seed))
        report = [{"queue_mean_packets": 8.0, "seconds": 5.0}, {}]
        real.link(folder, seed).write_text(json.dumps(report), encoding="utf-8")


def test_the_same_hosts_do_not_differ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every measure of the flows is the same; of the queue, 8 packets in 5 s are 10 of 4 s."""
    monkeypatch.setattr(lab, "obstacle", lambda **_: None)
    monkeypatch.setattr(real, "perform", simulated_in_their_place)
    file, out = tmp_path / "link.toml", tmp_path / "out"
    file.write_text(LINK, encoding="utf-8")
    words = ["against-linux", str(file), "--seeds", "2", "--out", str(out), "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["seeds"] == 2
    groups = {row["of"] for row in found["measures"]}
    assert groups == {"all", "web", "bulk", "bottleneck"}
    of_flows = [row for row in found["measures"] if row["of"] != "bottleneck"]
    assert [row for row in of_flows if row["difference"] not in {0.0, None}] == []
    [queue] = [row for row in found["measures"] if row["of"] == "bottleneck"]
    assert queue["real"]["mean"] == 10
    assert json.loads((out / "summary.json").read_text()) == found
    assert {"real-1.csv", "real-2.csv", "simulated-1.parquet", "link-1.json"} <= {
        each.name for each in out.iterdir()
    }


def test_a_machine_without_room_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def busy(*_: object) -> None:
        raise lab.RanOut("the link was 9 ms late")

    monkeypatch.setattr(lab, "obstacle", lambda **_: None)
    monkeypatch.setattr(real, "perform", busy)
    file = tmp_path / "link.toml"
    file.write_text(LINK, encoding="utf-8")
    words = ["against-linux", str(file), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    assert "9 ms late" in done.stderr
    assert "--own-clock" in done.stderr
    assert not (tmp_path / "out").exists()


def test_without_root_nothing_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lab, "obstacle", lambda **_: "namespaces and TUN devices need root")
    file = tmp_path / "link.toml"
    file.write_text(LINK, encoding="utf-8")
    done = CliRunner().invoke(app, ["against-linux", str(file), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "need root" in done.stderr


# The lab sends all data over `bottleneck`, from left to right: an upload of users on the right goes
# the other way. Who opens is as the scenario says.
def test_data_that_goes_the_other_way_is_refused() -> None:
    found = lacks(("traffic.web.direction", "upload"))["traffic.web.direction"]
    assert found.refused
    assert 'opens = "sender"' in found.remedy
    left = (("traffic.web.direction", "upload"), ("topology.dumbbell.users", "left"))
    assert "traffic.web.direction" not in lacks(*left)
    for said, receives in ({"traffic__web__opens": "sender"}, False), ({}, True):
        assert against.subject(scenario(**said), ("web",), 1).asked.classes == {"web": receives}


# A namespace has `net` by itself; what else sysctl sets would be of the whole machine.
def test_a_sysctl_is_one_of_a_hosts_network() -> None:
    given = ("net.ipv4.tcp_sack=0", "net.ipv4.tcp_wmem=4096 16384 4194304")
    assert against.subject(scenario(), (), 1, given).asked.sysctls == given
    for wrong in ("vm.swappiness=1", "net.ipv4.tcp_sack", "net.ipv4.tcp_sack=", "netlink.x=1"):
        with pytest.raises(UsageError, match="no setting of a host's network"):
            against.subject(scenario(), (), 1, (wrong,))


# A lab has one address at each end. A gate that asks for clients, as `tide` by visits does without
# a word about it, sees one client there, and would see one for each flow of simulated hosts.
def test_sessions_have_the_addresses_of_the_lab_where_a_gate_asks() -> None:
    def traffic(*settings: tuple[str, str], text: str = LINK) -> dict[str, dict[str, object]]:
        subject = against.subject(read(text).having(*settings), [], 1)
        said: dict[str, dict[str, object]] = tomllib.loads(subject.document.text)["traffic"]
        return said

    tide = (f"{PORT}.gate", '{ law = "tide" }')
    assert [each.get("clients") for each in traffic().values()] == [None, None]
    # each end has one class, which has that address alone
    assert [each["clients"] for each in traffic(tide).values()] == [1, 1]
    # several classes of an end have it in common
    both = traffic(tide, ("traffic.web.opens", "sender"))
    assert [each["people"] for each in both.values()] == [{"of": 1}, {"of": 1}]
    own = ("traffic.web.clients", "20")
    assert traffic(tide, own)["web"]["clients"] == 1
    by_connection = (f"{PORT}.gate", '{ law = "tide", admit = "connections" }')
    assert traffic(by_connection, own)["web"]["clients"] == 20


# The flows stay those of the scenario: who opens them is all that changes.
def test_an_address_changes_no_flow() -> None:
    without = read(LINK).having(("traffic.web.opens", "sender"))
    with_gate = without.having((f"{PORT}.gate", '{ law = "tide", admit = "visits" }'))
    drawn = [
        frame(simulate(against.subject(each, [], 1).scenario, 1).tables["flows"])
        for each in (without, with_gate)
    ]
    columns = ["class", "start_s", "size_bytes"]
    assert drawn[0].select(columns).equals(drawn[1].select(columns))


def test_addresses_that_differ_all_the_same_are_told() -> None:
    """People are at one end: of two classes at either end, those of the other have one each."""
    assert addresses.apart({"a": True, "b": True, "c": False}) == []
    assert addresses.apart({"a": True, "b": True, "c": False, "d": False}) == ["c", "d"]
    more = LINK + LINK[LINK.index("[traffic.web]") :].replace("traffic.", "traffic.other-")
    asked = read(more).having((f"{PORT}.gate", '{ law = "tide" }'))
    [told] = [each for each in against.subject(asked, [], 1).lacks if each.place == "traffic"]
    assert "bulk, other-bulk have one address here" in told.what


# `run` and `check` warn of a gate that sees no session of a class; so does this command.
def test_the_warnings_of_a_scenario_are_those_of_a_run() -> None:
    opened = (f"{PORT}.gate", '{ law = "close-probe", admit = "syn" }')
    asked = read(LINK).having(opened, ("traffic.web.opens", "receiver"))
    subject = against.subject(asked, ["web"], 1)
    assert any("never sees" in each for each in subject.warnings)


# A gate by clients is refused; with the remedy each session is judged, and none by its client.
def test_the_remedy_of_a_gate_by_clients_keeps_the_gate() -> None:
    remedy = lacks((f"{PORT}.gate", '{ law = "tide", admit = "clients" }'))[f"{PORT}.gate.admit"]
    assert "gate.admit=connections" in remedy.remedy
    mended = (f"{PORT}.gate", '{ law = "tide", admit = "connections" }')
    assert f"{PORT}.gate.admit" not in lacks(mended)


# A call sends at its rate, a flow of TCP without a size as fast as it can.
def test_a_remedy_that_is_another_load_says_so() -> None:
    call = (f"{BULK}.transport", '{ udp = { rate = "1Mbit" } }')
    assert "another load" in lacks(call)[f"{BULK}.transport"].remedy
    assert "another load" not in lacks(call, (f"{BULK}.size", "1MB"))[f"{BULK}.transport"].remedy


# sysctl(8) of procps ends with 0 where the kernel has said EINVAL, or has kept its value.
def test_a_setting_that_the_kernel_does_not_take_is_not_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "net" / "core" / "x"
    file.parent.mkdir(parents=True)

    def put(setting: str, takes: Callable[[str], str]) -> str:
        """Set it in a kernel that makes `takes` of what it is told."""
        file.write_bytes(b"4194304\n")

        def write(_: Path, text: str, **__: str) -> int:
            return file.write_bytes(takes(text).encode())

        with monkeypatch.context() as changed:
            changed.setattr(Path, "write_text", write)
            return sysctl.put(setting, tmp_path) or ""

    def refuses(_: str) -> str:
        raise OSError(22, "Invalid argument")

    assert put("net.core.x=1", str) == ""
    assert put("net.core.x=4194304", lambda _: "4194304\n") == ""
    assert put("net.core.x=0x400000", lambda _: "4194304\n") == ""
    assert put("net.core.x=1 2", lambda _: "1\t2\n") == ""
    assert "it stays 4194304" in put("net.core.x=1", lambda _: "4194304\n")
    assert "Invalid argument" in put("net.core.x=1", refuses)
    assert "has no net.core.no_such" in (sysctl.put("net.core.no_such=1", tmp_path) or "")


def test_a_setting_that_is_wrong_is_refused_before_the_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(*_: object) -> None:
        pytest.fail("real hosts were run")

    monkeypatch.setattr(lab, "obstacle", lambda **_: None)
    monkeypatch.setattr(real, "perform", run)
    monkeypatch.setattr(sysctl, "tried", lambda _: "net.core.rmem_max=1: it stays 4194304")
    file = tmp_path / "link.toml"
    file.write_text(LINK, encoding="utf-8")
    words = ["against-linux", str(file), "--sysctl", "net.core.rmem_max=1"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "it stays 4194304" in done.stderr
    assert "ip-sysctl" in done.stderr
