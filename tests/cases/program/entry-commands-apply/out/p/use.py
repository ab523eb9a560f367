from p.memory import fill

print(fill(3))
