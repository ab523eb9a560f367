here = 1
