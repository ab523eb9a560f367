__all__ = ("Future",)
from . import events
class Future:
    def __init__(self): self.loop = events.get_loop()
