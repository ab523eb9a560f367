LIMIT = 4


def run(x):
    return x + 1
