def sum(values):
    return "mine"


def min(values):
    return "mine"
