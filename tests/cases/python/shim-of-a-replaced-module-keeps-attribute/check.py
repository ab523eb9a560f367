import pkg

assert pkg.user.double(3) == 6
assert pkg.old.scale(3, 3) == 9
