"""Scenarios: documents, what overrides them, and flows recorded elsewhere."""
