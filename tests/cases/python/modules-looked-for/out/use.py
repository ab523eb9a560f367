import importlib.util

if importlib.util.find_spec("pkg.sub.new"):
    from pkg.sub.new import x
else:
    x = 2
found = importlib.util.find_spec(".sub.new", package="pkg")
