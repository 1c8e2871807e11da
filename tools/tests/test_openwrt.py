"""The service of OpenWrt: what its script makes of /etc/config/tidegated, and what it starts."""

import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tidegate.hosts.lab import program

Start = Callable[[dict[str, dict[str, str]]], str]
FOLDER = Path(__file__).parents[1] / "packaging" / "openwrt"
# What /lib/functions.sh and procd.sh of OpenWrt give to a script, by their documentation: options
# of sections by name, and an instance that is described line by line.
GIVEN = r"""
config_load() { :; }
config_foreach() { for each in $SECTIONS; do "$1" "$each"; done; }
config_get() { eval "$1=\${uci_$2_$3:-\${4-}}"; }
config_get_bool() {
	eval "$1=\${uci_$2_$3:-\${4-}}"
	eval "case \$$1 in 1|on|true|yes|enabled) $1=1 ;; 0|off|false|no|disabled) $1=0 ;; esac"
}
procd_open_instance() { echo "open $1"; }
procd_set_param() { echo "$@"; }
procd_close_instance() { echo close; }
procd_add_reload_trigger() { echo "trigger $1"; }
logger() { echo "logged $*"; }
"""
BOTH = {
    "mode": "observe",
    "down": "br-lan",
    "down_shape": "47.5Mbit",
    "up": "wan",
    "up_shape": "9.5Mbit",
}


def options(text: str) -> dict[str, dict[str, str]]:
    """Read a file of UCI: its sections and their options."""
    found: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        if section := re.match(r"config \w+ '(\w+)'", line):
            mine = found[section[1]] = {}
        elif option := re.match(r"\s+option (\w+) '(.*)'", line):
            mine[option[1]] = option[2]
    return found


@pytest.fixture
def started(tmp_path: Path) -> Start:
    """Return what the script says when it starts these sections."""
    if (built := program()) is None:
        pytest.skip("there is no tidegated: make build")
    script = (FOLDER / "tidegated.init").read_text(encoding="utf-8")
    script = script.replace("/var/run/tidegate", str(tmp_path)).replace(
        "/usr/sbin/tidegated", str(built)
    )

    def start(sections: dict[str, dict[str, str]]) -> str:
        set_up = [
            f"uci_{name}_{key}='{value}'"
            for name, section in sections.items()
            for key, value in section.items()
        ]
        lines = [GIVEN, *set_up, f"SECTIONS='{' '.join(sections)}'", script, "start_service"]
        done = subprocess.run(
            ["sh", "-uc", "\n".join(lines)], capture_output=True, text=True, check=True
        )
        if "built without" in done.stderr:
            pytest.skip("tidegated is built without its gate: bash tools/live.sh features says why")
        return done.stdout

    return start


def test_the_file_that_is_installed_starts_nothing_until_it_is_enabled(started: Start) -> None:
    installed = options((FOLDER / "tidegated.config").read_text(encoding="utf-8"))
    assert installed["router"] == BOTH | {"enabled": "0", "who": "0"}
    assert "open" not in started(installed)


# As the file of docs/gate.md for two directions has them.
def test_a_section_is_the_file_of_a_gate(started: Start, tmp_path: Path) -> None:
    said = started({"router": BOTH | {"enabled": "1", "who": "1"}})
    file = tmp_path / "router.toml"
    assert tomllib.loads(file.read_text(encoding="utf-8")) == {
        "mode": "observe",
        "law": {"law": "tide"},
        "who": True,
        "down": {"interface": "br-lan", "shape": "47.5Mbit"},
        "up": {"interface": "wan", "shape": "9.5Mbit"},
    }
    assert "tide by visits" in said, "the gate itself has checked it"
    assert f"gate --config {file}\n" in said
    assert "\nreload_signal HUP\n" in said
    assert said.count("open router") == said.count("close") == 1


def test_a_section_may_name_a_law_one_direction_and_what_comes_back(
    started: Start, tmp_path: Path
) -> None:
    ifb = {"down": "ifb0", "down_capacity": "50Mbit", "down_ends_of": "sender"}
    started({"one": ifb | {"enabled": "yes", "law": "close-probe", "mode": "enforce"}})
    found = tomllib.loads((tmp_path / "one.toml").read_text(encoding="utf-8"))
    assert found["law"] == {"law": "close-probe"}
    assert found["down"] == {"interface": "ifb0", "capacity": "50Mbit", "ends_of": "sender"}
    assert "up" not in found


# A gate that cannot run would be started again for ever; the others run.
def test_a_wrong_section_is_logged_and_not_started(started: Start) -> None:
    wrong = BOTH | {"enabled": "1", "down_shape": "fast"}
    said = started({"wrong": wrong, "right": BOTH | {"enabled": "1"}})
    assert "open wrong" not in said
    assert "open right" in said
    assert "the section wrong of /etc/config/tidegated is wrong" in said


def test_a_file_of_ones_own_is_taken_as_it_is(started: Start, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("interface = 'wan'\nlaw = { law = 'none' }\n", encoding="utf-8")
    said = started({"router": {"enabled": "1", "file": str(own)}})
    assert f"--config {own}\n" in said
    assert not (tmp_path / "router.toml").exists()
