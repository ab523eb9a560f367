def load():
    pass


class Table:
    pass
