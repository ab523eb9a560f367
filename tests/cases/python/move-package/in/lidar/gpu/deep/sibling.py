NAME = __name__.rsplit(".", 1)[-1]
