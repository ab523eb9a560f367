from pkg import a
from pkg.a import f

for name in ("kept", "asked"):
    print(getattr(a, name)(), f())
