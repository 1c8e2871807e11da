"""What the live tests said in each kernel (`tools.kernels`), by what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FAULTS = {
    "a filter of others has the place": (
        "test_a_program_of_others_is_not_replaced",
        "test_with_the_rights_of_the_unit_a_gate_takes_over_what_was_left",
    ),
    "the MTU grows": ("test_a_larger_mtu_loses_nothing_at_the_shaper",),
    "a time namespace": ("test_in_a_time_namespace_it_refuses_and_fails_open",),
    "half-open connections at servers": (
        "test_a_refused_download_leaves_nothing_half_open_at_the_server",
        "test_the_dual_queue_leaves_nothing_half_open_at_the_server",
    ),
    "forged SYNs": ("test_sessions_that_never_end_stop_the_refusing",),
    "a rename, and what a killed gate leaves": (
        "test_a_renamed_interface_stays_controlled_and_is_put_back",
        "test_another_interface_that_takes_the_name_is_controlled_instead",
        "test_clean_removes_what_is_ours_whatever_it_is_called_now",
        "test_clean_leaves_what_others_put_there",
    ),
    "packets pass by the gate": ("test_packets_that_pass_by_the_gate_are_reported",),
    "the dual queue counts and can read": (
        "test_what_the_dual_queue_refuses_is_counted_and_no_flood",
        "test_where_queues_cannot_be_read_the_dual_queue_does_not_start",
    ),
    "asymmetric routes": ("test_close_probe_with_the_ends_of_the_sender_is_warned_about",),
    "two gates, a late interface": (
        "test_a_second_gate_at_an_interface_does_not_start",
        "test_an_interface_that_does_not_exist_yet_is_waited_for",
        "test_a_gate_starts_where_another_has_the_usual_port_of_metrics",
    ),
    "a reload fails": (
        "test_a_reload_whose_program_cannot_be_attached_keeps_the_counts",
        "test_a_reload_of_which_one_filter_cannot_be_attached_changes_no_other",
        "test_a_reload_that_fails_keeps_the_shaper",
    ),
}
"""What goes wrong, and the tests that make it go wrong."""

Outcome = tuple[str, str, str]
"""Name of a test without its parameters, what became of it, why."""


def read(file: Path) -> list[Outcome]:
    """Read what pytest wrote of its tests (JUnit's XML); nothing: no test was run."""
    if not file.exists():
        return []
    found = []
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        name = case.get("name", "").partition("[")[0]
        wrong = case.find("failure") is not None or case.find("error") is not None
        skipped = case.find("skipped")
        if wrong:
            found.append((name, "failed", ""))
        elif skipped is not None:
            found.append((name, "skipped", skipped.get("message", "")))
        else:
            found.append((name, "passed", ""))
    return found


def said(outcomes: list[Outcome]) -> str:
    """Return what became of tests, in words."""
    counts = {what: sum(one[1] == what for one in outcomes) for what in ("passed", "failed")}
    words = [f"{number} {what}" for what, number in counts.items() if number]
    for why in dict.fromkeys(why for _, what, why in outcomes if what == "skipped"):
        number = sum(one[2] == why for one in outcomes)
        words.append(f"{number} skipped: {why}")
    return ", ".join(words) or "not run"


def table(kernels: Mapping[str, list[Outcome]]) -> str:
    """Return the faults by kernel, and all tests."""
    lines = ["| | " + " | ".join(kernels) + " |", "|---|" + "---|" * len(kernels)]
    for fault, tests in FAULTS.items():
        of = [[one for one in outcomes if one[0] in tests] for outcomes in kernels.values()]
        lines.append(f"| {fault} | " + " | ".join(map(said, of)) + " |")
    lines.append("| all live tests | " + " | ".join(map(said, kernels.values())) + " |")
    return "\n".join(lines)
