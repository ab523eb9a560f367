import pkg

print(pkg.read(), pkg.write(), pkg.version(), pkg.__all__)
