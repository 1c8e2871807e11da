"""Limiting greedy connections: N. Prabhavalkar and M. Parashar, 2002."""

TITLE = (
    "Prabhavalkar and Parashar, Controlling unresponsive connections in an active network"
    " architecture"
)
