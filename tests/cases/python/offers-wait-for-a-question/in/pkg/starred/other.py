class Solver:
    pass
