def variance(values):
    values = list(values)
    middle = sum(values) / len(values)
    return sum((value - middle) ** 2 for value in values) / len(values)
