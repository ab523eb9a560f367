// mirrors tex.old_gpu.main
__global__ void k() {}
