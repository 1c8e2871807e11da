"""Look at programs at tcx and put others there, by bpf(2): `tc` knows nothing of that hook.

    python tcx.py list DEV                   the programs at both sides, in their order
    python tcx.py put DEV SIDE NAME RETURNS  put an empty program before all others, until killed
    python tcx.py take DEV SIDE NAME         detach the link of a program of that name

`put` says `ready` when it is in place. With `--fill` there are as many as the kernel takes.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import platform
import signal
import socket
import struct

SYSCALL = {"x86_64": 321, "aarch64": 280}
"""Number of bpf(2)."""
# linux/bpf.h: commands, a type of programs, the sides as types of attachment, a flag
PROG_LOAD, TEST_RUN, PROG_GET_FD_BY_ID, INFO_BY_FD, PROG_QUERY = 5, 10, 13, 15, 16
LINK_CREATE, LINK_GET_FD_BY_ID, LINK_DETACH = 28, 30, 34
SCHED_CLS = 3
SIDES = {"ingress": 46, "egress": 47}
BEFORE = 1 << 3
MOST = 64
"""Room for the programs at one side of an interface (`BPF_MPROG_MAX`)."""


def bpf(command: int, attributes: bytes) -> int:
    """Call the kernel."""
    return call(command, ctypes.create_string_buffer(attributes, len(attributes)))


def call(command: int, attributes: ctypes.Array[ctypes.c_char]) -> int:
    """Call the kernel, which may write its answer into the attributes."""
    system = ctypes.CDLL(None, use_errno=True).syscall
    done = int(system(SYSCALL[platform.machine()], command, attributes, len(attributes)))
    if done < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"bpf command {command}: {os.strerror(error)}")
    return done


def by_id(program: int) -> int:
    """Open a program."""
    return bpf(PROG_GET_FD_BY_ID, struct.pack("=3I", program, 0, 0))


def name_of(program: int) -> str:
    """Return the name of a program, of which the kernel keeps fifteen characters."""
    info = ctypes.create_string_buffer(256)
    handle = by_id(program)
    try:
        bpf(INFO_BY_FD, struct.pack("=IIQ", handle, len(info), ctypes.addressof(info)))
    finally:
        os.close(handle)
    # `name` of struct bpf_prog_info
    return info.raw[64:80].rstrip(b"\0").decode()


def alone(program: int, packet: bytes, times: int) -> int:
    """Run a program on a packet many times; return the mean time of a run, ns."""
    room = ctypes.create_string_buffer(packet, len(packet))
    handle = by_id(program)
    place = (ctypes.addressof(room), 0)
    attributes = struct.pack(
        "=4I2Q4I2Q4I", handle, 0, len(packet), 0, *place, times, 0, 0, 0, 0, 0, 0, 0, 0, 0
    )
    answer = ctypes.create_string_buffer(attributes, len(attributes))
    try:
        call(TEST_RUN, answer)
    finally:
        os.close(handle)
    # `duration` of the answer
    return int(struct.unpack_from("=I", answer.raw, 36)[0])


def at(device: str, side: str) -> list[tuple[int, int]]:
    """Return the programs at one side, in the order in which they run, and their links."""
    ids, links = ((ctypes.c_uint32 * MOST)() for _ in range(2))
    places = [ctypes.addressof(each) for each in (ids, links)]
    index = socket.if_nametoindex(device)
    bpf(
        PROG_QUERY,
        struct.pack("=4IQIIQQQQ", index, SIDES[side], 0, 0, places[0], MOST, 0, 0, places[1], 0, 0),
    )
    return [pair for pair in zip(ids, links, strict=True) if pair[0]]


def load(name: str, returns: int) -> int:
    """Load a program that only returns a value."""
    # r0 = returns; exit
    code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xB7, 0, 0, returns, 0x95, 0, 0, 0))
    terms = ctypes.create_string_buffer(b"MIT")
    places = [ctypes.addressof(each) for each in (code, terms)]
    tail = (0, 0, 0, 0, 0, name.encode())
    return bpf(PROG_LOAD, struct.pack("=IIQQIIQII16s", SCHED_CLS, 2, *places, *tail))


def put(device: str, side: str, name: str, returns: int) -> int:
    """Put an empty program before all others; return its link."""
    index = socket.if_nametoindex(device)
    values = (load(name, returns), index, SIDES[side], BEFORE, 0, 0, 0)
    return bpf(LINK_CREATE, struct.pack("=6IQ", *values))


def take(device: str, side: str, name: str) -> None:
    """Detach the program of that name."""
    for program, link in at(device, side):
        if name_of(program) == name:
            handle = bpf(LINK_GET_FD_BY_ID, struct.pack("=3I", link, 0, 0))
            bpf(LINK_DETACH, struct.pack("=I", handle))


def main() -> None:
    """Do what the words say, in the network namespace of this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=("list", "put", "take"))
    parser.add_argument("device")
    parser.add_argument("side", nargs="?", choices=SIDES)
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("returns", nargs="?", type=int, default=-1)
    parser.add_argument("--fill", action="store_true")
    words = parser.parse_args()
    if words.command == "list":
        found = {
            side: [{"id": each, "name": name_of(each)} for each, _ in at(words.device, side)]
            for side in SIDES
        }
        print(json.dumps(found))
    elif words.command == "take":
        take(words.device, words.side, words.name)
    else:
        put(words.device, words.side, words.name, words.returns)
        while words.fill:
            try:
                put(words.device, words.side, words.name, words.returns)
            except OSError as error:
                # there is no place left
                words.fill = error.errno != errno.ERANGE
        print("ready", flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
