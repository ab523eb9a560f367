class Mark:
    pass
