"""Small files of a link, by hand, in the formats of the programs that write them.

Each is of a link of which the truth is known: 20 ms of round trip, and 120 ms while it is full.
"""

import gzip
import json

PING = """\
PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=20.4 ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=57 time=20.0 ms
64 bytes from 192.0.2.1: icmp_seq=4 ttl=57 time=21.5 ms

--- 192.0.2.1 ping statistics ---
4 packets transmitted, 3 received, 25% packet loss, time 3004ms
rtt min/avg/max/mdev = 20.000/20.633/21.500/0.634 ms
"""
PING_MACOS = """\
PING 192.0.2.1 (192.0.2.1): 56 data bytes
64 bytes from 192.0.2.1: icmp_seq=0 ttl=57 time=20.000 ms
64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=22.125 ms

--- 192.0.2.1 ping statistics ---
2 packets transmitted, 2 packets received, 0.0% packet loss
round-trip min/avg/max/stddev = 20.000/21.062/22.125/1.062 ms
"""
PING_WINDOWS = """\
Pinging 192.0.2.1 with 32 bytes of data:
Reply from 192.0.2.1: bytes=32 time=20ms TTL=57
Reply from 192.0.2.1: bytes=32 time=23ms TTL=57
Request timed out.

Ping statistics for 192.0.2.1:
    Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),
"""
SS = """\
State  Recv-Q  Send-Q  Local Address:Port  Peer Address:Port
ESTAB  0       43440   192.0.2.7:443       198.51.100.2:50118
\t cubic wscale:7,7 rto:332 rtt:120.5/8.1 mss:1448 cwnd:90 ssthresh:70 bytes_sent:14480000 \
bytes_retrans:144800 bytes_acked:14240000 segs_out:10000 data_segs_out:10000 send 8.7Mbps \
lastsnd:4 pacing_rate 10.4Mbps delivery_rate 6Mbps busy:9000ms unacked:30 rcv_space:14480 \
minrtt:20
ESTAB  0       0       192.0.2.7:443       198.51.100.3:50200
\t cubic wscale:7,7 rto:232 rtt:25/1.2 mss:1448 cwnd:10 bytes_sent:0 delivery_rate 90Mbps \
app_limited rcv_space:14480 minrtt:22.5
"""
TC = """\
qdisc cake 8001: dev wan0 root refcnt 2 bandwidth 19Mbit besteffort dual-srchost nat nowash \
no-ack-filter split-gso rtt 100ms raw overhead 0
 Sent 1136034 bytes 990 pkt (dropped 10, overlimits 1270 requeues 0)
 backlog 3028b 2p requeues 0
 memory used: 151Kb of 4Mb
 capacity estimate: 19Mbit
                  Tin 0
  thresh         19Mbit
  pk_delay       40.1ms
  av_delay       23.6ms
  sp_delay         14us
qdisc pfifo_fast 0: dev lan0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
 Sent 4000 bytes 40 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc noqueue 0: dev wlan0 root refcnt 2
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
"""
TC_JSON = json.dumps(
    [
        {
            "kind": "cake",
            "handle": "8001:",
            "dev": "wan0",
            "root": True,
            "options": {"bandwidth": 2_375_000, "diffserv": "besteffort", "rtt": 100_000},
            "packets": 990,
            "drops": 10,
            "backlog": 3028,
            "qlen": 2,
            "tins": [{"peak_delay_us": 40_100, "avg_delay_us": 23_600}],
        },
        {"kind": "pfifo_fast", "handle": "0:", "dev": "lan0", "packets": 40, "drops": 0},
    ]
)
NETWORK_QUALITY = json.dumps(
    {
        "base_rtt": 20.0,
        "dl_flows": 12,
        "dl_throughput": 48_000_000,
        "ul_throughput": 9_000_000,
        "il_tcp_handshake_443": [20, 21, 22],
        "lud_foreign_tcp_handshake_443": [119, 120, 121],
        "lud_self_h2_req_resp": [150, 160],
        "responsiveness": 430.5,
        "interface_name": "en0",
    }
)
NETWORK_QUALITY_SEQUENTIAL = json.dumps(
    {
        "base_rtt": 20.0,
        "dl_throughput": 48_000_000,
        "ul_throughput": 9_000_000,
        "dl_responsiveness": 500.0,
        "ul_responsiveness": 250.0,
    }
)
GORESPONSIVENESS = """\
Baseline RPM:  3000 (P90)
Baseline RPM:  3000 (Single-Sided 95% Trimmed Mean)
Results:
========
Download:
\tThroughput: 48.000 Mbps (6.000 MBps), using 8 parallel connections.
\tRPM: 500 (P90)
\tRPM: 600 (Single-Sided 95% Trimmed Mean)
========
Upload:
\tNote: Test did not run to stability (throughput), these results are estimates.
\tThroughput: 9.000 Mbps (1.125 MBps), using 8 parallel connections.
\tRPM: 250 (P90)
========
Final RPM: 300 (P90)
"""
GORESPONSIVENESS_METRICS = """\
networkquality_download_test_stable 1
networkquality_download_p90_rpm_value 500
networkquality_download_bits_per_second 48000000
networkquality_download_connections 8
"""


def _flent() -> bytes:
    """Return a `tcp_download`: five seconds of nothing, twenty with load, five of nothing."""
    times = [number / 5 for number in range(150)]
    busy = [5 <= time < 25 for time in times]
    return gzip.compress(
        json.dumps(
            {
                "version": 4,
                "x_values": times,
                "results": {
                    "TCP download": [48.0 if each else None for each in busy],
                    "TCP download avg": [48.0 if each else None for each in busy],
                    "Ping (ms) ICMP": [120.0 if each else 20.0 for each in busy],
                },
                "metadata": {"NAME": "tcp_download", "LENGTH": 20},
            }
        ).encode(),
        mtime=0,
    )


