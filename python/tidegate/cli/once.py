"""Options that take one value are given once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from typer.core import TyperCommand, TyperOption

from tidegate.errors import UsageError

if TYPE_CHECKING:
    from typer import Context


class Once(TyperCommand):
    """A command that refuses a second value, where the first would be lost without a word."""

    # typer names a subclass of the Context that its commands are declared with
    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Read the words of the command line."""
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            for option, times in Counter(given).items():
                if isinstance(option, TyperOption) and takes_one(option) and times > 1:
                    raise UsageError(
                        f"{option.opts[0]} is given {times} times, and takes one value.",
                        "Give it once.",
                    )
        return super().parse_args(ctx, args)


def takes_one(option: TyperOption) -> bool:
    """Tell whether an option has a value, and only one."""
    return not (option.is_flag or option.count or option.multiple)
