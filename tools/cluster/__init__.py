"""The overhead of a run on a cluster."""
