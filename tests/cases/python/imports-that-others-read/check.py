import doctest
import sys

sys.path.insert(0, ".")
import app
import keeps
import names
import quotes
import shows
from pkg.core import gpu_count

assert app.f() == keeps.f() == gpu_count() == 2
assert doctest.testmod(shows).failed == 0
