import sys
sys.path.insert(0, ".")
import lab.kernels, lab.report, lab.probe
assert lab.kernels.HAS_CUPY is lab.report.HAS_CUPY is lab.probe.HAS_CUPY
assert lab.kernels.norm([3, 4]) == 5
assert lab.probe.backend() is lab.kernels.HAS_CUPY
