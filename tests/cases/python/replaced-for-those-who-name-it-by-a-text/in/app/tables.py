def show(x):
    return x + 2
