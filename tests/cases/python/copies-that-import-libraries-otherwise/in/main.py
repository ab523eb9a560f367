from pkg.a import area, root

print(area([1, 2]), root(4))
