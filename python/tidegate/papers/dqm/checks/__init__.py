"""One function for each claim, or for each family of claims, under its id."""
