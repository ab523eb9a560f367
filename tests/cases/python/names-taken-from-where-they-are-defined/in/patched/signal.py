class Signal:
    pass


class Wide(Signal):
    pass
