N: int = 1
