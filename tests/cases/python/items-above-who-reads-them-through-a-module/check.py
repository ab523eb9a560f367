from be.gpu import Cpu, Gpu
from be.reg import TABLE
assert Gpu.fallback is Cpu and list(TABLE) == ["cpu", "gpu"]
