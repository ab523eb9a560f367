from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from . import thread as thread
    from .core.files import Opened as Opened
