def average(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def product(values):
    result = 1
    for value in values:
        result *= value
    return result


def factorial(number):
    return 1 if number < 2 else number * factorial(number - 1)


def spread(values):
    try:
        return max(values) - min(v for v in values)
    except ValueError as error:
        raise TypeError("nothing") from error


def difference(a, b):
    return a - b


def named(value):
    return value + 1


def handed(value):
    return value + 2
