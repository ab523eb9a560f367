class Fast:
    pass
