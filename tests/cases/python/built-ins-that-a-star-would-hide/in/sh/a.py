def sorted(values):
    return "mine"


def sum(values):
    return "mine"
