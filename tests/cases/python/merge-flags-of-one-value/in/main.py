from lab.compat import HAS_PYNVML
from lab.detect import HAS_TORCH, count
from lab.info import devices

print(HAS_PYNVML, HAS_TORCH, count(), devices())
