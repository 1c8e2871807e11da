"""What `tidegate certify certify.py:Mine` tries: the control of this repository."""

from my_control import Mine

__all__ = ["Mine"]
