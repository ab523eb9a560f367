from pkg.gpu import count

print(count())
