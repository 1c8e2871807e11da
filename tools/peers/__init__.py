"""Other simulators on the yardstick, for the ratio of speed."""
