"""Files that one has of a link: what each says, what is wrong with it; none breaks a reader."""

import math
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import link_files
from tidegate.advise import readers
from tidegate.advise.facts import BOTH, DOWN, UP, Fact, What
from tidegate.advise.fit import Given, fit
from tidegate.advise.readers import Interfaces, facts_of, lines, messagepack, qdisc, snappy
from tidegate.errors import TidegateError
from tidegate.scenario.tree import Damaged

CAPTURE = Path(__file__).parents[2] / "scenarios" / "captures" / "narrow-link.pcap"
# Of a segment of 1500 B with timestamps 1448 B are payload (RFC 9293, RFC 7323, 3).
IP = 1500 / 1448


def found(name: str) -> dict[tuple[What, str], Fact]:
    facts = facts_of(link_files.FILES[name], name, Interfaces())
    return {(fact.what, fact.direction): fact for fact in facts}


def value(name: str, what: What, direction: str = "") -> float:
    return found(name)[what, direction].value


@pytest.mark.parametrize("name", ["ping", "ping-macos", "ping-windows", "irtt"])
def test_the_least_round_trip_is_that_without_load(name):
    assert value(name, What.IDLE) == pytest.approx(0.020)


def test_losses_have_the_interval_of_wilson():
    # Wilson (1927), 1 of 4 at 95 %: 0.0456 to 0.6994
    loss = found("ping")[What.LOSS, ""]
    assert loss.value == 0.25
    assert (loss.low, loss.high) == pytest.approx((0.0456, 0.6994), abs=1e-3)
    assert value("ping-macos", What.LOSS) == 0
    assert value("ping-windows", What.LOSS) == pytest.approx(1 / 3)


IN_OTHER_WORDS = {
    "Linux, German": """64 Bytes von 1.1.1.1: icmp_seq=1 ttl=57 Zeit=20.5 ms
64 Bytes von 1.1.1.1: icmp_seq=2 ttl=57 Zeit=20 ms
64 Bytes von 1.1.1.1: icmp_seq=4 ttl=57 Zeit=21.0 ms

--- 1.1.1.1 Ping-Statistiken ---
4 Pakete übertragen, 3 empfangen, 25% packet loss, time 3004ms
rtt min/avg/max/mdev = 20.000/20.500/21.000/0.408 ms
""",
    "Linux, French": """64 octets de 1.1.1.1 : icmp_seq=1 ttl=57 temps=20,5 ms
64 octets de 1.1.1.1 : icmp_seq=2 ttl=57 temps=20,0 ms
64 octets de 1.1.1.1 : icmp_seq=4 ttl=57 temps=21,0 ms
--- statistiques ping 1.1.1.1 ---
4 paquets transmis, 3 reçus, +1 erreurs, 25 % paquets perdus, temps 3004 ms
""",
    "Windows, German": """Antwort von 1.1.1.1: Bytes=32 Zeit=20ms TTL=57
Antwort von 1.1.1.1: Bytes=32 Zeit=21ms TTL=57
Antwort von 1.1.1.1: Bytes=32 Zeit=20ms TTL=57
Zeitüberschreitung der Anforderung.

Ping-Statistik für 1.1.1.1:
    Pakete: Gesendet = 4, Empfangen = 3, Verloren = 1
    (25% Verlust),
Ca. Zeitangaben in Millisek.:
    Minimum = 20ms, Maximum = 21ms, Mittelwert = 20ms
""",
    "Windows, Chinese": """来自 1.1.1.1 的回复: 字节=32 时间=20ms TTL=57
来自 1.1.1.1 的回复: 字节=32 时间=21ms TTL=57
来自 1.1.1.1 的回复: 字节=32 时间=20ms TTL=57
请求超时。
    数据包: 已发送 = 4\uff0c已接收 = 3\uff0c丢失 = 1 (25% 丢失)\uff0c
""",
}


