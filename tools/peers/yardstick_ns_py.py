"""The yardstick of `tidegate bench` in ns.py: long Reno transfers over a dumbbell.

    python yardstick_ns_py.py STARTS SECONDS

STARTS is a file with the start of a flow, in seconds, on each line. Prints what it did and the
CPU time of the simulation alone, as one line of JSON. ns.py has Reno without a limit on repairs
and without NewReno's partial acknowledgements.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import simpy
from ns.demux.flow_demux import FlowDemux
from ns.flow.cc import TCPReno
from ns.flow.flow import Flow
from ns.packet.tcp_generator import TCPPacketGenerator
from ns.packet.tcp_sink import TCPSink
from ns.port.port import Port
from ns.port.wire import Wire

PACKET = 1500
PAYLOAD = 1460
ACK_FLOWS = 10000
"""ns.py numbers the acknowledgements of flow f as flow f + 10000."""


def link(env: Any, rate: float, delay: float, buffer: int | None = None) -> tuple[Any, Any]:
    """Return the two ends of a link one way."""
    # its limit counts the packet in transmission
    port = Port(env, rate, qlimit=None if buffer is None else buffer + 1)
    port.out = Wire(env, lambda: delay)
    return port, port.out


def main() -> None:
    """Build, run and report."""
    starts = [float(line) for line in Path(sys.argv[1]).read_text().split()]
    seconds = float(sys.argv[2])
    env = simpy.Environment()
    ports: list[Any] = []

    def add(rate: float, delay: float, buffer: int | None = None) -> tuple[Any, Any]:
        port, wire = link(env, rate, delay, buffer)
        ports.append(port)
        return port, wire

    forward, forward_end = add(1e9, 0.018, 3333)
    back, back_end = add(1e9, 0.018)
    to_sinks, to_sources, sinks = [], {}, []
    for number, start in enumerate(starts):
        control = TCPReno(mss=PACKET, cwnd=10 * PACKET, ssthresh=40 * PACKET)
        flow = Flow(
            fid=number, src=f"s{number}", dst=f"d{number}", start_time=start, finish_time=seconds
        )
        source = TCPPacketGenerator(env, flow, control, element_id=number)
        source.mss = PACKET
        sink = TCPSink(env, rec_arrivals=False, rec_waits=False, element_id=number)
        source.out, left = add(10e9, 0.001)
        left.out = forward
        right, right_end = add(10e9, 0.001)
        right_end.out = sink
        sink.out, up = add(10e9, 0.001)
        up.out = back
        home, home_end = add(10e9, 0.001)
        home_end.out = source
        to_sinks.append(right)
        to_sources[number + ACK_FLOWS] = home
        sinks.append(sink)
    forward_end.out = FlowDemux(outs=to_sinks)
    back_end.out = ByFlow(to_sources)

    begin = time.process_time()
    env.run(until=seconds)
    cpu = time.process_time() - begin
    hops = sum(port.packets_received - port.packets_dropped for port in ports)
    delivered = sum(sink.next_seq_expected for sink in sinks) / PACKET
    goodput = delivered * PAYLOAD * 8 / seconds / 1e6
    print(json.dumps({"packet_hops": hops, "cpu_s": cpu, "goodput_mbit_s": goodput}))


class ByFlow:
    """Hands a packet to the port of its flow."""

    def __init__(self, ports: dict[int, Any]) -> None:
        """Remember the port of each flow."""
        self.ports = ports

    def put(self, packet: Any) -> None:
        """Take a packet."""
        self.ports[packet.flow_id].put(packet)


if __name__ == "__main__":
    main()
