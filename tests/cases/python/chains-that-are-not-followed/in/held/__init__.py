from . import gpu as device
