from several import Signal


class View(Signal):
    pass