@pytest.mark.parametrize("name", IN_OTHER_WORDS)
def test_ping_is_understood_in_other_languages(name):
    facts = facts_of(IN_OTHER_WORDS[name].encode(), name, Interfaces())
    told = {fact.what: fact.value for fact in facts}
    assert told[What.IDLE] == pytest.approx(0.020)
    assert told[What.LOSS] == 0.25


def test_a_ping_without_an_answer_says_so():
    text = "PING 1.1.1.1\n\n5 packets transmitted, 0 received, 100% packet loss, time 4000ms\n"
    with pytest.raises(Damaged, match="none of 5 packets came back"):
        facts_of(text.encode(), "ping", Interfaces())


@pytest.mark.parametrize("encoding", ["utf-16", "cp850", "cp1252", "utf-8-sig"])
def test_a_ping_is_read_as_shells_of_windows_write_it(encoding):
    text = IN_OTHER_WORDS["Windows, German"].encode(encoding)
    told = {fact.what: fact.value for fact in facts_of(text, "ping", Interfaces())}
    assert told[What.LOSS] == 0.25


def test_a_ping_that_is_not_understood_is_told_how_to_record_it():
    text = "5 packets transmitted, 5 received\nSvar från 1.1.1.1: tid okänd\n"
    with pytest.raises(Damaged, match="LC_ALL=C ping"):
        facts_of(text.encode(), "ping", Interfaces())


def test_irtt_says_which_way_packets_were_lost():
    assert value("irtt", What.LOSS, DOWN) == 0.5
    assert value("irtt", What.LOSS, UP) == 0


def test_round_trips_that_rise_are_told_without_a_direction():
    lines = [f"64 bytes from a: icmp_seq={n} ttl=5 time={20 + n} ms" for n in range(100)]
    facts = facts_of("\n".join(lines).encode(), "ping", Interfaces())
    # of 20, 21, ... 119 ms 95 % are under 20 + 0.95 * 99
    peak = next(fact for fact in facts if fact.what is What.PEAK)
    assert peak.value == pytest.approx(0.11405)
    assert peak.direction == ""


def test_connections_show_what_leaves_the_machine():
    assert value("ss", What.IDLE) == pytest.approx(0.020)
    assert value("ss", What.LOADED, UP) == pytest.approx(0.1205)
    # the second connection is limited by its application
    rate = found("ss")[What.RATE, UP]
    assert rate.value == 6e6
    assert not rate.full
    # 144,800 of 14,480,000 bytes were sent again: which of them the queue dropped is not known
    assert (What.LOSS, UP) not in found("ss")


def connection(near: str, far: str, least_ms: float) -> str:
    return (
        f"ESTAB 0 0 {near} {far}\n\t cubic rto:204 rtt:{least_ms + 1}/1 cwnd:10 minrtt:{least_ms}\n"
    )


# what a machine sends to itself crosses no link; private addresses (RFC 1918, RFC 4193) mostly none
@pytest.mark.parametrize(
    ("near", "far"),
    [
        ("127.0.0.1:5432", "127.0.0.1:60000"),
        ("[::1]:5432", "[::1]:60000"),
        ("[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]:4000"),
        ("192.168.1.1:445", "192.168.1.7:60000"),
        ("[fd00::1]:445", "[fd00::2]:60000"),
        ("[fe80::1%eth0]:445", "[fe80::2%eth0]:60000"),
    ],
)
def test_connections_that_stay_near_tell_no_round_trip_of_the_link(near, far):
    far_away = connection("[2606:4700::1]:443", "[2a00:1450::9]:50000", 21.4)
    text = connection(near, far, 0.012) + far_away
    assert lines.ss(text, "ss")[0].value == pytest.approx(0.0214)
    assert lines.ss(far_away + connection(near, far, 0.012), "ss")[0].value == 0.0214


