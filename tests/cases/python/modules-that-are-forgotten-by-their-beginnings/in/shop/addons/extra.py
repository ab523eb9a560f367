BASE = [1, 2]
SIZE = len(BASE)
