def dot():
    return 1
