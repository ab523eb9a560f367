from pkg.old import count

print(count())
