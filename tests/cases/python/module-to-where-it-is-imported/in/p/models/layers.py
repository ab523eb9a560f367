def dense():
    return 1
