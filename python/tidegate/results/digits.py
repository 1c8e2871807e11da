"""Numbers in sentences."""


def significant(value: float, digits: int = 3) -> str:
    """Return a number with so many digits; a larger one is whole, as 1e+03 is hard to read."""
    return f"{value:.0f}" if abs(value) >= 10**digits - 0.5 else f"{value:.{digits}g}"
