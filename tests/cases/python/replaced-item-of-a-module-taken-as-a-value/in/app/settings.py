DEBUG = False
PORT = 3
