import pkg.errors
