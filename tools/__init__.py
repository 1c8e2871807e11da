"""Programs of the Makefile and of maintainers; no part of the package."""
