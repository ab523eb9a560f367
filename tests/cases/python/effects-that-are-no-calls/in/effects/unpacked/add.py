def of_unpacked(x):
    return x + 1
