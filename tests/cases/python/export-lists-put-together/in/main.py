from p import *
print(Future().loop.name, get_loop().name)
