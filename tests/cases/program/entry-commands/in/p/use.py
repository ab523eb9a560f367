from p.gpu import fill

print(fill(3))
