"""Every command that the entry pages tell a reader to type works, in the order of the pages.

Scenarios are cut to a few seconds, and no picture is drawn. What runs for minutes
(papers, studies, certificates, searches) is only parsed: its options and names have to exist,
and the scenarios of a certificate have to be right.
"""

import re
import shlex
import shutil
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tidegate import _native
from tidegate.advise.scene import Times
from tidegate.attack.perform import Request
from tidegate.certify import certificate, conditions, controls
from tidegate.cli import app
from tidegate.cli.certify import compared, tried

ROOT = Path(__file__).parents[2]
PAGES = ["README", "docs/getting-started", "docs/own-traffic", "docs/for-engineers"]
PAGES += ["docs/for-researchers", "docs/for-teachers", "docs/for-operators", "docs/certify"]
PAGES += ["docs/scenario", "docs/people", "docs/sweep", "docs/tide", "docs/studies/tide/notes"]
PAGES += ["docs/studies/users/notes", "docs/advise", "docs/today", "docs/attack"]
PAGES += ["docs/links", "docs/certify/crates-suites", "docs/certify/stacks"]
SLOW = ("paper", "study", "certify", "attack")
INSTALL = ("--install-completion",)
LEFT = [
    "out/our-office-link-compare/report.html",
    "out/our-office-link-sweep/over-traffic.web.arrivals.poisson.png",
    "out/our-office-link-compare/runs/none/seed-1/flows.parquet",
    "out/demo/report.html",
]
"""Files that the pages name as written by their commands."""


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


def commands() -> list[str]:
    """What the pages tell to type, in blocks and in sentences, each once, without its comment."""
    lines = []
    for page in PAGES:
        lines += [line for block in blocks(page, "sh") for line in block.splitlines()]
        text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
        lines += re.findall(r"`(\.venv/bin/tidegate [^`]*[^`A-Z])`", text)
    return list(dict.fromkeys(re.sub(r"\s+#.*", "", line) for line in lines if line.strip()))


def shortened(text: str) -> str:
    text = re.sub(r'^duration( *)= "\d+s"', r'duration\1= "4s"', text, flags=re.M)
    return re.sub(r'^warmup( *)= "\d+s"', r'warmup\1= "1s"', text, flags=re.M)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a checkout, with short scenarios, as the working directory."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    for path in (tmp_path / "scenarios").glob("*.toml"):
        path.write_text(shortened(path.read_text(encoding="utf-8")), encoding="utf-8")
    [own] = [text for text in blocks("docs/getting-started", "toml") if "[topology" in text]
    (tmp_path / "mine.toml").write_text(shortened(own), encoding="utf-8")
    suite, scenario = (text for text in blocks("docs/certify", "toml") if "slow" in text)
    (tmp_path / "own-suite").mkdir()
    (tmp_path / "own-suite.toml").write_text(suite, encoding="utf-8")
    (tmp_path / "own-suite" / "slow.toml").write_text(scenario, encoding="utf-8")
    for name in ("examples", "python"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setattr(
        "tidegate.show.pictures._contents",
        lambda name, _, formats: {f"{name}.{each}": b"" for each in formats},
    )
    monkeypatch.setattr("tidegate.advise.scene.times", lambda _: Times(4.0, 1.0))
    monkeypatch.setattr("tidegate.advise.many.MOST", 80)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def claim_exists(key: str, claim: str | None) -> bool:
    if claim is None:
        return True
    claims = (resources.files("tidegate.papers") / key / "claims.csv").read_text("utf-8")
    return f"\n{key}.{claim}," in claims


def certify_fault(asked: dict[str, Any]) -> str:
    """Read each scenario that the command would run, with each control."""
    mine = tried(*(asked[kind] or [] for kind in ("control", "gate", "queue")))
    suite = conditions.suite(asked["suite"] or controls.suite_of(mine))
    chosen = certificate.chosen(suite, asked["only"] or ())
    plan = certificate.plan(
        suite, chosen, [*compared(asked["against"], suite.standard, mine), *mine]
    )
    for case in plan.cases.values():
        plan.document(case).load()
    both = [(each, one) for each in mine for one in chosen]
    runs = {each.name for each, one in both if certificate.name(one, each) in plan.cases}
    wanted = {each.name for each in mine if _native.STACKS or not each.foreign}
    if runs != wanted:
        return f"run or not run, other than expected: {runs ^ wanted}"
    return "" if mine or asked["listed"] else "no control"


def attack_fault(asked: dict[str, Any]) -> str:
    """Look up each name of a search."""
    if asked["listed"]:
        return ""
    lists = (asked[name] or () for name in ("against", "part", "hold"))
    Request.of(asked["control"], asked["gate"], asked["objective"], *lists, of=asked["worlds"])
    return ""


def slow_fault(name: str, *rest: str) -> str:
    asked = get_command(app).commands[name].make_context(name, list(rest)).params
    if name == "certify":
        return certify_fault(asked)
    if name == "attack":
        return attack_fault(asked)
    return "" if claim_exists(asked["key"], asked.get("explain")) else "no such claim"


def python_fault(arguments: list[str]) -> str:
    """Tools print the tables of pages; examples are run by test_examples.py."""
    if arguments[0] == "-m":
        return "" if find_spec(arguments[1]) else "no such module"
    return "" if (ROOT / arguments[0]).parent == ROOT / "examples" else "not an example"


def fault_of(program: str, arguments: list[str]) -> str:
    """Type one command; return what is wrong with it, or nothing."""
    if program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        lost = [name for name in arguments if not re.search(rf"^{name}:", makefile, re.M)]
        return f"no target {lost}" if lost else ""
    if program == ".venv/bin/python":
        return python_fault(arguments)
    if program != ".venv/bin/tidegate":
        return "nobody tries this program: leave `sh` out at its block"
    if arguments[0].startswith("--"):  # --install-completion changes the reader's shell
        return "" if arguments[0] in INSTALL else "nobody tries this option"
    if arguments[0] in SLOW and len(arguments) > 1:
        return slow_fault(*arguments)
    done = CliRunner().invoke(app, arguments)
    return "" if done.exit_code == 0 else f"code {done.exit_code}: {done.output}{done.exception}"


@pytest.mark.slow
def test_every_command_works_as_it_stands_on_its_page(checkout: Path) -> None:
    demo = ".venv/bin/tidegate compare scenarios/overloaded-access-link.toml --gate none,tide"
    assert "--out out/demo" in (ROOT / "Makefile").read_text(encoding="utf-8")
    faults = {}
    for line in [f"{demo} --seeds 1 --out out/demo", *commands()]:
        program, *arguments = shlex.split(line)
        if fault := fault_of(program, arguments):
            faults[line] = fault
    assert faults == {}
    assert [name for name in LEFT if not (checkout / name).exists()] == []


@pytest.mark.slow
def test_the_python_of_the_tutorial_works(checkout: Path) -> None:
    [code] = blocks("docs/getting-started", "python")
    CliRunner().invoke(app, ["compare", "mine.toml", "--gate", "none,tide", "--seeds", "2"])
    names: dict[str, object] = {}
    exec(compile(code, "getting-started.md", "exec"), names)
    assert {len(names[each].averages) for each in "cs"} == {2}
    assert names["r"].flows.height > 100
