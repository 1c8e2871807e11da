"""Folders of results are whole or absent, and nobody's files are lost."""

import errno
import json
from pathlib import Path

import polars as pl
import pytest

import tidegate
from tidegate.errors import TidegateError
from tidegate.results.store import MANIFEST, Store


def beside(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def filled(target: Path, name: str = "a.txt") -> None:
    with Store(target) as store:
        store.write(name, b"a")
        store.write_json(MANIFEST, {"tidegate": "0", "files": [name]})
        store.commit()


def test_nothing_is_there_before_commit_and_all_of_it_after(tmp_path):
    target = tmp_path / "out" / "run"
    with Store(target) as store:
        store.write("deep/a.txt", b"a")
        assert not target.exists()
        store.commit()
    assert (target / "deep" / "a.txt").read_bytes() == b"a"
    assert beside(tmp_path / "out") == ["run"]


def test_an_error_leaves_nothing_behind(tmp_path):
    with pytest.raises(RuntimeError), Store(tmp_path / "run") as store:
        store.write("a.txt", b"a")
        raise RuntimeError
    assert beside(tmp_path) == []


def test_what_tidegate_wrote_is_replaced(tmp_path):
    filled(tmp_path / "run", "old.txt")
    filled(tmp_path / "run", "new.txt")
    assert beside(tmp_path / "run") == [MANIFEST, "new.txt"]
    assert beside(tmp_path) == ["run"]


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "run").mkdir()
    filled(tmp_path / "run")
    assert beside(tmp_path / "run") == ["a.txt", MANIFEST]


def test_a_strangers_folder_is_refused_before_any_work(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(TidegateError, match=r"thesis\.tex"):
        Store(tmp_path)
    assert beside(tmp_path) == ["thesis.tex"]


def test_a_file_that_someone_added_to_results_is_not_lost(tmp_path):
    filled(tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(TidegateError, match=r"notes\.txt"):
        Store(tmp_path / "run")
    assert (tmp_path / "run" / "notes.txt").exists()


def test_another_programs_manifest_is_not_ours(tmp_path):
    (tmp_path / MANIFEST).write_text('{"name": "web app", "files": ["x"]}', encoding="utf-8")
    with pytest.raises(TidegateError, match=MANIFEST):
        Store(tmp_path)


def test_a_place_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(TidegateError, match="Not a directory"):
        Store(tmp_path / "file")
    with pytest.raises(TidegateError):
        Store(tmp_path / "file" / "below")


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path, monkeypatch):
    def full(_path, _content):
        raise OSError(errno.ENOSPC, "No space left on device")

    with Store(tmp_path / "run") as store:
        monkeypatch.setattr(Path, "write_bytes", full)
        with pytest.raises(TidegateError, match="No space left") as caught:
            store.write("flows.parquet", b"x")
    assert "Free some space" in caught.value.remedy
    assert str(tmp_path / "run" / "flows.parquet") in caught.value.what
    assert beside(tmp_path) == []


def test_an_unwritable_place_is_named(tmp_path, monkeypatch):
    def refuse(**_options):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tidegate.results.store.tempfile.mkdtemp", refuse)
    with pytest.raises(TidegateError, match="Permission denied") as caught:
        Store(tmp_path / "run")
    assert "permissions" in caught.value.remedy


def test_a_move_that_breaks_off_brings_the_former_results_back(tmp_path, monkeypatch):
    filled(tmp_path / "run", "old.txt")
    rename = Path.rename

    def fail_once_moved(path, to):
        if path.name.endswith(".partial"):
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", fail_once_moved)
    with pytest.raises(TidegateError, match="Input/output"), Store(tmp_path / "run") as store:
        store.write("new.txt", b"")
        store.commit()
    assert beside(tmp_path) == ["run"]
    assert beside(tmp_path / "run") == [MANIFEST, "old.txt"]


def test_a_run_is_saved_with_its_provenance(tmp_path, overload):
    result = tidegate.run(overload, seed=3)
    folder = result.save(tmp_path / "run")
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    assert sorted([*manifest["files"], MANIFEST]) == beside(tmp_path / "run")
    assert manifest["tidegate"] == tidegate.__version__
    assert manifest["seed"] == 3
    assert manifest["packet_hops"] > 0
    for name in ("wall_s", "cpu_s", "scenario_hash", "command", "commit"):
        assert name in manifest
    assert pl.read_parquet(folder / "flows.parquet").equals(result.flows)
    assert pl.read_parquet(folder / "ports.parquet").equals(result.ports)
    assert pl.read_parquet(folder / "events.parquet").equals(result.events)
    again = tidegate.run(folder / "scenario.toml", seed=3)
    assert again.summary["result_hash"] == result.summary["result_hash"]
