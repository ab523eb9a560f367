def is_acme(value):
    return value.__name__ == "acme"
