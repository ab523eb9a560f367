from .. import Signal


class View(Signal):
    pass
