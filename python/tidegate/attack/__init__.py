"""`tidegate attack`: a search for the path and traffic in which a control does worst."""
