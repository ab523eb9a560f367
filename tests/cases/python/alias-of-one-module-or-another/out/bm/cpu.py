NAME = "cpu"


def launch(x):
    return x + 1
