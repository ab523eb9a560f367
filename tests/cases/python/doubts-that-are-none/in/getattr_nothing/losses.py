def hinge(x):
    return x + 1
LIMIT = 1
