from pkg import a
assert (a.scaled(1), a.scaled_b(1), a.use(), a.B_A) == (1, 2, 4, 2)
