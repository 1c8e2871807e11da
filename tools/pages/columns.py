"""The reference of the result columns."""
