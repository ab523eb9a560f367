def worker():
    return 1
OTHER = 2
