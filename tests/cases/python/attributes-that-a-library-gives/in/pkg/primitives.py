class Sum:
    pass
