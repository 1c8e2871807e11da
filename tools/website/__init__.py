"""The documentation as a site: `make site` builds it, and it works without a network."""
