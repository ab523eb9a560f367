from pkg import gpu

print(f"{gpu.LIMIT=}", f"{gpu.LIMIT}")
