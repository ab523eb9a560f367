LIMIT = 5


def run(x):
    return x * 2
