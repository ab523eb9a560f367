import pkg.old
from pkg.old import f, g

print(f(), g(), pkg.old.f(), pkg.old.g())
