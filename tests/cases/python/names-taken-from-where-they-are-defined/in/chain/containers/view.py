"""Two more that are there in time, and one that is not."""
from chain import group, Signal


class View(Signal):
    group = group.Group()
