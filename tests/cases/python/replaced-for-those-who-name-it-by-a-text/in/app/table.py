def show(x):
    return x + 1
