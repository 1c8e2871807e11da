"""The lessons as pages that run: question and text of a notebook, with the runs of live.toml."""

from __future__ import annotations

import ast
import json
import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parents[2] / "docs" / "lessons"
RUNS = FOLDER / "live.toml"
OF_A_LINK = ("first", "second", "seed", "pace")
SERVERS = 8
"""How many servers the scenario of a notebook is filled in with, where it is a pattern."""

PREDICT = (
    "Say what you expect before you press a run. What it shows is in the pictures and in the table"
    " below them; the answer is folded under it."
)


def live() -> dict[str, Any]:
    """Return the runs of each lesson."""
    return tomllib.loads(RUNS.read_text(encoding="utf-8"))


def texts(name: str) -> list[str]:
    """Return the texts of a notebook, those of its code left out."""
    return ["".join(cell["source"]) for cell in _cells(name) if cell["cell_type"] == "markdown"]


def scenario(name: str) -> str:
    """Return the scenario of a lesson that runs: that of its notebook, with what is added."""
    for cell in _cells(name):
        if cell["cell_type"] == "code" and "SCENARIO = " in (code := "".join(cell["source"])):
            break
    else:
        raise ValueError(f"the notebook {name} has no SCENARIO")
    [text] = [
        str(ast.literal_eval(each.value))
        for each in ast.parse(code).body
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "SCENARIO"
    ]
    if "{{" in text:
        text = text.format(servers=SERVERS)
    lesson = live()[name]
    text = _replaced(text, lesson.get("instead", []))
    return f"{text.strip()}\n{lesson['more']}"


def experiments(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the runs of a lesson: what to look at, and the experiment as a link holds it."""
    text = scenario(name)
    for run in live()[name]["run"]:
        yield run["words"], {"text": text, **{key: run[key] for key in run if key in OF_A_LINK}}


def page(name: str) -> str:
    """Return the page of a lesson that runs."""
    question, *_, ending = texts(name)
    seen = ending.split("## What to try")[0].strip()
    seen = _replaced(seen, live()[name].get("seen", []))
    parts = [question, "## Run it", PREDICT, *_runs(name), seen, "## More"]
    parts.append(
        f"[The notebook]({name}.ipynb) has the same lesson in Python, with a picture of all of its"
        " runs and what else to try. The scenario can be changed here too: open it above the"
        " button, or move a slider, and run it again."
    )
    return "\n\n".join(parts) + "\n"


def _replaced(text: str, pairs: list[list[str]]) -> str:
    for part, other in pairs:
        if part not in text:
            raise ValueError(f"{RUNS.name} replaces what is not there: {part}")
        text = text.replace(part, other)
    return text


def _runs(name: str) -> Iterator[str]:
    answers = [run["answer"] for run in live()[name]["run"]]
    for number, (words, experiment) in enumerate(experiments(name), 1):
        yield f"**{number}.** {words}"
        yield f"```{{run-here}} Run {number}\n{json.dumps(experiment, ensure_ascii=False)}\n```"
        yield f"<details><summary>Answer {number}</summary>"
        yield answers[number - 1]
        yield "</details>"


def pages() -> dict[str, tuple[str, Callable[[], str]]]:
    """Return the pages: the path of each, the notebook that it shows, and what makes its text."""
    return {
        f"docs/lessons/{name}-live.md": (f"docs/lessons/{name}.ipynb", partial(page, name))
        for name in live()
    }


def _cells(name: str) -> list[dict[str, Any]]:
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    cells: list[dict[str, Any]] = notebook["cells"]
    return cells
