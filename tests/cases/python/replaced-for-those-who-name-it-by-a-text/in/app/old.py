def start(x):
    return x + 1
