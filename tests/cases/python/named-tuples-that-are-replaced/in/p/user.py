"""User."""
from p.core import __doc__ as words
