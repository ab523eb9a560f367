from p.core import gpu

print(gpu.detect())
