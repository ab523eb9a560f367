def base(value):
    return value
