import pkg.listed

NAMES = [name for name in dir(pkg.listed) if name.startswith("S")]
