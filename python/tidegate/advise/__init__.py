"""From what one has of a link to what to do: the parts of `tidegate advise`."""
