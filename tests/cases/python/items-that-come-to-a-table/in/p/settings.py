DEBUG = False
NAME = "x"
