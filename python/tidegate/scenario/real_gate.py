"""What a real gate does by default, and a gate of a scenario only if it says so."""

from __future__ import annotations

REAL_GATE = {"onset": "2s", "ends_of": "peer"}
"""As the file of a gate with `close-probe` or `tide` has it (`docs/gate-keys.md`)."""


def in_toml(*keys: str) -> str:
    """Return these keys, or all, as settings of a gate in TOML."""
    return ", ".join(f'{key} = "{REAL_GATE[key]}"' for key in keys or REAL_GATE)
