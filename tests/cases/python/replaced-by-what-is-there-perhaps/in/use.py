from pkg.plain import add

print(add(1, 2))
