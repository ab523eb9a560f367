from .till import sell
from . import cards  # noqa: F401
