from pkg.c import f

print(f(1))
