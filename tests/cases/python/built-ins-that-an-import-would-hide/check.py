from pkg import a
assert (a.biggest([1, 2]), a.use([1])) == (2, "most")
