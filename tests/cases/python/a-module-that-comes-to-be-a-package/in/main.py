from p.a import f
from p.b import g
print(f(), g())
