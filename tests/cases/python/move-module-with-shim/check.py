import sys
import warnings


import lidar.users as users
import lidar.core.kernels as new

assert users.go is new.run and users.maybe is new.run and users.k is new
assert users.kernels is new and users.late()[:2] == (new.run, new.run)
assert users.common.scale([1]) == [2]

assert "lidar.optimization.kernels" not in sys.modules, "nobody inside uses the shim"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import lidar.optimization.kernels as old
assert [w.category for w in caught] == [DeprecationWarning], caught
assert "lidar.core.kernels" in str(caught[0].message) and "4.0.0" in str(caught[0].message)
assert caught[0].filename == __file__
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    assert old.run is new.run
    old.FLAG = True
    assert new.FLAG is True
    del old.FLAG
    assert not hasattr(new, "FLAG")
    assert "run" in dir(old)
