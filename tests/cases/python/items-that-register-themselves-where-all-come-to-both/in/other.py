import pkg.c

print(pkg.c.lone())
