"""Two more that are there in time, and one that is not."""
from chain.signal import Signal
from chain.containers import group


class View(Signal):
    group = group.Group()
