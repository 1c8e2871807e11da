"""The reference of the command line."""

from collections.abc import Iterator

import click
import typer

from tools.pages import MARK


def page() -> str:
    """Every command with its arguments and options, as Markdown."""
    from tidegate.cli import app

    group = typer.main.get_command(app)
    context = click.Context(group, info_name="tidegate")
    lines = ["# Command line", "", MARK, *_command(group, context)]
    for name in group.list_commands(context) if isinstance(group, click.Group) else ():
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            lines += ["", f"## tidegate {name}", ""]
            lines += _command(command, click.Context(command, info_name=name, parent=context))
    return "\n".join(lines) + "\n"


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"`{' '.join([context.command_path, *command.collect_usage_pieces(context)])}`"
    yield ""
    yield from (command.help or "").strip().splitlines()
    rows = [row for parameter in command.get_params(context) for row in _row(parameter)]
    if rows:
        yield from ("", "| | |", "|---|---|", *rows)


def _row(parameter: click.Parameter) -> Iterator[str]:
    if isinstance(parameter, click.Option):
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
        value = "" if parameter.is_flag else f" {parameter.metavar or _kind(parameter)}"
        default = parameter.default
        has_default = not (parameter.is_flag or default is None or default == ())
        text = (parameter.help or "").rstrip(".")
        yield f"| `{names}{value}` | {text}{f' (default {default})' if has_default else ''}. |"
    else:
        yield f"| `{parameter.metavar or parameter.name}` | {getattr(parameter, 'help', '')} |"


def _kind(parameter: click.Parameter) -> str:
    return parameter.type.name.split(" ")[0].upper().replace("INTEGER", "N")
