import pkg.linalg

assert set(pkg.linalg.__all__) == {"solve"}
