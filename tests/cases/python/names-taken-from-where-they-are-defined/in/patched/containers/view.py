from patched import Signal


class View(Signal):
    pass
