"""What a paper has to have: files, and names in its modules."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec

FILES = ("claims.csv", "deviations.toml", "pictures.csv", "report.md.j2", "scenarios")
MODULES = {
    "cases": ("CASES", "SCALE", "SETS"),
    "figures": (),
    "report_text": ("TEMPLATE_NAMES", "TEXT_CASES"),
}
"""The modules, and the names that each has to define."""


def missing(package: str) -> list[str]:
    """Return what a paper lacks, in words."""
    place = files(package)
    found = [name for name in FILES if not (place / name).exists()]  # type: ignore[attr-defined]
    if not hasattr(import_module(package), "TITLE"):
        found.append("TITLE in its __init__.py")
    for module, names in MODULES.items():
        if find_spec(f"{package}.{module}") is None:
            found.append(f"{module}.py")
            continue
        there = import_module(f"{package}.{module}")
        found += [f"{name} in its {module}.py" for name in names if not hasattr(there, name)]
    return found
