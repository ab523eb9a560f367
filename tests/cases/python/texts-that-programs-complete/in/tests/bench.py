import timeit

print(timeit.Timer("a.send()", "from pkg import a").timeit(1))
