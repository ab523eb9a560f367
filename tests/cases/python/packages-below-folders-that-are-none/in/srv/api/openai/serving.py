class Serving:
    pass
