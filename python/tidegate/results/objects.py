"""The files of one run in an object store, where nothing can be renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.errors import from_os
from tidegate.results.place import removed
from tidegate.results.store import as_json, checksum

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


class Objects:
    """A run under construction: what `Store` is for a folder of this machine.

    An object is whole or absent, and the manifest is written last: a run
    without it counts as missing.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.files: list[str] = []
        self.sums: dict[str, str] = {}
        self._whole = False

    def __enter__(self) -> Objects:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._whole:
            removed(self.target)

    def write(self, name: str, content: bytes) -> None:
        """Write one object."""
        path = self.target / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise from_os("write", str(path), error) from error
        self.files.append(name)
        self.sums[name] = checksum(content)

    def write_json(self, name: str, value: object) -> None:
        """Write one JSON object, readable by people too."""
        self.write(name, as_json(value))

    def commit(self) -> Path:
        """Leave what was written."""
        self._whole = True
        return self.target
