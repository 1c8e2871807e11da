"""The cost of a run on a cluster besides its simulation."""
