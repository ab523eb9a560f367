def load():
    pass


def save():
    pass
