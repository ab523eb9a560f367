from ..signal import Signal


class View(Signal):
    pass
