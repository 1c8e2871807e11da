"""The simulator as WebAssembly: what pages have of it, and what is said without a target."""

import gzip
import shutil
from pathlib import Path

import pytest
from tools import rust_targets, wasm
from tools.website import __main__ as website

HEAD = b"\0asm\1\0\0\0"
TYPES = b"\1\4\1\x60\0\0"  # section 1, 4 bytes: one type of function, without numbers in or out


def test_sections_without_effect_are_left_out_and_the_others_stay() -> None:
    """The layout is that of the WebAssembly specification, 5.5: a kind, a length, bytes."""
    short = b"\0\5\4name"
    long = b"\0" + b"\x80\1" + b"\4name" + bytes(123)  # 128 bytes: a length of two bytes
    assert len(long) == 3 + 128
    assert wasm.stripped(HEAD + short + TYPES + long + TYPES) == HEAD + TYPES + TYPES
    assert wasm.stripped(HEAD) == HEAD


def test_the_same_module_is_packed_into_the_same_bytes(tmp_path: Path) -> None:
    module = tmp_path / "x.wasm"
    module.write_bytes(HEAD + TYPES)
    assert wasm.packed(module) == wasm.packed(module)
    assert gzip.decompress(wasm.packed(module)) == HEAD + TYPES


def test_without_the_target_and_rustup_the_command_is_named_and_the_site_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rust_targets, "has", lambda _: False)
    monkeypatch.setattr(shutil, "which", lambda name: "rustc" if name == "rustc" else None)
    with pytest.raises(rust_targets.LackingError, match=r"target add wasm32-unknown-unknown$"):
        wasm.built()
    assert website._module() is None
    assert "rustup target add wasm32-unknown-unknown" in capsys.readouterr().err
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(rust_targets.LackingError, match="rustup"):
        wasm.built()
