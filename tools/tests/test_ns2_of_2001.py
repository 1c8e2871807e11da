"""How the source of ns-2.1b8a is made ready to compile, and how its table says a result."""

import math
from pathlib import Path

import pytest
from tools.peers.install import UnavailableError
from tools.validate import ns2_of_2001
from tools.validate.dumbbell import NS2_2006

MAKEFILE = """OBJ_CC = \\
\tbaseband.o bt-host.o \\
\ttcp.o tcp-full.o $(LIB_DIR)int.Vec.o \\
\t@V_STLOBJ@

SRC = other
"""

BEFORE = {
    "queue-monitor.h": "int64_t a; uint64_t b;",
    "tcl/lib/ns-autoconf.tcl": 'checkout_executable TCLSH "/there/ns-2/bin/tclsh8.3" tclsh',
    "codeword.cc": "assert(sizeof(unsigned long) == 4);",
}
AFTER = {
    "queue-monitor.h": "double a; uint64_t b;",
    "tcl/lib/ns-autoconf.tcl": 'checkout_executable TCLSH "/usr/bin/tclsh" tclsh',
    "codeword.cc": "assert(true);",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "Makefile.in").write_text(MAKEFILE)
    (tmp_path / "tcl" / "lib").mkdir(parents=True)
    (tmp_path / "gen").mkdir()
    (tmp_path / "gen" / "ns_tcl.cc").write_text("of another machine")
    for name, text in BEFORE.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_files_of_ns2_come_back_and_no_bluetooth_is_compiled(source: Path) -> None:
    (source / "packet.h").write_text("with Bluetooth")
    (source / "packet.h.orig").write_text("of ns-2")
    ns2_of_2001.prepare(source)
    assert (source / "packet.h").read_text() == "of ns-2"
    assert not (source / "gen" / "ns_tcl.cc").exists()
    [objects] = [
        line
        for line in (source / "of-today.mk").read_text().splitlines()
        if line.startswith("OBJECTS")
    ]
    assert objects.split()[2:5] == ["tcp.o", "tcp-full.o", "lib/int.Vec.o"]
    assert "bt-host.o" not in objects
    assert "@" not in objects


def test_each_edit_is_made_and_another_source_is_refused(source: Path) -> None:
    ns2_of_2001.prepare(source)
    assert {name: (source / name).read_text() for name in BEFORE} == AFTER
    # nothing is left to edit
    with pytest.raises(UnavailableError, match=r"queue-monitor\.h: this is not the source"):
        ns2_of_2001.prepare(source)


def test_both_simulators_get_the_timeouts_of_2001() -> None:
    """ns-default.tcl of ns-2.1b8a: rtxcur_init_ 6.0, minrto_ 1, maxrto_ 100000."""
    case = ns2_of_2001.sessions_of(150, 250)
    assert [case.settings[key] for key in ("rto_init", "rto_min", "rto_max")] == [
        "6",
        "1",
        "100000",
    ]
    tcp = case.document["traffic"]["all"]["transport"]["tcp"]
    assert tcp["profile"] == "ns2-2001" != NS2_2006


def test_a_cell_has_the_means_and_the_spread_of_completions() -> None:
    """By hand: 100 and 104 a second, and the time of the one run that has one."""
    runs = [
        {"completed_per_s": 100.0, "fct_mean_s": 2.0},
        {"completed_per_s": 104.0, "fct_mean_s": math.nan},
    ]
    assert ns2_of_2001.shown(runs) == "102.0 ± 2.8/s, 2.0 s"
