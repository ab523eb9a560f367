from .. import gpu as up
