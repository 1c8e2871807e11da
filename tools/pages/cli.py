"""The reference of the command line."""

from collections.abc import Iterator
from typing import Any

import typer

from tools.pages import MARK


def page() -> str:
    """Return every command with its arguments and options, as Markdown."""
    from tidegate.cli import app

    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name="tidegate")
    lines = ["# Command line", "", MARK, *_command(group, context)]
    for name, command in sorted(group.commands.items()):
        if not command.hidden:
            inner = typer.Context(command, info_name=name, parent=context)
            lines += ["", f"## tidegate {name}", "", *_command(command, inner)]
    return "\n".join(lines) + "\n"


# The objects below are of the command library that typer brings along, which has no public types.


def _command(command: Any, context: typer.Context) -> Iterator[str]:
    yield f"`{' '.join([context.command_path, *command.collect_usage_pieces(context)])}`"
    yield ""
    yield from (command.help or "").strip().splitlines()
    rows = [_row(parameter) for parameter in command.get_params(context)]
    yield from ("", "| | |", "|---|---|", *rows)


def _row(parameter: Any) -> str:
    text = (getattr(parameter, "help", None) or "").rstrip(".")
    if parameter.param_type_name == "argument":
        return f"| `{parameter.metavar or parameter.name.upper()}` | {text}. |"
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    if parameter.is_flag:
        return f"| `{names}` | {text}. |"
    default = f" (default {parameter.default})" if isinstance(parameter.default, str | int) else ""
    value = parameter.metavar or "N"  # an option that takes no number names its value
    return f"| `{names} {value}` | {text}{default}. |"
