"""Session control: S. Ramesh and S. K. Kasera, ICNP 2007."""

TITLE = "Ramesh and Kasera, Best effort session-level congestion control (ICNP 2007)"
