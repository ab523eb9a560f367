from gpu import device, memory
assert device.log.name == "gpu.device.alloc" and memory.alloc(1) == 1
