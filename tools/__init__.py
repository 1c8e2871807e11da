"""What the Makefile runs beside cargo and the general linters."""
