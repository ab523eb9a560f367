from pkg.old import join, measure, pick, read, walk

print(pick(1), walk(2), read("a"), join(["a", "b"]), measure("abc"))
