class Meter:
    pass
