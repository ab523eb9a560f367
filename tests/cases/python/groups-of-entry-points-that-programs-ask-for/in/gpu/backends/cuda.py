class Backend:
    pass
