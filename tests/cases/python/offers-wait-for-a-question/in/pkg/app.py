from pkg.far import Solver


def run():
    from pkg.far import solve

    return solve(Solver.step)
