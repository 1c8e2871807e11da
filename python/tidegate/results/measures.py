"""Measures of a saved run: what papers, studies, certificates and own scripts share."""
