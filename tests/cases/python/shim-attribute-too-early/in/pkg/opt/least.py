def solve(operator):
    return operator.solve()
