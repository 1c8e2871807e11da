"""Every measure of every cell of the gate's matrix, from tools/live/measured/cells.csv."""

HEAD = """\
# Every cell of the matrix

<!-- Made from tools/live/measured/cells.csv by `python -m tools.generate --all`. -->

[Figures of the gate](matrix.md) says what the cells and the measures are, and what they show. Means
over the runs; the same [as data](../tools/live/measured/cells.csv).
"""


def page() -> str:
    """Return the tables of both kernels, as Markdown."""
    from tools.live import cells

    lines = cells.read()
    text = [HEAD]
    for kernel, queue in dict.fromkeys((line.kernel, line.queue) for line in lines):
        own = [line for line in lines if (line.kernel, line.queue) == (kernel, queue)]
        text += [f"## {queue}, Linux {kernel}", "", *cells.table(own), ""]
    return "\n".join(text).rstrip() + "\n"
