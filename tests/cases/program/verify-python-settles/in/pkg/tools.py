def made(name):
    return [name]


BY_NAME = {"made": made}
