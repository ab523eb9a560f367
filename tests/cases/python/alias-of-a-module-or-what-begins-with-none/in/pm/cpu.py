def run(x):
    return x + 1


def stays(x):
    return x
