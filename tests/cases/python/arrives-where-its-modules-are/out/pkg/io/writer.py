class Writer:
    suffix = ".txt"
