import lidar.users as users
import lidar.core.kernels as new

assert users.go is new.run and users.maybe is new.run and users.k is new
assert users.kernels is new and users.late()[:2] == (new.run, new.run)
assert users.common.scale([1]) == [2]

import importlib
try:
    importlib.import_module("lidar.optimization.kernels")
except ImportError:
    pass
else:
    raise AssertionError("the old path is still there")
