"""Run the notebooks of docs/lessons, and keep what they show: `python -m tools.lessons`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "lessons"
SECONDS = 120
"""The most that one cell may take, on a busy machine too."""


def lessons() -> list[Path]:
    """Return the notebooks, in the order of their names."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path, *more: str) -> Any:  # noqa: ANN401  (a tree of JSON)
    """Run a notebook, then `more` as cells at its end; return it with what its cells show.

    Raises nbclient's CellExecutionError where a cell fails.
    """
    book = nbformat.read(path, as_version=4)
    book.cells += [nbformat.v4.new_code_cell(source) for source in more]
    where = {"metadata": {"path": str(path.parent)}}
    # times of the execution would differ in every run
    client = NotebookClient(
        book, timeout=SECONDS, kernel_name="python3", resources=where, record_timing=False
    )
    client.execute()
    return book


def cleaned(book: Any) -> Any:  # noqa: ANN401
    """Leave out what differs from run to run: bars of progress, and versions of the kernel."""
    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in book.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if _lasts(each)]
    return book


def _lasts(output: Any) -> bool:  # noqa: ANN401
    """Tell whether an output is of the lesson: a picture, a value, a text that it prints."""
    if output.output_type == "display_data":
        return "image/png" in output.data
    return bool(output.get("name") != "stderr")


def main() -> None:
    """Run the lessons of these names, or all."""
    chosen = [path for path in lessons() if not sys.argv[1:] or path.stem in sys.argv[1:]]
    for path in chosen:
        nbformat.write(cleaned(executed(path)), path)
        print(f"ran {path.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
