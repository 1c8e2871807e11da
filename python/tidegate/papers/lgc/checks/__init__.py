"""The checks of the claims on LGC."""
