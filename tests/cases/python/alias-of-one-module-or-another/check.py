from bm import auto, late, package, switch
from bm.backend import fast
assert auto.go(2) == (3, "cpu"), auto.go(2)
assert auto.first == 4, auto.first
assert (package.go(1), switch.go(1), fast.only(1)) == (2, 2, 2)
assert (late.value, late.go(1)) == (2, 2)
