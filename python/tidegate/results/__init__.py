"""One run: how it is simulated, what is worked out from it, and how it is kept."""
