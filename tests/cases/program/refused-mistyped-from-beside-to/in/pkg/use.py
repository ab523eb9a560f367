from pkg.core.gpu import count

print(count())
