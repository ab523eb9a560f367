def kind(value):
    return type(value).__mro__[0]
