NAME = "x"
