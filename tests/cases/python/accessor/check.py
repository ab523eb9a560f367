import sys

sys.path.insert(0, ".")
import types

import lab.features, lab.kernels, lab.report, lab.shared, lab.stars, lab.taken

assert lab.features.cp is None and lab.features.HAS_CUPY is False and lab.features.GPU is False
assert lab.kernels.cupy is None and lab.kernels.torch is None
assert lab.report.line() == "no CuPy False"
assert lab.shared.cp is None and lab.stars.has_cupy() is False
assert lab.taken.cp is None and lab.taken.get_cupy() == "mine"

for name in [name for name in sys.modules if name.split(".")[0] == "lab"]:
    del sys.modules[name]
sys.modules["cupy"] = types.ModuleType("cupy")
sys.modules["torch"] = types.ModuleType("torch")
sys.modules["cupy"].sqrt = lambda value: value
import lab.features, lab.kernels, lab.shared, lab.stars

assert lab.features.cp is sys.modules["cupy"] is lab.shared.cp
assert lab.features.HAS_CUPY is True is lab.features.GPU is lab.stars.has_cupy()
assert lab.kernels.torch is sys.modules["torch"] and lab.kernels.name() == "cupy"
