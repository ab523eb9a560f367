from .till import sell
from . import empty  # noqa: F401
from . import cards  # noqa: F401