def test_a_machine_that_talks_to_itself_alone_is_refused_and_a_private_link_is_not():
    with pytest.raises(Damaged, match="of a machine to itself"):
        lines.ss(connection("127.0.0.1:1", "127.0.0.1:2", 0.01), "ss")
    assert lines.ss(connection("10.0.0.1:1", "10.9.0.2:2", 30.0), "ss")[0].value == 0.03


# Windows prints neither bytes nor TTL of IPv6
@pytest.mark.parametrize(
    "line",
    [
        "Reply from 2606:4700::1: time=11ms",
        "Antwort von ::1: Zeit=11ms",
        "2606:4700::1: \u0432\u0440\u0435\u043c\u044f=11\u043c\u0441",
    ],
)
def test_an_answer_over_ipv6_in_windows_is_one(line):
    assert lines.knows_ping(line)
    assert lines.ping(line, "ping")[0].value == pytest.approx(0.011)


CAKES = """\
qdisc cake 8001: dev wan0 root refcnt 2 bandwidth 9500Kbit besteffort
qdisc cake 8002: dev ifb4wan0 root refcnt 2 bandwidth 47500Kbit besteffort
qdisc cake 8003: dev ifb9guest root refcnt 2 bandwidth 2Mbit besteffort
"""
CLASSES = """\
qdisc htb 1: dev wan0 root refcnt 2 r2q 10 default 0x30
class htb 1:1 dev wan0 root rate 20Mbit ceil 20Mbit burst 1600b cburst 1600b
class htb 1:30 dev wan0 parent 1:1 leaf 30: prio 0 rate 1Mbit ceil 20Mbit burst 1600b
class htb 1:40 dev wan0 parent 1:1 leaf 40: prio 0 rate 1Mbit ceil 5Mbit burst 1600b
"""


def shaped(text: str, **told: float) -> tuple[float | None, float | None, str]:
    link = fit(qdisc.read(text, "tc", Interfaces()), Given(rtt_s=0.02, **told))
    down, up = ((way.rate.value if way.rate else None) for way in (link.down, link.up))
    return down, up, " ".join(link.unknown)


# the ifb that is called after the outer interface has what comes in there
def test_of_several_shapers_that_of_the_routers_interfaces_counts():
    down, up, _ = shaped(CAKES)
    assert (down, up) == (47.5e6, 9.5e6)


def test_shapers_that_differ_give_no_rate():
    down, _, unknown = shaped(CAKES.replace("ifb4wan0", "ifb0"))
    assert down is None
    assert "the rate down: its shapers differ (2 Mbit/s" in unknown
    assert shaped(CAKES.replace("ifb4wan0", "ifb0"), down_bps=50e6)[0] == 50e6


# `tc qdisc del` brings no former shaper back
def test_a_shaper_that_is_there_is_to_be_written_down():
    unknown = shaped(CAKES)[2]
    assert "the shaper that is there is set (tc, cake at wan0)" in unknown
    assert "(tc, cake at ifb4wan0)" in unknown
    assert "there is set" not in shaped("", down_bps=1e7, up_bps=1e6)[2]


# tc-htb(8): `rate` is what a class is sure of, `ceil` what it may send
def test_a_class_of_htb_sends_up_to_its_ceiling():
    assert shaped(CLASSES)[1] == 20e6
    # a narrow class that comes first hides none
    assert shaped("\n".join(reversed(CLASSES.splitlines())))[1] == 20e6


def test_a_shaper_at_another_interface_is_named():
    _, up, unknown = shaped(CAKES.replace("wan0", "pppoe-wan"))
    assert up is None
    assert "There is a shaper (9.5 Mbit/s, tc, cake at pppoe-wan" in unknown


