import sys
import warnings

sys.path.insert(0, ".")
import lab.core.gpu
import lab.user

assert lab.user.both() == 3 + 0 + 3 + 3
assert lab.core.gpu.__all__ == ["LIMIT", "DevicePool", "select_device"]
warnings.simplefilter("ignore")
import lab.old

assert lab.old.pick_device is lab.core.gpu.select_device
assert lab.old.Pool is lab.core.gpu.DevicePool
sys.path.insert(0, "tests")
import test_old

test_old.test_pick()
