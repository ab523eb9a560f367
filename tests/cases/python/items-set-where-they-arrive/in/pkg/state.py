FLAG = False
