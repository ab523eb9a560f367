def iterate(operator):
    return operator
