"""Real hosts of this machine, in network namespaces, beside those that are simulated."""
