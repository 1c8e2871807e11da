"""The reference of the command line."""

from collections.abc import Iterator
from typing import Any

import typer

from tools.pages import MARK

# What typer adds by itself: its wording differs between versions.
_GENERAL = {"help", "install_completion", "show_completion"}


def page() -> str:
    """Return every command with its arguments and options, as Markdown."""
    from tidegate.cli import app

    group: Any = typer.main.get_command(app)
    lines = ["# Command line", "", MARK, *_command("tidegate", group)]
    lines += ["", "Every command has `--help`; `tidegate --install-completion` teaches your shell."]
    for name, command in sorted(group.commands.items()):
        if not command.hidden:
            lines += ["", f"## tidegate {name}", "", *_command(f"tidegate {name}", command)]
    return "\n".join(lines) + "\n"


# The objects below are of the command library that typer brings along, which has no public types.


def _command(name: str, command: Any) -> Iterator[str]:
    own = [each for each in command.params if each.name not in _GENERAL]
    arguments = [_argument(each) for each in own if each.param_type_name == "argument"]
    yield f"`{' '.join([name, '[OPTIONS]', *arguments])}`"
    yield ""
    yield from _plain(command.help).strip().splitlines()
    if own:
        yield from ("", "| | |", "|---|---|", *map(_row, own))


def _plain(text: str | None) -> str:
    """Return a help text without the escapes of brackets, which are markup in the terminal."""
    return (text or "").replace("\\[", "[")


def _argument(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _row(parameter: Any) -> str:
    text = _plain(getattr(parameter, "help", None))
    if parameter.param_type_name == "argument":
        return f"| `{_argument(parameter)}` | {text} |"
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    if parameter.is_flag:
        return f"| `{names}` | {text} |"
    default = f" Default: {parameter.default}." if isinstance(parameter.default, str | int) else ""
    value = parameter.metavar or "N"  # an option that takes no number names its value
    return f"| `{names} {value}` | {text}{default} |"
