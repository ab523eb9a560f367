class Server:
    pass
