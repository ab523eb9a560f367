def late():
    from pkg import a, b
    return a, b
