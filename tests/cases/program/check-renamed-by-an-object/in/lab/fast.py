class Bound:
    pass
