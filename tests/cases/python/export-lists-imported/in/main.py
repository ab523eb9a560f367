from p import *
print(fa(), fb(), gb())
