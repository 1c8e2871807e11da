"""QFCP: J. Pu and M. Hamdi, SITIS 2006."""

TITLE = "Pu and Hamdi, QFCP: a router-assisted congestion control mechanism (SITIS 2006)"
