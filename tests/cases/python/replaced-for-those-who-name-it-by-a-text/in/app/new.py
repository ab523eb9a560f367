def start(x):
    return x + 2
