from made import Signal


class View(Signal):
    pass
