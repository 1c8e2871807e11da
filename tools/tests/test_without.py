"""Taking a part away from a control of another project: `python -m tools.without`."""

import re
from pathlib import Path

import pytest
from tools.without import PARTS, Change, changed, copied, source


def test_a_part_is_changed_once() -> None:
    """By hand: the least window becomes one, and the rest of the line stays."""
    change = Change("a.rs", r"(WINDOW: u16 =) 4;", r"\1 1;")
    assert changed("const WINDOW: u16 = 4;\n", change) == "const WINDOW: u16 = 1;\n"


@pytest.mark.parametrize("text", ["const WINDOW: u16 = 2;", "WINDOW: u16 = 4; WINDOW: u16 = 4;"])
def test_a_part_that_is_not_there_once_is_an_error(text: str) -> None:
    """Another version of the crate must not pass for one without the part."""
    change = Change("a.rs", r"(WINDOW: u16 =) 4;", r"\1 1;")
    with pytest.raises(ValueError, match=re.escape("a.rs has")):
        changed(text, change)


@pytest.mark.parametrize("name", PARTS)
def test_each_part_is_in_the_version_that_is_built(name: str, tmp_path: Path) -> None:
    """Every place of a part is in the source that `make stacks` compiles."""
    part = PARTS[name]
    try:
        source(part.crate)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    assert copied(part, tmp_path).is_dir()
