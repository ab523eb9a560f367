def load():
    pass


def clean():
    pass
