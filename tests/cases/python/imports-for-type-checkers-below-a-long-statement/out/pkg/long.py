from __future__ import annotations

from typing import TYPE_CHECKING, Tuple, Union

if TYPE_CHECKING:
    import socket

    ADDRESS = Tuple[socket.AddressFamily, str,
                    Union[Tuple[str, int],
                          Tuple[int, bytes]]]
    from pkg.source import Owner


class Long:
    def __init__(self, owner: Owner) -> None:
        self.owner = owner
