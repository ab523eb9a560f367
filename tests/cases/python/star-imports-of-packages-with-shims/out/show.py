from colors import *

print(parse("a"))
