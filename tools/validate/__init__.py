"""A second opinion: the same transfers in tidegate and in ns-2, side by side."""
