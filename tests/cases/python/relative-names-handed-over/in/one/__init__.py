from .imports import lazy

lazy(globals(), {"Server": ".old.server"})