FLENT = _flent()


def seconds(time: float) -> dict[str, int]:
    nanos = round(time * 1e9)
    return {"secs": nanos // 10**9, "nanos": nanos % 10**9}


def crusader() -> dict[str, object]:
    """Return a result: downloads of 48 Mbit/s from 2 to 12 s over one connection."""
    points = [2 + number / 50 for number in range(501)]
    ping = [number / 20 for number in range(280)]
    return {
        "version": 2,
        "generated_by": "Crusader 0.0.7",
        "ipv6": False,
        "stream_groups": [
            {
                "download": True,
                "both": False,
                "streams": [
                    {
                        "data": [
                            {"time": seconds(time), "bytes": round((time - 2) * 6_000_000)}
                            for time in points
                        ]
                    }
                ],
            }
        ],
        "pings": [
            {
                "index": number,
                "sent": seconds(time),
                "latency": {
                    "total": None if number == 0 else seconds(0.12 if 2 < time < 12 else 0.02),
                    "up": seconds(0.01),
                },
            }
            for number, time in enumerate(ping)
        ],
    }


AUTORATE_HEAD = (
    "DATA_HEADER; LOG_DATETIME; LOG_TIMESTAMP; PROC_TIME_US; DL_ACHIEVED_RATE_KBPS;"
    " UL_ACHIEVED_RATE_KBPS; DL_LOAD_PERCENT; UL_LOAD_PERCENT; ICMP_TIMESTAMP; REFLECTOR;"
    " SEQUENCE; DL_OWD_BASELINE; DL_OWD_US; DL_OWD_DELTA_EWMA_US; DL_OWD_DELTA_US;"
    " DL_ADJ_DELAY_THR; UL_OWD_BASELINE; UL_OWD_US; UL_OWD_DELTA_EWMA_US; UL_OWD_DELTA_US;"
    " UL_ADJ_DELAY_THR; DL_LOAD_CONDITION; UL_LOAD_CONDITION; CAKE_DL_RATE_KBPS;"
    " CAKE_UL_RATE_KBPS"
)


def _autorate() -> str:
    quiet = "DATA; 2026-01-01-20:00:00; 1.0; 1.0; 500; 200; 1; 2; 1.0; 192.0.2.1; 1; 10000; 10100;"
    quiet += " 100; 100; 30000; 10000; 10000; 0; 0; 30000; dl_idle; ul_idle; 50000; 10000"
    busy = "DATA; 2026-01-01-20:00:01; 2.0; 2.0; 48000; 400; 96; 4; 2.0; 192.0.2.1; 2; 10000;"
    busy += " 110000; 9000; 100000; 30000; 10000; 10000; 0; 0; 30000; dl_high_bb; ul_idle;"
    busy += " 50000; 10000"
    return (
        "\n".join(["INFO; 2026-01-01-20:00:00; 1.0; Starting", AUTORATE_HEAD])
        + "\n"
        + ("\n".join([quiet] * 20 + [busy] * 20) + "\n")
    )


AUTORATE = _autorate()
IRTT = json.dumps(
    {
        "version": {"irtt": "0.9.1", "json_format": 1},
        "stats": {"packets_sent": 4, "packets_received": 2},
        "round_trips": [
            {"seqno": 0, "lost": "false", "delay": {"rtt": 20_000_000}},
            {"seqno": 1, "lost": "false", "delay": {"rtt": 20_500_000}},
            {"seqno": 2, "lost": "true_down", "delay": {}},
            {"seqno": 3, "lost": "true_down", "delay": {}},
        ],
    }
)


def packed(value: object) -> bytes:
    """Return a value as MessagePack."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return b"\xcf" + value.to_bytes(8, "big")
        case str():
            text = value.encode()
            return b"\xd9" + bytes([len(text)]) + text
        case list():
            return (
                b"\xdd" + len(value).to_bytes(4, "big") + b"".join(packed(each) for each in value)
            )
        case dict():
            parts = [packed(key) + packed(each) for key, each in value.items()]
            return b"\xdf" + len(parts).to_bytes(4, "big") + b"".join(parts)
    raise TypeError(value)


def framed(data: bytes) -> bytes:
    """Return data in frames of Snappy that are not compressed, with wrong checksums."""
    pieces = [data[first : first + 65536] for first in range(0, len(data), 65536)]
    frames = [b"\x01" + (len(each) + 4).to_bytes(3, "little") + bytes(4) + each for each in pieces]
    return b"\xff\x06\x00\x00sNaPpY" + b"".join(frames)


CRUSADER = (
    (0x5372AB82AE7C59CB).to_bytes(8, "little")
    + (2).to_bytes(8, "little")
    + framed(packed(crusader()))
)
CRUSADER_JSON = json.dumps(crusader())

FILES: dict[str, bytes] = {
    name: each if isinstance(each, bytes) else each.encode()
    for name, each in {
        "ping": PING,
        "ping-macos": PING_MACOS,
        "ping-windows": PING_WINDOWS,
        "ss": SS,
        "tc": TC,
        "tc-json": TC_JSON,
        "network-quality": NETWORK_QUALITY,
        "network-quality-sequential": NETWORK_QUALITY_SEQUENTIAL,
        "goresponsiveness": GORESPONSIVENESS,
        "goresponsiveness-metrics": GORESPONSIVENESS_METRICS,
        "flent": FLENT,
        "crusader": CRUSADER,
        "crusader-json": CRUSADER_JSON,
        "autorate": AUTORATE,
        "irtt": IRTT,
    }.items()
}