@pytest.mark.parametrize("name", ["tc", "tc-json"])
def test_queues_of_linux_have_a_direction_by_their_interface(name):
    assert value(name, What.SHAPED, UP) == 19e6
    assert value(name, What.DROPPED, UP) == pytest.approx(0.01)
    assert value(name, What.BACKLOG, UP) == 3028
    assert value(name, What.QUEUE, UP) == pytest.approx(0.0236)
    assert found(name)[What.LAW, UP].note == "cake"
    assert found(name)[What.LAW, DOWN].note == "pfifo_fast"
    assert found(name)[What.LAW, DOWN].value == 0


def test_other_names_of_interfaces_are_given():
    facts = facts_of(link_files.TC.replace("wan0", "eth7").encode(), "tc", Interfaces("eth7"))
    assert {fact.direction for fact in facts if fact.what is What.SHAPED} == {UP}


def test_both_directions_at_once_share_a_round_trip():
    facts = found("network-quality")
    assert facts[What.IDLE, ""].value == pytest.approx(0.020)
    assert facts[What.LOADED, BOTH].value == pytest.approx(0.120)
    assert facts[What.RATE, DOWN].full
    assert facts[What.RATE, UP].full


def test_what_acknowledges_one_direction_takes_of_the_other():
    """52 B (IPv4, TCP, timestamps) for two packets of 1500 B at most, and nothing at least."""
    facts = found("network-quality")
    # payload of TCP, TLS and HTTP/2 into IP packets
    down, up = 48e6 * IP * 1.005, 9e6 * IP * 1.005
    for direction, carried, other in ((DOWN, down, up), (UP, up, down)):
        most = other * 52 / 3000
        rate = facts[What.RATE, direction]
        assert rate.value == pytest.approx(carried + most / 2)
        assert rate.low <= carried
        assert rate.high >= carried + most


def test_responsiveness_becomes_a_round_trip():
    # 500 round trips a minute: 120 ms each
    assert value("network-quality-sequential", What.LOADED, DOWN) == pytest.approx(0.120)
    assert value("network-quality-sequential", What.LOADED, UP) == pytest.approx(0.240)
    facts = found("goresponsiveness")
    assert facts[What.IDLE, ""].value == pytest.approx(0.020)
    assert facts[What.LOADED, DOWN].value == pytest.approx((0.120 + 0.100) / 2)
    assert facts[What.LOADED, UP].value == pytest.approx(0.240)
    assert facts[What.RATE, UP].value == pytest.approx(9e6 * IP * 1.005)
    assert value("goresponsiveness-metrics", What.LOADED, DOWN) == pytest.approx(0.120)


@pytest.mark.parametrize("name", ["flent", "crusader", "crusader-json"])
def test_a_test_with_phases_tells_rate_and_delay_of_each(name):
    facts = found(name)
    assert facts[What.IDLE, ""].value == pytest.approx(0.020)
    assert facts[What.LOADED, DOWN].value == pytest.approx(0.120)
    assert facts[What.PEAK, DOWN].value == pytest.approx(0.120)
    assert facts[What.RATE, DOWN].value == pytest.approx(48e6 * IP, rel=0.01)
    assert facts[What.RATE, DOWN].full
    if name != "flent":
        assert facts[What.LOSS, ""].value == pytest.approx(1 / 280)


def test_a_log_of_autorate_tells_the_rate_at_which_delay_rises():
    facts = found("autorate")
    # 10 ms each way, and 100 ms more under load
    assert facts[What.IDLE, ""].value == pytest.approx(0.020)
    assert facts[What.LOADED, DOWN].value == pytest.approx(0.120)
    assert facts[What.RATE, DOWN].value == pytest.approx(48e6)
    assert facts[What.RATE, DOWN].full
    assert (What.RATE, UP) not in facts


def test_a_capture_says_what_was_carried_and_not_what_can_be():
    facts = readers.read(CAPTURE)
    assert {fact.what for fact in facts} == {What.RATE}
    assert not any(fact.full for fact in facts)


