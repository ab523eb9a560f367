from pkg import gpu

print(gpu.show(), gpu.limit(), gpu.width())
