def variance(xs):
    xs = list(xs)
    m = sum(xs) / len(xs)
    return sum((x - m) ** 2 for x in xs) / len(xs)
