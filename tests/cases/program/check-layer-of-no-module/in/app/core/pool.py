from typing import TYPE_CHECKING

from app.core import base

if TYPE_CHECKING:
    from app.ui.window import warn


def late():
    from app.ui.window import warn

    return warn, base
