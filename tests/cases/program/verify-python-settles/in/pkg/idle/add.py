def add_slowly(a, b):
    return a + b
