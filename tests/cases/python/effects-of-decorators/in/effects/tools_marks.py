def identified(value):
    def mark(func):
        if not hasattr(func, '_identity'):
            func._identity = value
        return func

    return mark
