from .imports import Lazy

lazy = Lazy(globals())
lazy.add("Server", ".old.server:Server")
