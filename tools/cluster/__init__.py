"""What a run on a cluster costs beside its simulation."""
