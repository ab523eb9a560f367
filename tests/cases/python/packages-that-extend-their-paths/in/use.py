from pkg.plain import stack

print(stack([1]))
