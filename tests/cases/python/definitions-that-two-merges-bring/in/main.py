from gk.cuda import sync as cuda
from gk.rocm import sync as rocm

print(cuda(), rocm())
