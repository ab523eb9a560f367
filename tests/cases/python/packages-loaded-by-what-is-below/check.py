import p
import direct

assert p.flip(1) == -1
assert p.geometry.flip.flip(2) == -2
assert p.sub.geometry is p.geometry
assert direct.old.LEVEL == 1
assert direct.f() == 1
