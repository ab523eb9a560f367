from pkg.a import f

print(f(1))
