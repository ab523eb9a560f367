class Size:
    pass
