import doctest
import sys

sys.path[:0] = [".", "tests"]
import app
import deep
import pkg.keeps
import runs
import takes
import test_run

assert deep.late() == (2, "g")
assert runs.f() == (2, 2, 2, "g")
assert pkg.keeps.r() == (2, "g")
assert doctest.testmod(runs).failed == 0
test_run.test_count()
