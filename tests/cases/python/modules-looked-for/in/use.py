import importlib.util

if importlib.util.find_spec("pkg.old"):
    from pkg.old import x
else:
    x = 2
found = importlib.util.find_spec(".old", package="pkg")
