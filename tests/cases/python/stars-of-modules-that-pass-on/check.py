import sys

sys.path.insert(0, ".")
import pkg.auth
import pkg.warned

assert pkg.auth.Auth is pkg.warned.Auth
assert isinstance(pkg.auth.make(), pkg.auth.Auth)