# A block by hand, of the format's description: 10 bytes; the literal "ab" (tag 1 << 2); a copy of 4
# bytes from 2 back ((4 - 4) << 2 | 1); one of 4 with two bytes of distance ((4 - 1) << 2 | 2).
def test_snappy_copies_repeat_what_they_write():
    block = bytes([10, 1 << 2]) + b"ab" + bytes([0b01, 2]) + bytes([3 << 2 | 2, 2, 0])
    assert snappy.unpacked(block) == b"ababababab"
    frame = b"\x00" + (len(block) + 4).to_bytes(3, "little") + bytes(4) + block
    assert snappy.unframed(b"\xff\x06\x00\x00sNaPpY" + frame) == b"ababababab"


# From the specification of MessagePack: positive and negative fixint, uint 16, float 64, fixstr,
# fixarray, fixmap, nil, true.
def test_messagepack_is_read_as_specified():
    data = b"\x84\xa1a\x07\xa1b\x93\xff\xcd\x01\x00\xc0\xa1c\xcb?\xf8\0\0\0\0\0\0\xa1d\xc3"
    assert messagepack.read(data) == {"a": 7, "b": [-1, 256, None], "c": 1.5, "d": True}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is empty"),
        (b"hello\n", "line 1: nothing that is known begins so: 'hello'"),
        (b"{}", "JSON of none"),
        (b'{"dl_throughput": \n "fast"}', "`dl_throughput` is no number"),
        (b'{\n"dl_throughput": ,}', "line 2: it is no JSON"),
        (b"\xff\x00\xfe", "byte 0: it is neither text"),
        (b"\x1f\x8b\x08\x00", "compressed, and ends early"),
        (link_files.CRUSADER[:900], "the frame ends early"),
        (link_files.CRUSADER[:8] + bytes(8), "version 0"),
        (b"DATA_HEADER; A; B\nDATA; 1; 2\n", "line 2: there is no column DL_OWD_BASELINE"),
        (b"SUMMARY; 2026; 1; 2\n", "it has no line `DATA`"),
        (b'{"x_values": [1], "results": {"TCP download": []}}', "has 0 values"),
    ],
)
def test_a_file_that_is_not_understood_has_a_place_and_a_remedy(tmp_path, data, said):
    file = tmp_path / "file"
    file.write_bytes(data)
    with pytest.raises(TidegateError) as error:
        readers.read(file)
    assert str(file) in error.value.what
    assert said in error.value.what
    assert error.value.remedy


def sound(facts: list[Fact]) -> None:
    for fact in facts:
        assert all(math.isfinite(each) for each in (fact.value, fact.low, fact.high)), fact
        assert 0 <= fact.low <= fact.high, fact


@given(
    st.sampled_from(sorted(link_files.FILES)),
    st.lists(
        st.tuples(st.integers(0, 10**6), st.binary(max_size=6), st.integers(0, 40)), max_size=4
    ),
)
def test_damaged_files_are_refused_or_give_facts(name, changes):
    data = link_files.FILES[name]
    for place, written, removed in changes:
        at = place % (len(data) + 1)
        data = data[:at] + written + data[at + removed :]
    with suppress(Damaged):
        sound(facts_of(data, name, Interfaces()))


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_give_facts(data):
    for before in (b"", link_files.CRUSADER[:16], b"qdisc htb 1: dev wan0\n", b"{", b"DATA; "):
        with suppress(Damaged):
            sound(facts_of(before + data, "bytes", Interfaces()))


DIGITS = "9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        f"64 bytes: seq=1 time=1 ms\n{DIGITS} packets transmitted, 1 received",
        f"64 bytes: seq=1 time={DIGITS} ms\n",
        f'{{"base_rtt": {DIGITS}}}',
    ],
)
def test_a_number_of_thousands_of_digits_is_refused(text):
    """The interpreter reads no integer of more than 4300 digits."""
    with pytest.raises(Damaged):
        facts_of(text.encode(), "a file", Interfaces())
