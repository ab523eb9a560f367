def blur(x):
    return x + 1
