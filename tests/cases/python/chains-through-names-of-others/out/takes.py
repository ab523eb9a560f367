from pkg.run import gpu

print(gpu.name())
