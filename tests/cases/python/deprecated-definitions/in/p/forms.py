import sys
from enum import Enum

if sys.version_info >= (3, 13):
    from warnings import deprecated
else:
    from typing_extensions import deprecated


@deprecated("`Message` goes", stacklevel=2)
class Message(Enum):
    START = 1
