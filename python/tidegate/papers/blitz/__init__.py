"""Blitz: H. Kim and D. J. Farber, about 1995."""

TITLE = "Kim and Farber, A new congestion control framework (Blitz)"
