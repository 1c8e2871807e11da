"""OpenWrt: what its service makes of /etc/config/tidegated and starts; what its package has."""

import io
import re
import subprocess
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import openwrt, openwrt_boot, rust_targets

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


# A package of opkg is a .tar.gz of three members: the number of its format, and two .tar.gz.
def parts(package: Path) -> dict[str, tarfile.TarFile]:
    with tarfile.open(package) as outer:
        assert outer.getnames() == ["./debian-binary", "./control.tar.gz", "./data.tar.gz"]
        held = {each.name: outer.extractfile(each) for each in outer}
        read = {name: file.read() for name, file in held.items() if file is not None}
    assert read["./debian-binary"] == b"2.0\n"
    inner = ("control", "data")
    return {name: tarfile.open(fileobj=io.BytesIO(read[f"./{name}.tar.gz"])) for name in inner}


def text_of(tar: tarfile.TarFile, name: str) -> str:
    file = tar.extractfile(name)
    assert file is not None
    return file.read().decode()


def test_the_package_has_the_program_its_service_and_its_configuration(tmp_path: Path) -> None:
    package, _ = openwrt.write("aarch64", b"a program", tmp_path)
    data = parts(package)["data"]
    assert text_of(data, "./usr/sbin/tidegated") == "a program"
    modes = {each.name: each.mode for each in data if each.isfile()}
    assert modes == {
        "./usr/sbin/tidegated": 0o755,
        "./etc/init.d/tidegated": 0o755,
        "./etc/config/tidegated": 0o600,
    }
    folders = [each.name for each in data if each.isdir()]
    assert folders == ["./usr", "./usr/sbin", "./etc", "./etc/init.d", "./etc/config"]
    assert all(each.uid == 0 and each.gid == 0 for each in data)


# opkg keeps a file in `conffiles` that its user has changed.
def test_a_changed_configuration_is_kept_and_the_modules_are_named(tmp_path: Path) -> None:
    control = parts(openwrt.write("aarch64", b"", tmp_path)[0])["control"]
    assert text_of(control, "./conffiles") == "/etc/config/tidegated\n"
    described = text_of(control, "./control")
    assert "\nDepends: kmod-sched-core, kmod-sched-bpf\n" in described
    assert f"\nVersion: {openwrt.version()}\n" in described


@pytest.mark.parametrize(("name", "code"), [("this", 0), ("mips64", 1)])
def test_a_router_with_another_processor_refuses_it(tmp_path: Path, name: str, code: int) -> None:
    here = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout
    name = here.strip() if name == "this" else name
    control = parts(openwrt.write(name, b"", tmp_path)[0])["control"]
    script = text_of(control, "./preinst")
    done = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert ("is for mips64" in done.stderr) == bool(code)


def test_the_same_program_is_the_same_package(tmp_path: Path) -> None:
    one, other = (openwrt.write("x86_64", b"p", tmp_path / each)[0] for each in ("a", "b"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("lacks", "remedy"),
    [
        ("rustc", r"https://rustup\.rs"),
        ("rustup", "rustup target add aarch64"),
        ("clang", "the gate cannot be built here"),
    ],
)
def test_what_lacks_is_named_before_anything_is_compiled(
    monkeypatch: pytest.MonkeyPatch, lacks: str, remedy: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == lacks else name)
    monkeypatch.setattr(rust_targets, "has", lambda _: lacks != "rustup")
    nothing = subprocess.CompletedProcess([], 0, stdout=b"")
    monkeypatch.setattr(openwrt, "run", lambda *_, **__: nothing)
    with pytest.raises(rust_targets.LackingError, match=remedy):
        openwrt.built("aarch64")


# A source that is left out is missed when the program is linked; all of them take a minute.
def test_all_sources_of_a_folder_become_one_archive_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[list[str]] = []

    def run(command: list[str]) -> subprocess.CompletedProcess[bytes]:
        said.append(command[3:])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(openwrt, "run", run)
    for name in ("one.c", "two.c", "three.h"):
        (tmp_path / name).touch()
    file = tmp_path / "libz.a"
    openwrt.archive(openwrt.PROCESSORS["x86_64"], tmp_path, file, "-DX")
    objects = [str(tmp_path / "libz.objects" / name) for name in ("one.o", "two.o")]
    assert [words[-1] for words in said] == [*objects, objects[1]]
    assert said[0][:3] == ["cc", "-target", "x86_64-linux-musl"]
    assert "-DX" in said[0]
    assert said[2] == ["ar", "rcs", str(file), *objects]
    file.touch()
    openwrt.archive(openwrt.PROCESSORS["x86_64"], tmp_path, file)
    assert len(said) == 3


RIGHT = """
crowd without: 40
doctor told: 0
crowd told: 7
crowd killed-told: 40
doctor hidden: 0
crowd hidden: 8
crowd killed-hidden: 40
ended
"""


@pytest.mark.parametrize(
    ("said", "other", "fault"),
    [
        ("crowd told: 7", "crowd told: 7", None),
        ("crowd told: 7", "crowd told: 9", "told: 9 got in"),
        ("crowd told: 7", "crowd told: 0", "told: 0 got in"),
        ("crowd hidden: 8", "", "hidden: nobody got in"),
        ("killed-hidden: 40", "killed-hidden: 39", "killed-hidden: 39 of 40"),
        ("crowd without: 40", "crowd without: 1", "without: 1 of 40"),
        ("doctor hidden: 0", "doctor hidden: 1", "exit code 1"),
        ("ended", "Kernel panic", "did not end"),
        ("crowd without", "the package refuses this processor\ncrowd without", "another processor"),
    ],
)
def test_a_kernel_in_which_a_rule_does_not_hold_is_a_fault(
    said: str, other: str, fault: str | None
) -> None:
    found = openwrt_boot.faults(RIGHT.replace(said, other))
    assert found == [] if fault is None else len(found) == 1 and fault in found[0]
