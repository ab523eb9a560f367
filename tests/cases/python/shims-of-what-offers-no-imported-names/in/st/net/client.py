class Client:
    pass
