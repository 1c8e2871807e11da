"""What killed labs have left: it is told from what is in use by the process in its name."""

from pathlib import Path

from tidegate.hosts import left_over


def of(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).mkdir(parents=True)
    return folder


def test_namespaces_of_processes_that_run_are_in_use(tmp_path: Path) -> None:
    processes = of(tmp_path / "proc", "7")
    ours = ("tg7-l", "tg8-l", "tg8-m", "tg8-r", "tg9-try")
    others = ("tg8", "tg8-x", "tidegate-8", "lab8-l", "tg8-l-b")
    names = of(tmp_path / "netns", *ours, *others)
    found = left_over.namespaces(names, processes)
    assert found == {8: ["tg8-l", "tg8-m", "tg8-r"], 9: ["tg9-try"]}
    assert left_over.namespaces(tmp_path / "none", processes) == {}


def test_folders_of_processes_that_run_are_in_use(tmp_path: Path) -> None:
    processes = of(tmp_path / "proc", "7")
    where = of(tmp_path / "tmp", "tidegate-lab-7-a", "tidegate-lab-8-a_b", "tidegate-lab-x", "8-a")
    assert left_over.folders(where, processes) == [where / "tidegate-lab-8-a_b"]


def process(folder: Path, number: int, comm: str, *words: str) -> None:
    place = of(folder, str(number)) / str(number)
    (place / "comm").write_text(f"{comm}\n", encoding="utf-8")
    (place / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))


def test_a_link_is_told_by_its_ends_and_its_program(tmp_path: Path) -> None:
    """Of four processes, one is an emulated link of that lab: the others differ in program,
    in ends, or in what the program does."""
    ends = ("--left", "tg8-m:tg0", "--right", "tg8-r:tg0")
    process(tmp_path, 20, "tidegated", "tidegated", "emulate", "a.toml", *ends)
    process(tmp_path, 21, "vi", "vi", "emulate", *ends)
    process(tmp_path, 22, "tidegated", "tidegated", "emulate", "a.toml", "--left", "tg88-m:tg0")
    process(tmp_path, 23, "tidegated", "tidegated", "gate", *ends)
    assert left_over.links(8, tmp_path) == [20]
