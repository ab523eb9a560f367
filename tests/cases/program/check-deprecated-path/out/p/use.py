from p.core import fill

print(fill())
